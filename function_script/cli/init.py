"""The command ``init``: write a project to start from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypedDict, Unpack

import click

from function_script import release
from function_script.cli import options, terminal
from function_script.cli.flags import Command, Flag
from function_script.engines import NAMES

if TYPE_CHECKING:
    from pathlib import Path

_EPILOG: Final = """\b
Examples:
  function-script init my-project
  function-script init my-project --language jinja
  function-script init my-project --package registry.example.org/function-script:v0.1.0
"""


class _InitFlags(TypedDict):
    language: str
    package: str
    install: str | None
    quiet: bool


@click.command(
    cls=Command,
    short_help="Create a project, with tests.",
    epilog=_EPILOG,
    params=[options.quiet("what to do next")],
)
@click.argument("directory", type=options.PATH)
@click.option(
    "-l",
    "--language",
    cls=Flag,
    group="Project",
    type=click.Choice(NAMES),
    default=NAMES[0],
    show_default=True,
    help="Language of the program.",
)
@click.option(
    "--package",
    cls=Flag,
    group="Project",
    default=release.REFERENCE,
    show_default=True,
    metavar="NAME",
    help="The function's package in your registry: REGISTRY/REPOSITORY:TAG.",
)
@click.option(
    "--install",
    cls=Flag,
    group="Project",
    metavar="REQUIREMENT",
    show_default="the git URL or wheel that this command was installed from",
    help="Argument of pip install in CI: a git URL, a path in the project, the URL of a wheel.",
)
def init(directory: Path, **flags: Unpack[_InitFlags]) -> None:
    """Begin a project in DIRECTORY: an API, its Composition, an example and tests.

    Files that are there are never written over.
    """
    from function_script.tools import starters  # noqa: PLC0415 - slow to import
    from function_script.tools.starters import origins  # noqa: PLC0415 - slow to import

    source = origins.Origins(
        package=origins.parse_package(flags["package"]),
        requirement=origins.installed_requirement()
        if flags["install"] is None
        else origins.parse_requirement(flags["install"]),
    )
    for path in starters.write(flags["language"], directory, source):
        terminal.echo(str(path))
    if flags["quiet"]:
        return
    terminal.echo(f"\nTry: cd {directory} && function-script test", err=True)
    if source.package.name == release.OWN_PACKAGE:
        terminal.echo(
            "Before you deploy: name your registry in functions.yaml and crossplane.yaml, or to "
            "init as --package",
            err=True,
        )
    if not source.requirement:
        terminal.echo(
            "Before CI runs: set FUNCTION_SCRIPT in ci.yaml, or name it to init as --install",
            err=True,
        )
