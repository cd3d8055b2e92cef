"""The command ``validate``: check resources and steps' inputs against their schemas.

``render --validate`` shares its flags and the output of a report.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

import click

from function_script.cli import exit_codes, options, terminal
from function_script.texts.diagnostics import Form

if TYPE_CHECKING:
    from function_script.tools.validate.report import Report


class ReportFlags(TypedDict):
    """The values of the flags of `report_flags`, and of those that both commands have."""

    output: Literal["text", "json", "yaml"]
    cache_dir: Path
    crossplane_image: str
    error_on_missing_schemas: bool
    skip_success_results: bool
    diagnostics: Form
    quiet: bool


def report_flags(short: str = "") -> list[click.Parameter]:
    """Return the flags, with the ``short`` name of --output in a command."""
    what = "the report" if short else "the report of --validate"
    return [
        options.output("text", "json", "yaml", short=short, what=what),
        options.Flag(
            ["--cache-dir"],
            group="Validation",
            default="~/.crossplane/cache",
            metavar="DIR",
            help="Directory in which the official command caches packages.",
        ),
        options.Flag(
            ["--crossplane-image"],
            group="Validation",
            default="xpkg.crossplane.io/crossplane/crossplane:stable",
            metavar="IMAGE",
            help="Version of Crossplane whose schemas to use, if they are in the cache.",
        ),
        options.Flag(
            ["--error-on-missing-schemas"],
            group="Validation",
            help="Fail if a schema is unknown or a rule was not evaluated.",
        ),
        options.Flag(
            ["--skip-success-results"],
            group="Validation",
            help="Do not print valid resources (text only).",
        ),
    ]


def print_report(report: Report, flags: ReportFlags) -> int:
    """Print the report, and its notes on stderr. Return the exit code."""
    from function_script.tools.validate import report as tool  # noqa: PLC0415 - slow to import

    options.check_forms(flags["output"], flags["diagnostics"])
    for note in () if flags["quiet"] else report.notes:
        terminal.echo_note(note)
    if flags["diagnostics"] != "text":
        terminal.echo_exact(tool.render_diagnostics(report, flags["diagnostics"]))
    elif flags["output"] == "text":
        skips = flags["skip_success_results"]
        terminal.echo(tool.render_text(report, skip_success_results=skips))
    elif flags["output"] == "json":
        terminal.echo(tool.render_json(report))
    else:
        terminal.echo_exact(tool.render_yaml(report))
    is_strict = flags["error_on_missing_schemas"]
    is_success = report.is_success(error_on_missing_schemas=is_strict)
    return exit_codes.OK if is_success else exit_codes.PROBLEM


class _Flags(ReportFlags, TypedDict):
    extensions: str
    resources: str
    allow_outside: tuple[Path, ...]
    fetch: bool


@options.command(
    *report_flags("-o"),
    *options.shared("--allow-outside", "--fetch"),
    options.quiet("notes"),
    *options.reporting(),
    short_help="Validate resources by their schemas.",
)
@click.argument("extensions", type=options.TEXT_PATH)
@click.argument("resources", type=options.TEXT_PATH)
def validate(**flags: Unpack[_Flags]) -> int:
    """Check RESOURCES, and the inputs of Compositions' steps, against their schemas.

    EXTENSIONS are the XRDs, CRDs and packages that define them; our own input kinds are always
    known. Both are files, directories or - for stdin, several of them joined by commas.

    The exit code is 1 when something is invalid.

    Examples:
      function-script validate xrd.yaml,crds/ resources/
      function-script render -x | function-script validate xrd.yaml,crds/ -
    """
    from function_script.tools.validate import command as tool  # noqa: PLC0415 - slow to import
    from function_script.tools.validate.packages import PackageSchemas  # noqa: PLC0415 - as above

    report = tool.validate(
        [flags["extensions"]],
        [flags["resources"]],
        packages=PackageSchemas(cache=flags["cache_dir"], fetches=flags["fetch"]),
        crossplane_image=flags["crossplane_image"],
        allowed=flags["allow_outside"],
    )
    return print_report(report, flags)
