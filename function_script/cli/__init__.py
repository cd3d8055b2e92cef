"""The command line.

A command imports its tools when it runs, so that the program starts quickly.
"""

import gc
import importlib
import os
import platform
import sys
from collections.abc import Sequence
from functools import cache

import click

from function_script import __version__
from function_script.cli import exit_codes, options, terminal

NAME = "function-script"
_OWN_FLAGS = {"--help", "-h", "--version"}
# Crossplane sets one of these and starts the container without arguments.
_SERVER_VARIABLES = (
    "TLS_SERVER_CERTS_DIR",
    "FUNCTION_SCRIPT_TLS_CERTS_DIR",
    "FUNCTION_SCRIPT_INSECURE",
)
# Two words for people; click takes them for one name.
_OPERATION = "render operation"
# kustomize and kpt set it, and start the container of a KRM function without arguments.
_KRM_VARIABLE = "STRUCTURED_RESULTS"


class _Commands(click.Group):
    """The commands; the module of each is imported when it is read."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return all names."""
        return sorted(name for names in _SECTIONS.values() for name in names)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return a command; None if there is none of this name."""
        return _load_command(name) if name in self.list_commands(ctx) else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse flags without a command as those of ``serve``: images start that way."""
        if args and args[0].startswith("-"):
            means_serve = args[0] not in _OWN_FLAGS
        else:
            means_serve = not args and any(os.environ.get(name) for name in _SERVER_VARIABLES)
        if args[:2] == _OPERATION.split():
            args = [_OPERATION, *args[2:]]
        if not args and not means_serve and os.environ.get(_KRM_VARIABLE):
            args = ["krm"]
        # A shell that completes a line parses the part before the cursor.
        is_empty = not args and not means_serve and not ctx.resilient_parsing
        # Without a terminal, a container that lacks certificates must fail and not print help.
        if is_empty and not any(map(os.isatty, range(3))):
            raise click.UsageError(
                "there is no command, and there are no certificates: TLS_SERVER_CERTS_DIR, which "
                "Crossplane sets, is empty. To serve, pass --tls-certs-dir DIR or --insecure; "
                "--help lists the commands."
            )
        return super().parse_args(ctx, ["serve", *args] if means_serve else args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by what they are for, each section in the order of their use."""
        for title, names in _SECTIONS.items():
            members = [self.get_command(ctx, name) for name in names]
            rows = [
                (str(command.name), command.get_short_help_str(formatter.width))
                for command in members
                if command is not None and not command.hidden
            ]
            with formatter.section(title):
                formatter.write_dl(rows)


_EPILOG = """\b
Exit codes:
  0    fine
  1    a problem in the input, reported on stderr
  2    wrong usage
  3    a bug of ours: please report it
  10   the report has what the command must fail on
  130  interrupted
"""


@click.group(
    cls=_Commands, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name=NAME, message="%(prog)s %(version)s")
def commands() -> None:
    """A Crossplane composition function, and tools to write and test its programs.

    Every flag can be set by an environment variable as well: see the reference of the command line.
    """


@options.command(short_help="Print the version.")
def version() -> None:
    """Print the version, and whether it runs compiled or as plain Python."""
    from function_script import wire  # noqa: PLC0415 - only this command needs it

    build = wire.describe_build()
    terminal.echo(f"{NAME} {__version__} (Python {platform.python_version()}, {build})")


_SECTIONS = {
    "Write and test": (
        *("init", "playground", "render", _OPERATION, "template"),
        *("check", "test", "validate", "compare", "plan", "snapshot"),
        *("docs", "editor"),
    ),
    "Publish": ("package", "vendor"),
    "Serve": ("serve", "run", "krm", "version", "internal"),
}
# The names of commands' functions that are not those of the commands.
_FUNCTIONS = {_OPERATION: "render_operation", "test": "run_cases"}


@cache
def _load_command(name: str) -> click.Command:
    command: click.Command = version
    if name != version.name:
        module = importlib.import_module(f"{__name__}.{name.split(maxsplit=1)[0]}")
        command = getattr(module, _FUNCTIONS.get(name, name))
    options.name_variables(name, command)
    return command


def main() -> None:
    """Run the console script."""
    # The imports of a command are no garbage, and searching it for cycles takes 20 to 60 ms.
    gc.set_threshold(50_000, 50, 100)
    code = execute(sys.argv[1:])
    # Otherwise Python searches all imported modules for cycles before it exits: 15 to 30 ms.
    gc.freeze()
    sys.exit(code)


def execute(args: Sequence[str]) -> int:
    """Run a command and return its exit code; never raises."""
    flags: dict[str, object] = {}

    def command() -> int:
        code = commands.main(
            args=list(args),
            prog_name=NAME,
            standalone_mode=False,
            obj=flags,
            terminal_width=terminal.width(),
        )
        return code if isinstance(code, int) else exit_codes.OK

    return exit_codes.guard(command, flags)
