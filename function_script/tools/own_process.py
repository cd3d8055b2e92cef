"""Processes that run a module of this project for another of its processes.

Python code runs on one CPU at a time in each process.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, TypeVarTuple, cast

from function_script.texts.errors import ProgramError

Arguments = TypeVarTuple("Arguments")

_BOOT: Final = """\
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from {module} import main
main()
"""


def command(module: str) -> list[str]:
    """Return the command that calls ``main`` of a module with the import path of this process."""
    # Without -P a module in the working directory could stand in for one of ours.
    return [sys.executable, "-P", "-c", _BOOT.format(module=module), json.dumps(sys.path)]


@contextmanager
def call(module: str, *arguments: object) -> Iterator[Callable[[], object]]:
    """Call a function in a process of its own until the ``with`` block ends.

    ``main`` of the module names the function by `answer`. Yields a callable that waits for its
    result, and raises what it raised, or ProgramError if the process was lost.
    """
    process = subprocess.Popen(  # noqa: S603 - our own program
        command(module),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # Ctrl-C does not reach it.
        process_group=0,
    )
    stdin, stdout = cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)

    def wait() -> object:
        data = stdout.read()
        if not data:
            raise ProgramError.of(
                f"cannot go on: a process of this command ended with status {process.wait()}",
                hint="a negative status is the number of the signal that ended it; -9 is often a "
                "lack of memory",
            )
        result: object = pickle.loads(data)  # noqa: S301 - our own process wrote it
        if isinstance(result, Exception):
            raise result
        return result

    try:
        # It stays open: its end tells the process that this one is gone.
        pickle.dump(arguments, stdin)
        stdin.flush()
        yield wait
    finally:
        process.kill()
        process.wait()
        stdout.close()
        stdin.close()


def answer(function: Callable[[*Arguments], object]) -> None:
    """Call a function with the arguments of `call`, and hand back its result or error."""
    arguments = pickle.load(sys.stdin.buffer)  # noqa: S301 - the process above wrote it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    result: object
    try:
        result = function(*arguments)
    except Exception as error:  # noqa: BLE001 - the process above raises it
        # It may be a bug, and the traceback stays in this process.
        error.add_note(traceback.format_exc())
        result = error
    pickle.dump(result, sys.stdout.buffer)


def _end_with_parent() -> None:
    """Exit when the process above closes stdin, or ends."""
    # At its end, the interpreter waits for whoever reads the object, but not the descriptor.
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)
