"""Spawn an interpreter of our own, isolated from the user's environment and current directory."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

# The path is this process' own.
_MAIN = """\
import importlib, sys
sys.path[:] = sys.argv[4:]
main = importlib.import_module(sys.argv[1]).main
main(*map(int, sys.argv[2].split()), sys.argv[3])
"""
# Some builds of Python do not start without these.
_INHERITED_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
# A backtrace for each Rust panic would cost 70 ms and 55 MB.
_VARIABLES = {"RUST_BACKTRACE": "0"}


def spawn(
    module: str,
    descriptors: Sequence[int],
    options: str,
    *,
    variables: Iterable[str] = (),
    has_session: bool = False,
) -> subprocess.Popen[bytes]:
    """Call ``main(*descriptors, options)`` of a module in a new process; raise OSError.

    It inherits ``variables`` of the environment. ``has_session``: it has a session of its own, and
    so no terminal.
    """
    names = (*_INHERITED_VARIABLES, *variables)
    env = {name: os.environ[name] for name in names if name in os.environ}
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *(path for path in sys.path if path not in {"", root})]
    flags = ["-I", "-S", "-X", "utf8", "-c", _MAIN]
    return subprocess.Popen(  # noqa: S603 # our own interpreter and program
        [sys.executable, *flags, module, " ".join(map(str, descriptors)), options, *paths],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=descriptors,
        env=env | _VARIABLES,
        # Ctrl-C does not reach it. In a session of its own, Linux would schedule it against the
        # server's session outside of containers (``sched_autogroup_enabled``), and beside other
        # busy processes a zygote's workers got a fifth of their share.
        start_new_session=has_session,
        process_group=None if has_session else 0,
    )


def end(process: subprocess.Popen[bytes], connection: socket.socket, seconds: float) -> None:
    """Close the socket of a process, which ends with it, and kill the process after ``seconds``."""
    # Wakes a thread that waits for its messages.
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
