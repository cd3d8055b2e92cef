"""The errors of a worker or thread that cannot be started because the system refuses a call.

The zygote and a worker send the call and its errno as numbers; the pool makes an error of them.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Final

from function_script.texts.errors import SandboxError


class Call(IntEnum):
    """A system call, or the best known one of its family."""

    EXECVE = 1
    FORK = 2
    PIDFD_OPEN = 3
    MEMFD_CREATE = 4
    SOCKETPAIR = 5
    SETPGID = 6
    SETRLIMIT = 7
    OPEN = 8
    MMAP = 9


class CallRefusedError(Exception):
    """The system refused ``call`` with ``errno``."""

    def __init__(self, call: Call, errno: int) -> None:
        super().__init__(f"{call.name.lower()}: {os.strerror(errno)}")
        self.call: Final = call
        self.errno: Final = errno


@contextmanager
def system_call(call: Call) -> Iterator[None]:
    """Convert an OSError of the block to a CallRefusedError of ``call``."""
    try:
        yield
    except OSError as error:
        raise CallRefusedError(call, error.errno or 0) from error


def explain(refusal: CallRefusedError) -> SandboxError:
    """Build the error of a worker that did not start because of a refused call."""
    name, reason = refusal.call.name.lower(), os.strerror(refusal.errno)
    shortage = _SHORTAGES.get(refusal.errno)
    if shortage is None:
        hint = f"the container runtime must allow {name}: look at its seccomp profile"
        is_forbidden = refusal.errno in {errno.EPERM, errno.ENOSYS}
        return cannot_start(f"the system refused {name} ({reason})", hint if is_forbidden else None)
    resource, remedy = shortage
    hint = f"{remedy}; it is tried again with the next request"
    return cannot_start(f"there are no more {resource} ({name}: {reason})", hint)


def explain_threads(count: int) -> SandboxError:
    """Build the error of ``count`` threads, of which one did not start."""
    hint = "raise the limit of processes (pids) of container or user, which counts threads, too"
    return SandboxError.of(f"cannot start {count} threads: there are no more to be had", hint=hint)


def cannot_start(reason: str, hint: str | None = None) -> SandboxError:
    """Build the error of a worker that did not start."""
    return SandboxError.of(f"cannot start a worker: {reason}", hint=hint)


_SHORTAGES: Final = {
    errno.EAGAIN: ("processes", "raise the container's pids limit"),
    errno.EMFILE: ("descriptors", "raise the process's limit of open files"),
    errno.ENFILE: ("descriptors", "the node has as many open files as it allows"),
    errno.ENOMEM: ("memory pages", "raise the container's memory limit"),
}
