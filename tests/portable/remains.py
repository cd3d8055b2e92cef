"""What an interpreter still has of that which was to be taken away; a worker can be asked as well.

Written down apart from the tables that take it away, so that neither hides a mistake of the other.
"""

import ctypes
import importlib
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from function_script.blocked import Blocked
from function_script.diagnostics import Diagnostic
from function_script.inputs import MissingContent
from function_script.limits import MIB, Limits
from function_script.telemetry import RequestInfo

LINUX_NAMES = """
    os.sched_getaffinity os.sched_setaffinity os.sched_setscheduler os.SCHED_IDLE os.memfd_create
    os.MFD_ALLOW_SEALING os.pidfd_open os.waitid os.P_PIDFD os.O_TMPFILE os.eventfd os.splice
    os.getrandom os.pipe2 select.epoll select.EPOLLIN signal.pidfd_send_signal signal.SIGPWR
    signal.sigtimedwait resource.prlimit fcntl.F_ADD_SEALS fcntl.F_SEAL_SHRINK fcntl.F_NOTIFY
    mmap.MADV_REMOVE socket.SOCK_SEQPACKET socket.SOCK_CLOEXEC socket.SO_PEERCRED
"""
CONTROL = "os.fork os.pread signal.setitimer mmap.PAGESIZE socket.AF_UNIX socket.send_fds"


def has(name: str) -> bool:
    """Tell whether a module has a name."""
    module, _, attribute = name.rpartition(".")
    return hasattr(importlib.import_module(module), attribute)


def can_open_proc() -> bool:
    """Tell whether anything below /proc is there, in one of the ways to look."""
    path = Path("/proc/self/statm")
    attempts: list[Callable[[], object]] = [
        path.read_bytes,
        path.stat,
        lambda: os.open(path, os.O_RDONLY),
        lambda: list(Path("/proc").iterdir()),
        Path("/proc/self/exe").readlink,
    ]
    return any(map(succeeds, attempts))


def can_use_packets() -> bool:
    """Tell whether two processes can have sockets of packets between them."""
    return succeeds(lambda: socket.socketpair(socket.AF_UNIX, 5))


def can_see_clocks() -> bool:
    """Tell whether the CPU time of another process can be read."""
    return succeeds(lambda: time.clock_gettime(~os.getppid() << 3 | 2))


def can_call_prctl() -> bool:
    """Tell whether the C library has what only Linux has."""
    return hasattr(ctypes.CDLL(None), "prctl")


def can_bound_address_space() -> bool:
    """Tell whether a limit of the address space is one; tried in a process of its own."""
    code = (
        "import resource as r; r.setrlimit(r.RLIMIT_AS, (300 << 20, 300 << 20)); bytearray(1 << 30)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    return result.returncode != 0


def succeeds(attempt: Callable[[], object]) -> bool:
    """Tell whether a call raises neither OSError nor AttributeError."""
    try:
        attempt()
    except (OSError, AttributeError):
        return False
    return True


FEATURES = (can_open_proc, can_use_packets, can_see_clocks, can_call_prctl)


def find_in_this_process() -> list[str]:
    """List what is there and was to be taken away; and what is missing that was to stay."""
    names = [name for name in LINUX_NAMES.split() if has(name)]
    missing = [f"no {name}" for name in CONTROL.split() if not has(name)]
    features = [feature.__name__ for feature in FEATURES if feature()]
    platform = [] if sys.platform == "darwin" else [sys.platform]
    bytes_ = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    unit = [] if bytes_ > MIB else ["ru_maxrss in KiB"]
    signals = [each.name for each in signal.Signals if each.name == "SIGRTMIN"]
    return names + missing + features + platform + unit + signals


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a handler returns."""

    response: bytes
    diagnostics: tuple[Diagnostic, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    missing: tuple[MissingContent, ...] = ()
    info: RequestInfo = field(default_factory=RequestInfo)


def handle(data: bytes, limits: Limits, on_limits: Callable[[Limits], None], seed: bytes) -> Answer:
    """Answer any request with what this worker still has."""
    del data, limits, on_limits, seed
    return Answer(response="\n".join(find_in_this_process()).encode())
