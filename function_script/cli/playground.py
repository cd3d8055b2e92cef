"""The command ``playground``: serve a page that renders while you type."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

import click

from function_script.cli import confinement, options, terminal
from function_script.cli.flags import Command, Flag

if TYPE_CHECKING:
    from pathlib import Path

_EPILOG: Final = """\b
Examples:
  function-script playground
  function-script playground examples --no-browser --port 8123
"""


@click.command(cls=Command, epilog=_EPILOG, params=options.limits())
@click.argument("directory", type=options.PATH, default=".", metavar="[DIR]")
@click.option(
    "--port",
    cls=Flag,
    group="Server",
    type=click.IntRange(0, 65535),
    default=0,
    show_default="a free one",
    metavar="PORT",
    help="Port on the loopback address.",
)
@click.option(
    "--no-browser", cls=Flag, group="Server", is_flag=True, help="Only print the address."
)
def playground(directory: Path, *, port: int, no_browser: bool, **flags: object) -> None:
    """Open a page in the browser that renders while you type.

    It starts from the folders at and below DIR that hold xr.yaml and composition.yaml, and writes
    nothing into them. The page is served to this machine alone, and the address that is printed
    lets one browser in. Ctrl-C ends it.
    """
    import webbrowser  # noqa: PLC0415 - slow to import

    from function_script.tools.playground import Playground  # noqa: PLC0415 - slow to import

    confinement.print_note()
    with Playground(directory, port, options.read_limits(flags)) as server:
        address = server.address
        terminal.echo(f"playground: {address}")
        terminal.echo("Ctrl-C ends it.", err=True)
        if not no_browser:
            webbrowser.open(address)
        threading.Event().wait()
