"""The command ``test``: run the cases of Compositions."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypedDict, Unpack

import click

from function_script.cli import confinement, exit_codes, options, terminal

if TYPE_CHECKING:
    from function_script.tools.cases.command import Options


class _Flags(TypedDict):
    paths: tuple[Path, ...]
    run: str | None
    fail_fast: bool
    update: bool
    ci: bool
    jobs: int | None
    output: Literal["text", "json", "junit"]
    output_file: Path | None
    function: tuple[str, ...]
    skip_xr_validation: bool
    timeout: float
    quiet: bool
    debug: bool


_EPILOG: Final = """\b
Examples:
  function-script test
  function-script test examples --run robots --fail-fast
  function-script test --ci --output junit --output-file report.xml
"""


@click.command(
    "test",
    short_help="Run the tests of Compositions.",
    epilog=_EPILOG,
    params=[
        options.functions(),
        options.skip_xr_validation(),
        *options.limits(has_timeout=True),
        options.output("text", "json", "junit"),
        options.quiet("cases that passed"),
        options.debug(),
    ],
)
@click.argument("paths", nargs=-1, type=options.PATH, metavar="[PATH]...")
@click.option("--run", metavar="REGEX", help="Run only cases whose name matches.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first case that fails.")
@click.option("--update", is_flag=True, help="Update the files of expected documents that differ.")
@click.option(
    "--ci",
    is_flag=True,
    help="Do not write expected documents. The default if the variable CI is set.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    show_default="one for each CPU",
    metavar="N",
    help="Number of cases that run at the same time.",
)
@click.option(
    "--output-file",
    type=options.PATH,
    metavar="FILE",
    help="File for the report; the text is still printed.",
)
@click.option(
    "--timeout",
    type=options.duration,
    default="1m",
    show_default=True,
    metavar="DURATION",
    help="Time limit of each reconcile of a case.",
)
def run_cases(**flags: Unpack[_Flags]) -> int:
    """Run the cases at and below PATH, by default the current directory.

    A case is a folder with case.yaml, or a file NAME.case.yaml. It gives an XR and what exists, and
    says what the Composition is to make of it: exact documents, parts of them, events, errors.

    The exit code is 1 when a case fails, when there is none, and when expected documents were
    written for the first time: review them.
    """
    from function_script.tools.cases import command  # noqa: PLC0415 - slow to import

    confinement.print_note(is_quiet=flags["quiet"])
    is_fine = command.run(flags["paths"] or (Path(),), _options(flags))
    return exit_codes.OK if is_fine else exit_codes.PROBLEM


def _options(flags: _Flags) -> Options:
    from function_script.sandbox import capacity  # noqa: PLC0415 - slow to import
    from function_script.tools import console  # noqa: PLC0415 - slow to import
    from function_script.tools.cases import command, runner  # noqa: PLC0415 - slow to import

    is_ci = flags["ci"] or os.environ.get("CI", "").lower() not in {"", "0", "false"}
    if is_ci and flags["update"]:
        raise click.UsageError("--update: in CI, expected documents are not written")
    run_options = runner.RunOptions(
        runtimes=options.read_runtimes(flags["function"]),
        timeout_seconds=flags["timeout"],
        may_create_snapshots=not is_ci,
        updates_snapshots=flags["update"],
        skips_xr_validation=flags["skip_xr_validation"],
        limits=options.read_limits(flags),
    )
    return command.Options(
        run_options=run_options,
        pattern=_pattern(flags["run"]),
        fails_fast=flags["fail_fast"],
        jobs=flags["jobs"] or capacity.count_cpus(),
        output=flags["output"],
        file=flags["output_file"],
        is_quiet=flags["quiet"],
        colourful=console.is_colourful(sys.stdout),
        print=terminal.echo_coloured,
    )


def _pattern(text: str | None) -> re.Pattern[str] | None:
    try:
        return None if text is None else re.compile(text)
    except re.error as error:
        raise click.UsageError(f"--run: {error}") from error
