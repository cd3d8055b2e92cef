"""``function-script render``: what a Composition makes of an XR."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

import click

from function_script.cli import options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from function_script.tools.render.loading import Paths

_PATH: Final = click.Path(path_type=Path)


class _Flags(TypedDict):
    xr: Path
    composition: Path | None
    functions: Path | None
    context_files: tuple[str, ...]
    context_values: tuple[str, ...]
    include_function_results: bool
    include_full_xr: bool
    include_context: bool
    observed_resources: Path | None
    required_resources: tuple[Path, ...]
    extra_resources: tuple[Path, ...]
    required_schemas: Path | None
    function_credentials: Path | None
    function_annotations: tuple[str, ...]
    function: tuple[str, ...]
    xrd: Path | None
    timeout: float
    program_root: Path | None
    debug: bool


_EPILOG: Final = """\b
Examples:
  function-script render examples/starlark-robots
  function-script render xr.yaml composition.yaml functions.yaml -o observed.yaml -r
"""


@click.command(
    epilog=_EPILOG,
    params=[
        options.program_root("programs/ beside COMPOSITION"),
        options.functions(),
        options.debug(),
    ],
)
@click.argument("xr", type=_PATH)
@click.argument("composition", type=_PATH, required=False)
@click.argument("functions", type=_PATH, required=False)
@click.option(
    "--context-files",
    multiple=True,
    metavar="KEY=PATH",
    help="Context for the first step, from a JSON or YAML file. May be repeated.",
)
@click.option(
    "--context-values",
    multiple=True,
    metavar="KEY=VALUE",
    help="Context for the first step, as JSON or YAML; wins over files. May be repeated.",
)
@click.option(
    "-r", "--include-function-results", is_flag=True, help="Print events too, as kind Result."
)
@click.option(
    "-x", "--include-full-xr", is_flag=True, help="Print the XR with its whole spec and metadata."
)
@click.option(
    "-c", "--include-context", is_flag=True, help="Print the last step's context, as kind Context."
)
@click.option(
    "-o",
    "--observed-resources",
    type=_PATH,
    metavar="PATH",
    help="Composed resources that exist: a file or a directory.",
)
@click.option(
    "-e",
    "--required-resources",
    type=_PATH,
    multiple=True,
    metavar="PATH",
    help="Objects that steps may require: a file or a directory. May be repeated.",
)
@click.option(
    "--extra-resources",
    type=_PATH,
    multiple=True,
    metavar="PATH",
    help="The old name of --required-resources.",
)
@click.option(
    "-s",
    "--required-schemas",
    type=_PATH,
    metavar="DIR",
    help="OpenAPI v3 documents (*.json) with schemas that steps may require.",
)
@click.option(
    "--function-credentials",
    type=_PATH,
    metavar="PATH",
    help="Secrets for steps' credentials: a file or a directory.",
)
@click.option(
    "-a",
    "--function-annotations",
    multiple=True,
    metavar="KEY=VALUE",
    help="Annotation to set on every Function. May be repeated.",
)
@click.option(
    "--xrd",
    type=_PATH,
    metavar="PATH",
    help="The XR's definition: gives its defaults, and tells legacy from modern XRs.",
)
@click.option(
    "--timeout",
    type=options.duration,
    default="1m",
    show_default=True,
    metavar="DURATION",
    help="Time all steps together may take.",
)
def render(**flags: Unpack[_Flags]) -> None:
    """Show what a Composition makes of an XR, without a cluster.

    Prints the XR and its composed resources as Crossplane would write them. Steps of this function
    run here, in the sandbox of production; others are called where they are served.

    XR may be a directory that holds xr.yaml, composition.yaml, functions.yaml and what else there
    is to give: observed.yaml, required.yaml, credentials.yaml, xrd.yaml, schemas/ and context/.
    """
    from function_script.tools.render import command, output  # noqa: PLC0415 - slow to import

    text = command.render_files(
        _paths(flags),
        command.Options(
            wanted=output.Wanted(
                full_xr=flags["include_full_xr"],
                results=flags["include_function_results"],
                context=flags["include_context"],
            ),
            places=options.read_places(flags["function"]),
            annotations=dict(_pairs(flags["function_annotations"], "--function-annotations")),
            timeout_seconds=flags["timeout"],
            print=partial(click.echo, err=True),
        ),
    )
    click.echo(text, nl=False)


def _paths(flags: _Flags) -> Paths:
    from function_script.tools.render import loading  # noqa: PLC0415 - slow to import

    files = _pairs(flags["context_files"], "--context-files")
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
        context=[*base.context, *((key, Path(path)) for key, path in files)],
        context_values=_pairs(flags["context_values"], "--context-values"),
        programs=flags["program_root"],
    )


def _pairs(texts: Iterable[str], flag: str) -> list[tuple[str, str]]:
    pairs = []
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise click.UsageError(f'{flag}: "{text}" is not of the form KEY=VALUE')
        pairs.append((key, value))
    return pairs
