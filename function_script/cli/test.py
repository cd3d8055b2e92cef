"""The command ``test``: run the cases of Compositions."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

import click

from function_script.cli import exit_codes, options, terminal, watch_output
from function_script.texts.diagnostics import Form
from function_script.tools.project import Project

if TYPE_CHECKING:
    from function_script.tools.cases.command import Options


class _Flags(options.RenderingFlags):
    paths: tuple[Path, ...]
    run: str | None
    fail_fast: bool
    update: bool
    ci: bool
    jobs: int | None
    output: Literal["text", "json", "junit"]
    output_file: Path | None
    diagnostics: Form
    skip_xr_validation: bool
    skip_validation: bool
    watch: bool
    quiet: bool


@options.command(
    *options.functions(),
    *options.shared("--skip-xr-validation", "--skip-validation"),
    *options.operator(has_timeout=True),
    options.timeout("each reconcile of a case"),
    options.output("text", "json", "junit"),
    options.watch("Run the cases"),
    options.quiet("cases that passed"),
    *options.reporting(),
    name="test",
    short_help="Run the tests of Compositions.",
)
@click.argument("paths", nargs=-1, type=options.PATH, metavar="[PATH]...")
@options.flag("--run", group="Cases", metavar="REGEX", help="Run only cases whose name matches.")
@options.flag("--fail-fast", group="Cases", help="Stop at the first case that fails.")
@options.flag(
    "--update",
    group="Cases",
    help="Write the files of expected documents that differ or do not exist.",
)
@options.flag(
    "--ci",
    group="Cases",
    help="Refuse --update. The default if the variable CI is set.",
)
@options.flag(
    "-j",
    "--jobs",
    group="Cases",
    type=click.IntRange(min=1),
    show_default="one for each CPU",
    metavar="N",
    help="Number of cases that run at the same time.",
)
@options.flag(
    "--output-file",
    group="Output",
    metavar="FILE",
    help="File for the report; the text is still printed.",
)
def run_cases(**flags: Unpack[_Flags]) -> int:
    """Run the cases at and below PATH, by default the current directory.

    A case is a folder with case.yaml, or a file NAME.case.yaml. It states an XR, the
    resources that exist, and the expected result: exact documents, parts of them, events, errors.

    The exit code is 1 when a case fails, when there is none, and when --update wrote expected
    documents for the first time: review them.

    Examples:
      function-script test
      function-script test --watch --quiet
      function-script test examples --run robots --fail-fast
      function-script test --ci --output junit --output-file report.xml
    """
    from function_script.tools.cases import command  # noqa: PLC0415 - slow to import
    from function_script.tools.cases.loader import FileCache  # noqa: PLC0415 - slow to import

    if flags["output_file"] is None:
        options.check_forms(flags["output"], flags["diagnostics"])
    terminal.print_sandbox_note(is_quiet=flags["quiet"])
    paths = flags["paths"] or (Path(),)
    if flags["watch"]:
        _watch(paths, flags)
    cache = FileCache(Project.of(paths, allowed=flags["allow_outside"]))
    is_fine = command.run(paths, _options(flags, terminal.echo_coloured), cache)
    return exit_codes.OK if is_fine else exit_codes.PROBLEM


def _watch(paths: Sequence[Path], flags: _Flags) -> None:
    """Run the cases at every change of a file. Only an interrupt ends it."""
    from function_script.tools.cases import command  # noqa: PLC0415 - slow to import
    from function_script.tools.cases.loader import FileCache  # noqa: PLC0415 - slow to import

    # A file that a case names stays watched while the case is broken.
    files = {path if path.is_dir() else path.parent for path in paths}

    def run() -> str:
        lines: list[str] = []
        cache = FileCache(Project.of(paths, allowed=flags["allow_outside"]))
        command.run(paths, _options(flags, lines.append), cache)
        files.update(cache.paths)
        return "\n".join(lines)

    watch_output.watch(
        run,
        lambda: sorted(files),
        terminal.echo_coloured,
        output_file=flags["output_file"],
    )


def _options(flags: _Flags, print_text: Callable[[str], None]) -> Options:
    from function_script.sandbox import capacity  # noqa: PLC0415 - slow to import
    from function_script.tools import console  # noqa: PLC0415 - slow to import
    from function_script.tools.cases import command, runner  # noqa: PLC0415 - slow to import

    is_ci = flags["ci"] or os.environ.get("CI", "").lower() not in {"", "0", "false"}
    if is_ci and flags["update"]:
        raise click.UsageError("--update: in CI, expected documents are not written")
    try:
        pattern = None if flags["run"] is None else re.compile(flags["run"])
    except re.error as error:
        raise click.UsageError(f"--run: {error}") from error
    run_options = runner.RunOptions(
        rendering=options.read_rendering(flags, is_quiet=False, hides_packages=flags["quiet"]),
        updates_snapshots=flags["update"],
        skips_xr_validation=flags["skip_xr_validation"],
        skips_validation=flags["skip_validation"],
        pool=replace(options.read_pool(flags), workers=flags["jobs"] or capacity.count_cpus()),
    )
    return command.Options(
        run_options=run_options,
        pattern=pattern,
        fails_fast=flags["fail_fast"],
        output=flags["output"],
        form=flags["diagnostics"],
        file=flags["output_file"],
        is_quiet=flags["quiet"],
        colourful=console.is_colourful(sys.stdout),
        print=print_text,
    )
