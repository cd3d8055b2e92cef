"""The command ``docs``: print the manual of a library function."""

from __future__ import annotations

from typing import Final

import click

from function_script.cli import terminal
from function_script.cli.flags import Command

_EPILOG: Final = """\b
Examples:
  function-script docs
  function-script docs get
"""


@click.command(cls=Command, short_help="Print what a library function does.", epilog=_EPILOG)
@click.argument("name", required=False)
def docs(name: str | None) -> None:
    """Print what the library's function NAME does; without NAME, list all functions.

    The functions are the same in Starlark and Jinja; Go templates have sprig.
    """
    from function_script.engines.library import manual  # noqa: PLC0415 - slow to import

    terminal.echo(manual.listing() if name is None else manual.entry(name), nl=False)
