"""The command ``check``: find mistakes in a Composition's steps, with and without a run."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Literal, TypedDict, Unpack

import click

from function_script.cli import exit_codes, options, terminal, watch_output
from function_script.texts.diagnostics import Form
from function_script.texts.errors import InputError, SandboxError
from function_script.tools.project import STDIN, Project


class _Flags(TypedDict):
    compositions: tuple[str, ...]
    output: Literal["text", "json", "sarif"]
    xrd: Path | None
    crds: tuple[Path, ...]
    fetch: bool
    ignore: tuple[str, ...]
    strict: bool
    salted: bool
    variants: int
    variant: int | None
    run_functions: bool
    watch: bool
    quiet: bool
    program_root: Path | None
    allow_outside: tuple[Path, ...]
    diagnostics: Form


@options.command(
    options.program_root("programs/ beside each file"),
    *options.shared("--allow-outside", "--fetch", "--ignore"),
    options.output("text", "json", "sarif"),
    options.watch("Check"),
    options.quiet("the totals"),
    *options.reporting(),
    short_help="Find mistakes.",
)
@click.argument("compositions", nargs=-1, type=options.TEXT_PATH, metavar="[COMPOSITION]...")
@options.flag(
    "--xrd",
    group="Input",
    metavar="PATH",
    help="XRD: the fields that programs can read; "
    "default: definition.yaml, xrd.yaml or one with such a word in its name, beside each file.",
)
@options.flag(
    "--crds",
    group="Input",
    multiple=True,
    metavar="PATH",
    help="CRDs of composed resources: a file, a directory or a package. A Provider object, and the "
    "metadata of a package, name packages. May be repeated.",
)
@options.flag(
    "--salted",
    group="Input",
    help="The server has a --seed-file, so that random texts of programs may be secrets.",
)
@options.flag(
    "--variants",
    group="Runs",
    type=click.IntRange(min=0),
    default=8,
    metavar="N",
    help="Run each Composition with the XRs at hand, and with at most N that its XRD allows. 0: "
    "nothing runs.",
)
@options.flag(
    "--variant",
    group="Runs",
    type=click.IntRange(min=0),
    metavar="N",
    help="Print the XR of --variants with this number, which a finding names, and no report.",
)
@options.flag(
    "--run-functions",
    group="Runs",
    help="Also run functions of others, as render does: containers, processes, addresses.",
)
@options.flag("--strict", group="Output", help="Fail on warnings, too.")
def check(**flags: Unpack[_Flags]) -> int:
    """Find mistakes in the steps of Compositions and Operations.

    Compositions without one run in the sandbox, with the XRs at hand and with others that their
    XRDs allow.

    COMPOSITION is a file, a directory, which is searched to any depth, or - for stdin; a file may
    also hold an input or an XR alone. By default it is the current directory. Steps of other
    functions are counted only, and other files in a directory are ignored.

    The exit code is 1 when there are errors.

    Examples:
      function-script check
      function-script check composition.yaml --watch
      function-script check examples --strict --output json
    """
    options.check_forms(flags["output"], flags["diagnostics"])
    if not flags["variants"] and (flags["variant"] is not None or flags["run_functions"]):
        raise click.UsageError("--variants 0 runs nothing: --variant and --run-functions need runs")
    if flags["variants"]:
        try:
            terminal.print_sandbox_note(is_quiet=flags["quiet"])
        except SandboxError as error:
            terminal.echo_note(f"nothing runs: {error}")
            flags["variants"] = 0
    arguments = flags["compositions"] or (".",)
    if flags["watch"]:
        _watch(arguments, flags)
    text, is_success = _check(arguments, flags)
    if text:
        terminal.echo_coloured(text)
    return exit_codes.OK if is_success else exit_codes.PROBLEM


def _check(arguments: Sequence[str], flags: _Flags) -> tuple[str, bool]:
    """Return the report in its format, and whether it is a success."""
    from function_script.tools import local_pool  # noqa: PLC0415 - slow to import

    files = [Path(each) for each in arguments if each != STDIN]
    # Files beside a Composition of stdin are in the current directory.
    project = _find_project([*files, *([Path()] if STDIN in arguments else [])], flags)
    # The sandbox starts while the tool is imported.
    with (
        local_pool.open_pool(local_pool.engines_of(files, project))
        if flags["variants"]
        else nullcontext()
    ) as pool:
        from function_script.tools import console as frames  # noqa: PLC0415 - slow to import
        from function_script.tools.check import checker, definitions  # noqa: PLC0415 - as above
        from function_script.tools.check import report as tool  # noqa: PLC0415 - as above

        schemas = definitions.load(flags["xrd"], flags["crds"], project, fetches=flags["fetch"])
        run_options = None
        if pool is not None:
            from function_script.tools.check import runs  # noqa: PLC0415 - slow to import

            run_options = runs.Options(
                pool=pool, variants=flags["variants"], runs_others=flags["run_functions"]
            )
        report = checker.check(
            arguments,
            flags["program_root"],
            schemas,
            flags["ignore"],
            is_salted=flags["salted"],
            run_options=run_options,
        )
    if (number := flags["variant"]) is not None:
        if number >= len(report.variants):
            raise InputError.of(f"cannot print variant {number}: there are {len(report.variants)}")
        from function_script.documents import to_yaml_stream  # noqa: PLC0415 - slow to import

        return to_yaml_stream([report.variants[number]]), True
    if flags["diagnostics"] != "text":
        text = tool.render_diagnostics(report, flags["diagnostics"])
    elif flags["output"] == "json":
        text = tool.render_json(report)
    elif flags["output"] == "sarif":
        text = tool.render_sarif(report)
    else:
        colourful = frames.is_colourful(sys.stdout)
        text = tool.render_text(
            report,
            colourful=colourful,
            is_quiet=flags["quiet"],
            columns=frames.columns_of(sys.stdout),
        )
    return text, report.is_success(strict=flags["strict"])


def _find_project(files: Iterable[Path], flags: _Flags) -> Project:
    """Return the files that may be read: those below or beside the arguments, and what is named."""
    named = (flags["xrd"], flags["program_root"], *flags["crds"])
    return Project.of(files, named=named, allowed=flags["allow_outside"])


def _watch(arguments: Sequence[str], flags: _Flags) -> None:
    """Check at every change of a file. Only an interrupt ends it."""
    from function_script.tools.check import checker  # noqa: PLC0415 - slow to import

    if STDIN in arguments:
        raise click.UsageError("--watch: stdin cannot be read again and again")
    optional = (flags["xrd"], flags["program_root"])
    options_ = [*flags["crds"], *(path for path in optional if path is not None)]
    project = _find_project(map(Path, arguments), flags)
    watch_output.watch(
        lambda: _check(arguments, flags)[0],
        lambda: [*checker.list_files(arguments, project), *options_],
        terminal.echo_coloured,
    )
