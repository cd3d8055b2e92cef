"""``function-script render``: what a Composition makes of an XR."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

import click

from function_script.cli import rendering
from function_script.cli.rendering import PATH

if TYPE_CHECKING:
    from pathlib import Path

    from function_script.tools.render.loading import Paths


class _Flags(rendering.Flags, TypedDict):
    xr: Path
    composition: Path | None
    functions: Path | None
    include_full_xr: bool
    observed_resources: Path | None
    extra_resources: tuple[Path, ...]
    required_schemas: Path | None
    xrd: Path | None
    watch: bool
    quiet: bool


_EPILOG: Final = """\b
Examples:
  function-script render examples/starlark-robots
  function-script render xr.yaml composition.yaml functions.yaml -o observed.yaml -r
  function-script render examples/starlark-robots --watch
"""


@click.command(
    epilog=_EPILOG,
    params=[*rendering.shared("COMPOSITION"), rendering.required_schemas("-s")],
)
@click.argument("xr", type=PATH)
@click.argument("composition", type=PATH, required=False)
@click.argument("functions", type=PATH, required=False)
@click.option(
    "-x", "--include-full-xr", is_flag=True, help="Print the XR with its whole spec and metadata."
)
@click.option(
    "-o",
    "--observed-resources",
    type=PATH,
    metavar="PATH",
    help="Composed resources that exist: a file or a directory.",
)
@click.option(
    "--extra-resources",
    type=PATH,
    multiple=True,
    metavar="PATH",
    help="The old name of --required-resources.",
)
@click.option(
    "--xrd",
    type=PATH,
    metavar="PATH",
    help="The XR's definition: gives its defaults, and tells legacy from modern XRs.",
)
@click.option(
    "--watch",
    is_flag=True,
    help="Render again when a file changes, and show what is different. Ctrl-C ends it.",
)
@click.option("-q", "--quiet", is_flag=True, help="With --watch: only print what is different.")
def render(**flags: Unpack[_Flags]) -> None:
    """Show what a Composition makes of an XR, without a cluster.

    Prints the XR and its composed resources as Crossplane would write them. Steps of this function
    run here, in the sandbox of production; others are called where they are served.

    XR may be a directory that holds xr.yaml, composition.yaml, functions.yaml and what else there
    is to give: observed.yaml, required.yaml, credentials.yaml, xrd.yaml, schemas/ and context/.
    """
    from function_script.tools.render import command  # noqa: PLC0415 - slow to import

    chosen = rendering.read_options(flags, full_xr=flags["include_full_xr"])
    if flags["watch"]:
        rendering.watch(lambda: _paths(flags), chosen, is_quiet=flags["quiet"])
    else:
        click.echo(command.render_files(_paths(flags), chosen), nl=False)


def _paths(flags: _Flags) -> Paths:
    from function_script.tools.render import loading  # noqa: PLC0415 - slow to import

    composition = flags["composition"]
    if composition is None:
        if flags["xr"].is_file():
            raise click.UsageError("COMPOSITION is missing, and XR is no directory")
        base = loading.in_directory(flags["xr"])
    else:
        base = loading.Paths(xr=flags["xr"], composition=composition, functions=flags["functions"])
    return replace(
        base,
        observed=flags["observed_resources"] or base.observed,
        required=(*base.required, *flags["required_resources"], *flags["extra_resources"]),
        schemas=flags["required_schemas"] or base.schemas,
        credentials=flags["function_credentials"] or base.credentials,
        xrd=flags["xrd"] or base.xrd,
        context=[*base.context, *rendering.context_files(flags)],
        context_values=rendering.context_values(flags),
        programs=flags["program_root"],
    )
