"""``function-script validate``: resources and steps' inputs against their schemas."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypedDict, Unpack

import click

from function_script.cli import failures, options


class _Flags(TypedDict):
    extensions: str
    resources: str
    output: Literal["text", "json", "yaml"]
    cache_dir: Path
    crossplane_image: str
    error_on_missing_schemas: bool
    skip_success_results: bool
    debug: bool


@click.command(params=[options.debug()])
@click.argument("extensions")
@click.argument("resources")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json", "yaml"]),
    default="text",
    show_default=True,
    help="How to print the report.",
)
@click.option(
    "--cache-dir",
    type=click.Path(path_type=Path),
    default="~/.crossplane/cache",
    show_default=True,
    metavar="DIR",
    help="Where the official command keeps the packages it downloaded.",
)
@click.option(
    "--crossplane-image",
    default="xpkg.crossplane.io/crossplane/crossplane:stable",
    show_default=True,
    metavar="IMAGE",
    help="Whose schemas of Crossplane's own kinds to use, if they are in the cache.",
)
@click.option(
    "--error-on-missing-schemas", is_flag=True, help="Fail when a resource's schema is not known."
)
@click.option("--skip-success-results", is_flag=True, help="Leave out what is valid (text only).")
def validate(**flags: Unpack[_Flags]) -> int:
    """Check RESOURCES, and the inputs of Compositions' steps, against their schemas.

    EXTENSIONS are the XRDs, CRDs and packages that define them; our own input kinds are always
    known. Both are files, directories or - for stdin, several of them joined by commas.

    The exit code is 1 when something is invalid.
    """
    from function_script.tools import validate as tool  # noqa: PLC0415 - slow to import

    report = tool.validate(
        [flags["extensions"]],
        [flags["resources"]],
        cache_directory=flags["cache_dir"],
        crossplane_image=flags["crossplane_image"],
    )
    for note in report.notes:
        click.echo(f"note: {note}", err=True)
    if flags["output"] == "text":
        skips = flags["skip_success_results"]
        click.echo(tool.render_text(report, skip_success_results=skips))
    else:
        write = tool.render_json if flags["output"] == "json" else tool.render_yaml
        click.echo(write(report).rstrip("\n"))
    is_strict = flags["error_on_missing_schemas"]
    is_success = report.is_success(error_on_missing_schemas=is_strict)
    return failures.OK if is_success else failures.PROBLEM
