"""The entry point of the console script and of ``python -m function_script``.

It sets signal handlers, then imports the command line.
The kernel does not deliver SIGTERM to process 1 of a container without a handler, and the imports
take seconds if there is little CPU.
"""

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Final

_INIT: Final = 1
# A shell adds this to the number of the signal that ended a command.
_SIGNAL_STATUS: Final = 128


def main() -> None:
    """Run the command line. A signal during its import ends the process at once."""
    open_streams()
    catch_signals(sys.argv[1:])
    from function_script import cli  # noqa: PLC0415 - after the handlers are set

    signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


def open_streams() -> None:
    """Open the null device as each standard stream that is closed.

    Otherwise the next file has its number, and Python has no object for it.
    """
    # The numbers are given out in this order.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115 - for good
            # Processes that it starts have it, too.
            os.set_inheritable(stream.fileno(), True)  # noqa: FBT003 - it has no name
            setattr(sys, name, stream)


def catch_signals(arguments: Sequence[str]) -> None:
    """Make SIGTERM end a server with 0 and process 1 with 143, and SIGINT any command with 130.

    A server replaces the handlers when it starts. SIGTERM ends other commands by default, unless
    they are process 1.
    """

    def exit_by_signal(number: int, _: FrameType | None) -> None:
        os._exit(_SIGNAL_STATUS + number)

    def exit_server(_number: int, _frame: FrameType | None) -> None:
        # A server that has not started has no calls to finish.
        os._exit(0)

    signal.signal(signal.SIGINT, exit_by_signal)
    # serve is the default command.
    is_serve = not arguments or arguments[0] == "serve" or arguments[0].startswith("-")
    if is_serve:
        signal.signal(signal.SIGTERM, exit_server)
    elif os.getpid() == _INIT:
        signal.signal(signal.SIGTERM, exit_by_signal)


if __name__ == "__main__":
    main()
