"""The command ``render operation``: run an Operation without a cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

import click

from function_script.cli import exit_codes, options, render_options, terminal
from function_script.cli.flags import Command, Flag

if TYPE_CHECKING:
    from function_script.tools.render.loading import OperationPaths


class _Flags(render_options.Flags, TypedDict):
    operation: Path
    functions: Path | None
    include_full_operation: bool
    watched_resource: Path | None
    required_schemas: Path | None


# Two words for people; click takes them for one name.
NAME: Final = "render operation"

_EPILOG: Final = """\b
Examples:
  function-script render operation examples/operation-report
  function-script render operation operation.yaml functions.yaml -e required.yaml -r
  function-script render operation watchoperation.yaml functions.yaml -w changed.yaml
"""


@click.command(
    NAME,
    cls=Command,
    epilog=_EPILOG,
    params=[*render_options.shared("OPERATION"), render_options.required_schemas()],
)
@click.argument("operation", type=options.PATH)
@click.argument("functions", type=options.PATH, required=False)
@click.option(
    "-o",
    "--include-full-operation",
    cls=Flag,
    group="Output",
    is_flag=True,
    help="Print the Operation with its spec. This is the default.",
)
@click.option(
    "-w",
    "--watched-resource",
    cls=Flag,
    group="Input",
    type=options.PATH,
    metavar="FILE",
    help="The object that a WatchOperation watches; every step requires it.",
)
def render_operation(**flags: Unpack[_Flags]) -> int:
    """Show what an Operation does, without a cluster.

    OPERATION is a file with an Operation, or with a CronOperation or WatchOperation, whose template
    is run. Prints the Operation with its status and the resources it applies.

    OPERATION may be a directory that holds operation.yaml, functions.yaml and what else there is to
    give: watched.yaml, required.yaml, credentials.yaml, schemas/ and context/.
    """
    path = flags["operation"]
    file = path / "operation.yaml" if path.is_dir() else path
    with render_options.open_sandbox(file, flags) as pool:
        from function_script.tools.render import command  # noqa: PLC0415 - slow to import

        run_options = render_options.read_options(flags)
        if flags["explain_functions"]:
            explanation = command.explain_operation(_paths(flags), run_options)
            return render_options.print_explanation(explanation)
        with run_options.servers:
            terminal.echo_exact(command.render_operation(_paths(flags), run_options, pool))
    return exit_codes.OK


def _paths(flags: _Flags) -> OperationPaths:
    from function_script.tools.render import loading  # noqa: PLC0415 - slow to import

    if flags["operation"].is_dir():
        base = loading.find_operation_paths(flags["operation"])
    else:
        base = loading.OperationPaths(operation=flags["operation"])
    return replace(
        base,
        functions=flags["functions"] or base.functions,
        required=(*base.required, *render_options.split_paths(flags["required_resources"])),
        watched=flags["watched_resource"] or base.watched,
        schemas=flags["required_schemas"] or base.schemas,
        credentials=flags["function_credentials"] or base.credentials,
        context=[*base.context, *render_options.context_files(flags)],
        context_values=render_options.context_values(flags),
        programs=flags["program_root"],
    )
