"""The command ``internal render``: a render engine for the official command.

The official command calls its ``--crossplane-binary`` with these arguments.
"""

import sys
from functools import partial
from pathlib import Path
from typing import Final, TypedDict, Unpack

import click

from function_script.cli import exit_codes, options, terminal

# The official command expects this after a FATAL result, with a partial response on stdout.
_FATAL: Final = 3


class _Flags(TypedDict):
    timeout: float
    program_root: Path | None
    seed_file: Path | None


@click.group(hidden=True)
def internal() -> None:
    """Commands for other programs."""


@internal.command(
    "render",
    cls=options.Command,
    params=[
        options.timeout("all steps together", default="2m"),
        options.program_root("none"),
        *options.shared("--seed-file"),
        options.debug(),
    ],
)
def render(**flags: Unpack[_Flags]) -> int:
    r"""Answer a RenderRequest on stdin with a RenderResponse on stdout.

    The official command calls it in place of a Crossplane binary. Functions are called at the
    addresses it gives; the address local stands for this function, which then needs no server.

    The exit code is 3 when a step returned a FATAL result; the response then holds what there was.

    Examples:
      crossplane composition render xr.yaml composition.yaml functions.yaml \
        --crossplane-binary=$(which function-script)
    """
    from function_script.request.limits import Limits  # noqa: PLC0415 - slow to import
    from function_script.tools.render import engine, renderer  # noqa: PLC0415 - slow to import

    root = flags["program_root"]
    response, failure = engine.respond(
        sys.stdin.buffer.read(),
        renderer.Options(
            timeout_seconds=flags["timeout"],
            timeout_flag=options.TIMEOUT,
            print=partial(terminal.echo, err=True),
        ),
        options.read_pool(flags, Limits().with_root(None if root is None else root.resolve())),
    )
    sys.stdout.buffer.write(response)
    sys.stdout.buffer.flush()
    if failure is None:
        return exit_codes.OK
    exit_codes.report_problem(failure)
    return _FATAL
