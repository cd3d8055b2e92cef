"""``function-script init``: a project to start from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from function_script.cli import options, terminal
from function_script.engines import ENGINES

if TYPE_CHECKING:
    from pathlib import Path

_EPILOG: Final = """\b
Examples:
  function-script init my-project
  function-script init my-project --language jinja
"""


@click.command(
    short_help="Begin a project, with tests.",
    epilog=_EPILOG,
    params=[options.quiet("what to do next")],
)
@click.argument("directory", type=options.PATH)
@click.option(
    "-l",
    "--language",
    type=click.Choice(tuple(ENGINES)),
    default="starlark",
    show_default=True,
    help="What the program is written in.",
)
def init(directory: Path, *, language: str, quiet: bool) -> None:
    """Begin a project in DIRECTORY: an API, its Composition, an example and tests.

    Files that are there are never written over.
    """
    from function_script.tools import starters  # noqa: PLC0415 - slow to import

    for path in starters.write(language, directory):
        terminal.echo(str(path))
    if not quiet:
        terminal.echo(f"\nTry: cd {directory} && function-script test", err=True)
