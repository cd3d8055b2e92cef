"""The first code that runs: it catches signals, and only then imports the command line.

As process 1 of a container, a process that has set no handler never gets SIGTERM at all, and to
import everything takes seconds where there is little CPU. The console script calls ``main``.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

_INIT: Final = 1
# What a shell reports for a command that a signal has ended.
_SIGNALLED: Final = 128


def main() -> None:
    """Run the command line. A signal that comes before it is imported ends the process at once."""
    catch_signals(sys.argv[1:])
    from function_script import cli  # noqa: PLC0415 - after the handlers: that is the purpose

    signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


def catch_signals(arguments: Sequence[str]) -> None:
    """Have SIGTERM end a server with 0 and process 1 with 143, and SIGINT end any command with 130.

    A server replaces the handlers when it starts. Other commands die of SIGTERM anyway, unless
    they are process 1.
    """
    signal.signal(signal.SIGINT, _end)
    if _is_serving(arguments):
        signal.signal(signal.SIGTERM, _end_server)
    elif os.getpid() == _INIT:
        signal.signal(signal.SIGTERM, _end)


def _is_serving(arguments: Sequence[str]) -> bool:
    """Whether the arguments are those of ``serve``, whose name may be left out."""
    return not arguments or arguments[0] == "serve" or arguments[0].startswith("-")


def _end(number: int, _: FrameType | None) -> None:
    os._exit(_SIGNALLED + number)


def _end_server(_number: int, _frame: FrameType | None) -> None:
    # Nothing was begun, so there is nothing to finish.
    os._exit(0)
