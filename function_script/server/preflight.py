"""Checks before the server starts: processes, threads and file descriptors that it will need.

gRPC's library hangs or ends the process when one of its threads does not start, so a shortage is an
error with a number before the library is loaded.
"""

import threading

from function_script.sandbox import capacity
from function_script.server import channel_args
from function_script.texts.errors import SandboxError

# An idle server has 20 descriptors, a long run as many as a worker, a connection one.
_DESCRIPTORS = 64
_DESCRIPTORS_OF_A_WORKER = 4


def check(workers: int) -> None:
    """Raise SandboxError if the system does not allow what a server with ``workers`` needs."""
    processes, needed = capacity.processes_left(), capacity.needed_processes(workers)
    if processes is not None and processes < needed:
        raise SandboxError.of(
            f"cannot serve: {processes} processes and threads are allowed here, and a server with "
            f"--workers {workers} needs {needed}",
            hint=f"raise the container's pids limit to {needed} or more",
        )
    descriptors = channel_args.allowed_descriptors()
    needed = _DESCRIPTORS + _DESCRIPTORS_OF_A_WORKER * workers
    if descriptors < needed:
        raise SandboxError.of(
            f"cannot serve: {descriptors:.0f} open files are allowed here, and a server with "
            f"--workers {workers} needs {needed}",
            hint=f"raise the limit of open files (nofile) to {needed} or more",
        )
    check_threads(capacity.server_threads())


def check_threads(count: int) -> None:
    """Start ``count`` threads and end them; raise SandboxError if the system does not allow it.

    This finds limits that cannot be read, such as that of a user.
    """
    end = threading.Event()
    threads: list[threading.Thread] = []
    try:
        for _ in range(count):
            thread = threading.Thread(target=end.wait, daemon=True)
            thread.start()
            threads.append(thread)
    except RuntimeError as error:
        raise SandboxError.of(
            f"cannot serve: a server needs {count} threads, and the system allows it "
            f"{len(threads)} more",
            hint="raise the limit of processes and threads (pids) of the container or user",
        ) from error
    finally:
        end.set()
        for thread in threads:
            thread.join()
