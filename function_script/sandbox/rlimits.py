"""What the kernel is asked to hold a worker to. Called in the zygote and in each new worker.

Everything here is one-way: a worker cannot take any of it back, except that the soft limits of
memory and time move with each request.
"""

from __future__ import annotations

import ctypes
import gc
import math
import os
import resource
import signal
import sys
import time
from typing import Final

from function_script.limits import MIB
from function_script.sandbox import seccomp
from function_script.sandbox.measures import NOT_IN_FORCE, Confinement, Measure
from function_script.sandbox.outcome import MAX_LOG_BYTES
from function_script.sandbox.refusals import Call, named

# Deep but legal nesting needs it: parsers recurse on the native stack.
STACK_BYTES = 64 * MIB
_MAX_FILES = 32
_CPU_SLACK_SECONDS = 1
_PAGE_BYTES = resource.getpagesize()
_PR_SET_PDEATHSIG = 1
_PR_GET_PDEATHSIG = 2
_PR_GET_DUMPABLE = 3
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38
_PR_GET_NO_NEW_PRIVS = 39
_LIBC = ctypes.CDLL(None, use_errno=True)
# Memory that a run has freed is kept for the next one, up to so much. By itself, the C library
# gives blocks of 128 KiB and more back at once, and the kernel clears them when they are taken
# anew: a third of the time of a script with a few hundred resources.
_KEPT_BYTES = 8 * MIB
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3


def harden_zygote() -> None:
    """Settle what every worker inherits."""
    # Ctrl-C in a terminal reaches the whole group; only the pool decides when workers end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _lower(resource.RLIMIT_STACK, STACK_BYTES)
    _lower(resource.RLIMIT_CORE, 0)
    _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    forbid_inspection()
    _keep_freed_memory()


def forbid_inspection() -> None:
    """Keep processes of the same user from reading this one's memory and environment.

    Inherited by forks, and undone by the kernel when another program is executed.
    """
    _LIBC.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def harden_worker(zygote: int) -> int:
    """Settle what holds for a forked worker's whole life; call it once, with its files in place.

    Returns what ``seccomp.install`` does. Raises CallRefusedError.
    """
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != zygote:
        # It was gone before the line above took hold, so nobody would ever end this process.
        os._exit(1)
    # Signals sent to the group reach nobody else. (Not a session: Linux may schedule sessions
    # against each other, and then niceness means nothing between workers.)
    with named(Call.SETPGID):
        os.setpgid(0, 0)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    bound_worker()
    return seccomp.install()


def bound_worker() -> None:
    """Set the limits that every POSIX system has, and switch the collector on."""
    # A limit of file sizes cuts bytecode short, and Python 3.11 keeps what was cut.
    sys.dont_write_bytecode = True
    _lower(resource.RLIMIT_FSIZE, MAX_LOG_BYTES)
    _lower(resource.RLIMIT_NOFILE, _MAX_FILES)
    _lower(resource.RLIMIT_NPROC, 0)
    gc.set_threshold(20_000, 50, 100)
    gc.enable()


def measure(filter_errno: int) -> Confinement:
    """Ask the kernel which measures hold for this process; ``filter_errno`` as of ``install``."""
    errnos = {
        Measure.SYSTEM_CALLS: filter_errno,
        Measure.PRIVILEGES: _errno_of_flag(_PR_GET_NO_NEW_PRIVS, 1),
        Measure.MEMORY: _errno_of_limit(resource.RLIMIT_AS, sys.maxsize),
        Measure.PROCESSES: _errno_of_processes(filter_errno),
        Measure.DESCRIPTORS: _errno_of_limit(resource.RLIMIT_NOFILE, _MAX_FILES),
        Measure.FILE_SIZE: _errno_of_limit(resource.RLIMIT_FSIZE, MAX_LOG_BYTES),
        Measure.CORE_DUMPS: _errno_of_limit(resource.RLIMIT_CORE, 0),
        Measure.PARENT_DEATH: _errno_of_death_signal(),
        Measure.INSPECTION: _errno_of_flag(_PR_GET_DUMPABLE, 0),
    }
    return Confinement(missing={each: number for each, number in errnos.items() if number})


