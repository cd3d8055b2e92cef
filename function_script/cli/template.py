"""The command ``template``: print the text of a template before it is parsed as YAML."""

from pathlib import Path
from typing import TypedDict, Unpack

import click

from function_script.cli import options, terminal
from function_script.tools.project import Project


class _Flags(TypedDict):
    input: str
    step: str
    data: str | None
    plain: bool
    program_root: Path | None
    allow_outside: tuple[Path, ...]


@options.command(
    *options.operator(),
    options.program_root("programs/ beside INPUT"),
    *options.shared("--allow-outside"),
    *options.reporting(),
    short_help="Print the text of a template.",
)
@click.argument("input", type=options.TEXT_PATH, metavar="INPUT")
@options.flag(
    "--step",
    group="Input",
    default="",
    metavar="NAME",
    help="Step of a Composition that has several templates.",
)
@options.flag(
    "-d",
    "--data",
    group="Input",
    type=str,
    metavar="FILE",
    help="Request or XR to render with, as JSON or YAML; - is stdin. By default an empty one.",
)
@options.flag(
    "--plain",
    group="Input",
    help="Use the data as a GoTemplate's root value, with fixed random values, to compare with Go.",
)
def template(**flags: Unpack[_Flags]) -> None:
    """Print the text that a template renders to, before it is read as YAML.

    INPUT is a file with a JinjaTemplate or a GoTemplate, or a Composition with such a step.

    The data is a RunFunctionRequest without its input: observed, desired, context and so on, named
    as in the protocol or in camelCase, bytes as base64. An XR alone stands for a request that
    observes it. A GoTemplate also takes any other object, as its root value.

    Examples:
      function-script template composition.yaml --step robots --data request.yaml
      function-script template composition.yaml -d xr.yaml
    """
    from function_script.tools import local_pool, sources  # noqa: PLC0415 - slow to import
    from function_script.tools import template as tool  # noqa: PLC0415 - slow to import

    path = Path(flags["input"])
    programs = flags["program_root"] or local_pool.programs_beside(path)
    step_input = tool.load_input(sources.load_argument(flags["input"]), flags["step"])
    data = {} if flags["data"] is None else tool.load_data(sources.load_argument(flags["data"]))
    project = Project.of([path], named=[flags["program_root"]], allowed=flags["allow_outside"])
    root = None if programs is None else project.resolve(programs)
    # Plain data is rendered without a sandbox.
    if not flags["plain"]:
        terminal.print_sandbox_note()
    text = tool.render(
        step_input,
        data,
        tool.Options(
            pool=options.read_pool(flags, options.read_limits(flags).with_root(root)),
            programs=programs,
            plain=flags["plain"],
            print=terminal.echo_text,
        ),
    )
    terminal.echo_exact(text)
