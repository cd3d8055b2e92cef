"""The command ``playground``: serve a page that renders while you type."""

import threading
from pathlib import Path
from typing import Unpack

import click

from function_script.cli import options, terminal


class _Flags(options.RenderingFlags):
    directory: Path
    port: int | None
    no_browser: bool


@options.command(*options.functions(), *options.operator())
@click.argument("directory", type=options.PATH, default=".", metavar="[DIR]")
@options.flag(
    "--port",
    group="Server",
    type=click.IntRange(0, 65535),
    show_default="the same for DIR each time, if it is free",
    metavar="PORT",
    help="Port on the loopback address; 0 is a free one.",
)
@options.flag("--no-browser", group="Server", help="Only print the address.")
def playground(**flags: Unpack[_Flags]) -> None:
    """Open a page in the browser that renders while you type.

    It opens the folders at and below DIR that hold xr.yaml and composition.yaml. It writes a file
    there only when you save it on the page. The page is served to this machine alone, and the
    address that is printed lets one browser in. Ctrl-C ends it.

    Examples:
      function-script playground
      function-script playground examples --no-browser --port 8123
      function-script playground --function function-auto-ready=localhost:9443
    """
    import webbrowser  # noqa: PLC0415 - slow to import

    from function_script.tools.playground.server import Playground  # noqa: PLC0415 - slow to import

    terminal.print_sandbox_note()
    server = Playground(
        flags["directory"],
        flags["port"],
        options.read_rendering(flags, is_quiet=False, retries=True),
        options.read_pool(flags),
        allowed=flags["allow_outside"],
    )
    with server:
        address = server.address
        terminal.echo(f"playground: {address}")
        terminal.echo("Ctrl-C ends it.", err=True)
        if not flags["no_browser"]:
            webbrowser.open(address)
        threading.Event().wait()