def _errno_of_flag(option: int, expected: int) -> int:
    value = _LIBC.prctl(option, 0, 0, 0, 0)
    if value == -1:
        return ctypes.get_errno()
    return 0 if value == expected else NOT_IN_FORCE


def _errno_of_limit(limit: int, ceiling: int) -> int:
    soft, _ = resource.getrlimit(limit)
    return 0 if soft != resource.RLIM_INFINITY and soft <= ceiling else NOT_IN_FORCE


def _errno_of_processes(filter_errno: int) -> int:
    """Of the limit; the kernel does not hold root to it, but the filter does."""
    if filter_errno != 0 and os.getuid() == 0:
        return NOT_IN_FORCE
    return _errno_of_limit(resource.RLIMIT_NPROC, 0)


def _errno_of_death_signal() -> int:
    number = ctypes.c_int()
    if _LIBC.prctl(_PR_GET_PDEATHSIG, ctypes.byref(number), 0, 0, 0) == -1:
        return ctypes.get_errno()
    return 0 if number.value == signal.SIGKILL else NOT_IN_FORCE


class MemoryLimit:
    """The address space a worker may add to what it had when it was born."""

    def __init__(self, max_bytes: int) -> None:
        # Opening the file costs ten times more than reading it, and happens once this way.
        with named(Call.OPEN):
            self._statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        self._idle_bytes = self._address_space_bytes()
        self._hard = _reachable(resource.RLIMIT_AS, self._idle_bytes + max_bytes)
        self._soft = self._hard
        with named(Call.SETRLIMIT):
            resource.setrlimit(resource.RLIMIT_AS, (self._hard, self._hard))

    def limit(self, max_bytes: int) -> None:
        """Let the worker add at most ``max_bytes`` from now on."""
        soft = min(self._idle_bytes + max_bytes, self._hard)
        if soft != self._soft:
            self._soft = soft
            resource.setrlimit(resource.RLIMIT_AS, (soft, self._hard))

    def grown_bytes(self) -> int:
        """How much the worker holds beyond what it had when it was born."""
        return self._address_space_bytes() - self._idle_bytes

    def _address_space_bytes(self) -> int:
        pages = os.pread(self._statm, 128, 0).split(b" ", 1)[0]
        return int(pages) * _PAGE_BYTES


class Watchdog:
    """Has the kernel end this process when a request takes too long, whatever it is doing then.

    By default it counts the CPU time of all threads; ``on_the_clock`` it counts the time that
    passes.
    """

    def __init__(self, *, on_the_clock: bool = False) -> None:
        self._cpu_seconds, self._hard = resource.getrlimit(resource.RLIMIT_CPU)
        self._timer = signal.ITIMER_REAL if on_the_clock else signal.ITIMER_PROF
        self.now: Final = time.monotonic if on_the_clock else time.process_time
        """The time that it counts."""

    def set(self, seconds: float) -> None:
        """After ``seconds`` from now."""
        # Zero would mean "never".
        signal.setitimer(self._timer, max(seconds, 1e-6))
        # A second net, in case the alarm is lost. It is coarse, so that it need not be moved for
        # every request.
        cpu_seconds = math.ceil(time.process_time() + seconds) + 1
        if not cpu_seconds <= self._cpu_seconds <= cpu_seconds + _CPU_SLACK_SECONDS:
            self._cpu_seconds = _reachable(resource.RLIMIT_CPU, cpu_seconds)
            resource.setrlimit(resource.RLIMIT_CPU, (self._cpu_seconds, self._hard))

    def call_off(self) -> None:
        """The request has ended."""
        signal.setitimer(self._timer, 0)


def _keep_freed_memory() -> None:
    # Of the GNU C library alone; others do as they please.
    if hasattr(_LIBC, "mallopt"):
        _LIBC.mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        _LIBC.mallopt(_M_MMAP_THRESHOLD, _KEPT_BYTES)


def _lower(limit: int, wanted: int) -> None:
    ceiling = _reachable(limit, wanted)
    with named(Call.SETRLIMIT):
        resource.setrlimit(limit, (ceiling, ceiling))


def _reachable(limit: int, wanted: int) -> int:
    """``wanted``, or less where whoever started this process has allowed less."""
    _, hard = resource.getrlimit(limit)
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
