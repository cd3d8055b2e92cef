"""The command line.

A command imports its tools when it runs, so that the program starts quickly.
"""

import gc
import os
import platform
import sys
from collections.abc import Sequence

import click

from function_script import __version__
from function_script.cli import exit_codes, options, terminal
from function_script.cli.check import check
from function_script.cli.docs import docs
from function_script.cli.editor import editor
from function_script.cli.init import init
from function_script.cli.internal import internal
from function_script.cli.krm import krm
from function_script.cli.package import package
from function_script.cli.playground import playground
from function_script.cli.render import OPERATION, render, render_operation
from function_script.cli.run import run
from function_script.cli.serve import serve
from function_script.cli.template import template
from function_script.cli.test import run_cases
from function_script.cli.validate import validate
from function_script.cli.vendor import vendor

NAME = "function-script"
_OWN_FLAGS = {"--help", "-h", "--version"}
# Crossplane sets one of these and starts the container without arguments.
_SERVER_VARIABLES = (
    "TLS_SERVER_CERTS_DIR",
    "FUNCTION_SCRIPT_TLS_CERTS_DIR",
    "FUNCTION_SCRIPT_INSECURE",
)
# kustomize and kpt set it, and start the container of a KRM function without arguments.
_KRM_VARIABLE = "STRUCTURED_RESULTS"


class _Commands(click.Group):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse flags without a command as those of ``serve``: images start that way."""
        if args and args[0].startswith("-"):
            means_serve = args[0] not in _OWN_FLAGS
        else:
            means_serve = not args and any(os.environ.get(name) for name in _SERVER_VARIABLES)
        if args[:2] == OPERATION.split():
            args = [OPERATION, *args[2:]]
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

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by what they are for, each section in the order of their use."""
        for title, members in _SECTIONS.items():
            rows = [
                (str(command.name), command.get_short_help_str(formatter.width))
                for command in members
                if not command.hidden
            ]
            with formatter.section(title):
                formatter.write_dl(rows)


_EPILOG = """\b
Exit codes:
  0    fine
  1    a problem in the input, reported on stderr
  2    wrong usage
  3    a bug of ours: please report it
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


@click.command(cls=options.Command, short_help="Print the version.")
def version() -> None:
    """Print the version, and whether it runs compiled or as plain Python, and why."""
    from function_script import build  # noqa: PLC0415 - only this command needs it

    terminal.echo(f"{NAME} {__version__} (Python {platform.python_version()}, {build.describe()})")


_SECTIONS = {
    "Write and test": (
        *(init, playground, render, render_operation, template),
        *(check, run_cases, validate, docs, editor),
    ),
    "Publish": (package, vendor),
    "Serve": (serve, run, krm, version, internal),
}
for _members in _SECTIONS.values():
    for _command in _members:
        commands.add_command(_command)
options.name_variables(commands)


def main() -> None:
    """Run the console script."""
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
