"""The flags that ``validate`` and ``render --validate`` share, and the output of a report.

The command modules import this to declare their flags, so it must import nothing slow.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

import click

from function_script.cli import exit_codes, options, terminal
from function_script.cli.flags import Flag

if TYPE_CHECKING:
    from function_script.tools.validate import Report


class Flags(TypedDict):
    """The values of the flags of `shared`."""

    output: Literal["text", "json", "yaml"]
    cache_dir: Path
    crossplane_image: str
    error_on_missing_schemas: bool
    skip_success_results: bool


def shared(short: str = "") -> list[click.Parameter]:
    """Return the flags, with the ``short`` name of --output in a command."""
    return [
        options.output("text", "json", "yaml", short=short),
        Flag(
            ["--cache-dir"],
            group="Validation",
            type=options.PATH,
            default="~/.crossplane/cache",
            show_default=True,
            metavar="DIR",
            help="Directory in which the official command caches packages.",
        ),
        Flag(
            ["--crossplane-image"],
            group="Validation",
            default="xpkg.crossplane.io/crossplane/crossplane:stable",
            show_default=True,
            metavar="IMAGE",
            help="Version of Crossplane whose schemas to use, if they are in the cache.",
        ),
        Flag(
            ["--error-on-missing-schemas"],
            group="Validation",
            is_flag=True,
            help="Fail if a schema is unknown or a rule was not evaluated.",
        ),
        Flag(
            ["--skip-success-results"],
            group="Validation",
            is_flag=True,
            help="Do not print valid resources (text only).",
        ),
    ]


def print_report(report: Report, flags: Flags, *, is_quiet: bool) -> int:
    """Print the report, and its notes on stderr. Return the exit code."""
    from function_script.tools import validate as tool  # noqa: PLC0415 - slow to import

    for note in () if is_quiet else report.notes:
        terminal.echo(f"note: {note}", err=True)
    if flags["output"] == "text":
        skips = flags["skip_success_results"]
        terminal.echo(tool.render_text(report, skip_success_results=skips))
    elif flags["output"] == "json":
        terminal.echo(tool.render_json(report))
    else:
        terminal.echo_exact(tool.render_yaml(report))
    is_strict = flags["error_on_missing_schemas"]
    is_success = report.is_success(error_on_missing_schemas=is_strict)
    return exit_codes.OK if is_success else exit_codes.PROBLEM
