"""A check that this process may start the threads that it needs.

gRPC's library hangs or ends the process when one of its threads does not start.
"""

from __future__ import annotations

import os
import threading

from function_script.errors import SandboxError

# gRPC has one for each CPU, within bounds, and four more; the rest are ours.
_MIN_IO_THREADS, _MAX_IO_THREADS = 4, 16
_OTHER_GRPC_THREADS = 4
_OWN_THREADS = 4


def check() -> None:
    """Raise SandboxError when the system does not let this process start enough threads."""
    io_threads = min(max(os.cpu_count() or 1, _MIN_IO_THREADS), _MAX_IO_THREADS)
    number = io_threads + _OTHER_GRPC_THREADS + _OWN_THREADS
    end = threading.Event()
    started: list[threading.Thread] = []
    try:
        for _ in range(number):
            thread = threading.Thread(target=end.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError as error:
        raise SandboxError.of(
            f"cannot serve: a server needs {number} threads, and the system allows "
            f"{len(started) + 1}",
            hint="raise the limit of processes and threads (pids) of the container or user",
        ) from error
    finally:
        end.set()
        for thread in started:
            thread.join()
