"""Resource limits and other kernel restrictions, applied in the zygote and in each new worker.

A worker cannot lift any of them. Only the soft limits of memory and time move with each request.
"""

import ctypes
import gc
import math
import os
import resource
import signal
import sys
import time
from typing import Final

from function_script.request.limits import MIB
from function_script.sandbox import seccomp
from function_script.sandbox.confinement import NOT_IN_FORCE, Confinement, Measure
from function_script.sandbox.outcome import MAX_LOG_BYTES
from function_script.sandbox.spawn_errors import Call, system_call

# Parsers recurse on the native stack: deep but legal nesting needs it.
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
# The C library keeps so much freed memory for the next run. By default it returns blocks of 128 KiB
# and more at once, and the kernel clears them when they are allocated again: a third of the time of
# a script with a few hundred resources.
_TRIM_BYTES = 8 * MIB
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3


def harden_zygote() -> None:
    """Apply the restrictions that every worker inherits."""
    # Ctrl-C in a terminal reaches the whole group; only the pool decides when workers end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _lower(resource.RLIMIT_STACK, STACK_BYTES)
    _lower(resource.RLIMIT_CORE, 0)
    _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    forbid_inspection()
    if hasattr(_LIBC, "mallopt"):  # Only the GNU C library has it.
        _LIBC.mallopt(_M_TRIM_THRESHOLD, _TRIM_BYTES)
        _LIBC.mallopt(_M_MMAP_THRESHOLD, _TRIM_BYTES)


def forbid_inspection() -> None:
    """Keep processes of the same user from reading this one's memory and environment.

    Forks inherit it; the kernel resets it when another program is executed.
    """
    _LIBC.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def harden_worker(zygote: int) -> int:
    """Apply the restrictions of a forked worker, once, after its files are open.

    Return the result of ``seccomp.install``; raise CallRefusedError.
    """
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != zygote:
        # The zygote exited before the call above: no signal would ever end this process.
        os._exit(1)
    # Signals to the group reach no other process. (Not a session: Linux may schedule sessions
    # against each other, and then niceness has no effect between workers.)
    with system_call(Call.SETPGID):
        os.setpgid(0, 0)
    # A handler in Python would wait for native code to end; the default action does not.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    limit_worker()
    return seccomp.install()


def limit_worker() -> None:
    """Set the limits that every POSIX system has, and enable garbage collection."""
    # The limit of file sizes truncates bytecode files, and Python 3.11 keeps truncated ones.
    sys.dont_write_bytecode = True
    _lower(resource.RLIMIT_FSIZE, MAX_LOG_BYTES)
    _lower(resource.RLIMIT_NOFILE, _MAX_FILES)
    _lower(resource.RLIMIT_NPROC, 0)
    gc.set_threshold(20_000, 50, 100)
    gc.enable()


def read_confinement(filter_errno: int) -> Confinement:
    """Read from the kernel which measures are in force for this process.

    ``filter_errno`` is the result of ``seccomp.install``.
    """
    # RLIMIT_NPROC does not bind root; the filter does.
    is_unbound = filter_errno != 0 and os.getuid() == 0
    processes_errno = NOT_IN_FORCE if is_unbound else _errno_of_limit(resource.RLIMIT_NPROC, 0)
    errnos = {
        Measure.SYSTEM_CALLS: filter_errno,
        Measure.PRIVILEGES: _errno_of_flag(_PR_GET_NO_NEW_PRIVS, 1),
        # Any limit counts: its value depends on what the process had when it was set.
        Measure.MEMORY: _errno_of_limit(resource.RLIMIT_AS, sys.maxsize),
        Measure.PROCESSES: processes_errno,
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


def _errno_of_death_signal() -> int:
    number = ctypes.c_int()
    if _LIBC.prctl(_PR_GET_PDEATHSIG, ctypes.byref(number), 0, 0, 0) == -1:
        return ctypes.get_errno()
    return 0 if number.value == signal.SIGKILL else NOT_IN_FORCE


class MemoryLimit:
    """The limit of the address space that a worker allocates beyond its size at the start."""

    def __init__(self, max_bytes: int) -> None:
        # Opening the file costs ten times more than reading it.
        with system_call(Call.OPEN):
            self._statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        self._idle_bytes = self._address_space_bytes()
        self._hard = _clamp_to_hard_limit(resource.RLIMIT_AS, self._idle_bytes + max_bytes)
        self._soft = self._hard
        # The hard limit, too, because a program could raise the soft one up to it.
        with system_call(Call.SETRLIMIT):
            resource.setrlimit(resource.RLIMIT_AS, (self._hard, self._hard))

    def limit(self, max_bytes: int) -> None:
        """Let the worker allocate at most ``max_bytes`` from now on."""
        soft = min(self._idle_bytes + max_bytes, self._hard)
        if soft != self._soft:
            self._soft = soft
            resource.setrlimit(resource.RLIMIT_AS, (soft, self._hard))

    def grown_bytes(self) -> int:
        """Return the address space less what the worker had at the start."""
        return self._address_space_bytes() - self._idle_bytes

    def _address_space_bytes(self) -> int:
        pages = os.pread(self._statm, 128, 0).split(b" ", 1)[0]
        return int(pages) * _PAGE_BYTES


class Watchdog:
    """Has the kernel kill this process when a request takes too long.

    It counts the CPU time of all threads, or with ``on_the_clock`` the time on the clock.
    """

    def __init__(self, *, on_the_clock: bool = False) -> None:
        self._cpu_seconds, self._hard = resource.getrlimit(resource.RLIMIT_CPU)
        self._is_on_the_clock = on_the_clock
        self._timer = signal.ITIMER_REAL if on_the_clock else signal.ITIMER_PROF
        self.now: Final = time.monotonic if on_the_clock else time.process_time
        """The clock that it uses."""

    def set(self, seconds: float, now: float) -> None:
        """Start the timer: the process is killed after ``seconds``; its clock shows ``now``."""
        # Zero would disable the timer.
        signal.setitimer(self._timer, max(seconds, 1e-6))
        # A second limit, in case the program disables the timer. It is coarse, so that it need not
        # be moved for every request.
        used_seconds = time.process_time() if self._is_on_the_clock else now
        cpu_seconds = math.ceil(used_seconds + seconds) + 1
        if not cpu_seconds <= self._cpu_seconds <= cpu_seconds + _CPU_SLACK_SECONDS:
            self._cpu_seconds = _clamp_to_hard_limit(resource.RLIMIT_CPU, cpu_seconds)
            resource.setrlimit(resource.RLIMIT_CPU, (self._cpu_seconds, self._hard))

    def cancel(self) -> None:
        """Stop the timer."""
        signal.setitimer(self._timer, 0)


def _lower(limit: int, value: int) -> None:
    ceiling = _clamp_to_hard_limit(limit, value)
    with system_call(Call.SETRLIMIT):
        resource.setrlimit(limit, (ceiling, ceiling))


def _clamp_to_hard_limit(limit: int, value: int) -> int:
    """Return ``value``, or the hard limit that this process inherited if that is less."""
    _, hard = resource.getrlimit(limit)
    return value if hard == resource.RLIM_INFINITY else min(value, hard)
