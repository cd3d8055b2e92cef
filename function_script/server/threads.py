"""A check that this process may start the threads that it needs, where no limit can be read.

gRPC's library hangs or ends the process when one of its threads does not start.
"""

from __future__ import annotations

import threading

from function_script.errors import SandboxError


def check(number: int) -> None:
    """Raise SandboxError when the system does not let this process start so many threads."""
    end = threading.Event()
    started: list[threading.Thread] = []
    try:
        for _ in range(number):
            thread = threading.Thread(target=end.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError as error:
        raise SandboxError.of(
            f"cannot serve: a server needs {number} threads, and the system allows it "
            f"{len(started)} more",
            hint="raise the limit of processes and threads (pids) of the container or user",
        ) from error
    finally:
        end.set()
        for thread in started:
            thread.join()
