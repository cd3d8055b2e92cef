"""Handlers that misbehave in every way that a program could, for the sandbox's tests.

A request is a command and its argument: ``b"narrow 0.2 64 spin"``. Workers import this module.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import importlib
import os
import resource
import signal
import socket
import stat
import struct
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from function_script.request.limits import MIB
from function_script.sandbox.report import to_json
from function_script.step.telemetry import Answered, RequestInfo
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.source import Excerpt, Span

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from function_script.request.limits import Limits
    from function_script.sandbox.shared_memory import SharedMemory

PROBLEM = Diagnostic(
    message="cannot run: for the test",
    span=Span(name="main.star", line=2, column=3),
    excerpt=Excerpt(first_line=1, lines=("a", "b")),
    hint="none",
    notes=("a note",),
)
PROBLEMS = tuple(replace(PROBLEM, message=f"{number} " + "x" * 5_000) for number in range(1_000))
SEEN: list[str] = []


def handle(
    data: bytes, limits: Limits, on_limits: Callable[[Limits], None], seed: bytes
) -> Answered:
    """Execute the command of the request."""
    command, _, argument = data.partition(b" ")
    if command == b"narrow":
        timeout, memory, rest = argument.split(b" ", 2)
        narrowed = replace(limits, timeout_seconds=float(timeout), memory_bytes=int(memory) * MIB)
        on_limits(narrowed)
        return handle(rest, narrowed, on_limits, seed)
    return Answered(
        response=COMMANDS[command.decode()](argument),
        diagnostics={b"problem": (PROBLEM,), b"problems": PROBLEMS}.get(command, ()),
        info=RequestInfo(step=command.decode()),
    )


def _echo(argument: bytes) -> bytes:
    return argument


def _say(argument: bytes) -> bytes:
    os.write(2, argument)
    return b"said"


def _print(argument: bytes) -> bytes:
    os.write(1, argument)
    return b"printed"


def _pid(_: bytes) -> bytes:
    return str(os.getpid()).encode()


def _spin(_: bytes) -> NoReturn:
    while True:
        pass


def _spin_aside(_: bytes) -> bytes:
    """Use the CPU in another thread, while this one waits."""
    thread = threading.Thread(target=_spin, args=(b"",), daemon=True)
    thread.start()
    thread.join()
    return b"joined"


def _big_integer(_: bytes) -> bytes:
    # One native call of a minute: no Python code could notice a deadline.
    return str(len(str(7 ** (2**25)))).encode()


def _allocate(argument: bytes) -> bytes:
    # Written to: reserved memory counts in an address space only.
    return str(len(b"x" * (int(argument) * MIB))).encode()


def _swell(argument: bytes) -> bytes:
    return bytes(int(argument) * MIB)


def _hoard(_: bytes) -> NoReturn:
    blocks = []
    while True:
        blocks.append(bytearray(4096))


def _recurse(argument: bytes) -> bytes:
    return _recurse(argument)


def _raise(argument: bytes) -> NoReturn:
    raise KeyError(argument.decode())


def _leave(_: bytes) -> NoReturn:
    raise SystemExit(0)


def _signal(argument: bytes) -> bytes:
    signal.pthread_kill(threading.get_ident(), int(argument))
    return b"survived"


def _segfault(_: bytes) -> bytes:
    ctypes.string_at(0)
    return b"survived"


def _say_and_crash(argument: bytes) -> bytes:
    os.write(2, argument)
    return _segfault(b"")


def _shout(_: bytes) -> NoReturn:
    while True:
        os.write(2, b"x" * 1000)


def _panic(argument: bytes) -> NoReturn:
    os.write(2, b"\nthread '<unnamed>' panicked at src/secret/path.rs:1:2:\nsome text\n")
    raise PanicException(argument.decode())


class PanicException(BaseException):
    """Stands in for a panic of native code."""


def _deafen(_: bytes) -> NoReturn:
    # Without its own timer, only the pool can end this worker.
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.setitimer(signal.ITIMER_PROF, 0)
    _spin(b"")


def _work(argument: bytes) -> bytes:
    end = time.process_time() + float(argument.split()[0])
    while time.process_time() < end:
        pass
    return b"worked"


def _stop(_: bytes) -> bytes:
    # To this thread: otherwise it would continue for a moment.
    signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
    return b"continued"


def _connection() -> int:
    """Return the descriptor of the connection to the pool."""
    for descriptor in range(3, 1_024):
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                return descriptor
    raise AssertionError("there is no socket")


def _forge(argument: bytes) -> bytes:
    """Announce more bytes than a pool accepts."""
    header = b"\0" + struct.pack("<QQQ", int(argument), int(argument), 0)
    os.write(_connection(), header)
    return b"real"


def _forge_report(argument: bytes) -> bytes:
    """Announce a report of so many bytes."""
    os.write(_connection(), b"\0" + struct.pack("<QQQ", 0, int(argument), 0))
    return b"real"


def _babble(_: bytes) -> bytes:
    os.write(_connection(), b"no frame at all")
    return b"real"


def _shared_memory() -> SharedMemory:
    return next(each for each in gc.get_objects() if type(each).__name__ == "SharedMemoryChannel")


def _begin_next(argument: bytes) -> bytes:
    """Begin the next request of the batch, and stop before its limits are published.

    A worker may be stopped at any moment, so also at this one.
    """
    signal.setitimer(signal.ITIMER_PROF, 0)
    _shared_memory().begin(1)
    _work(argument)
    return _stop(b"")


def _forge_replies(argument: bytes) -> bytes:
    """Store and announce so many replies, each without a fault, as foreign code could."""
    memory = _shared_memory()
    text, report = b"forged", to_json(Answered(response=b""))
    for index in range(4):
        memory.write(text, report, index=index)
    header = b"\0" + struct.pack("<QQQ", len(text), len(report), 0)
    os.write(_connection(), header * int(argument))
    _spin(b"")


def _repeat(argument: bytes) -> bytes:
    """Reply a second time when a file is gone, although no request has come."""

    def reply_again() -> None:
        while Path(argument.decode()).exists():
            time.sleep(0.01)
        report = to_json(Answered(response=b""))
        _shared_memory().write(argument, report)
        os.write(_connection(), b"\0" + struct.pack("<QQQ", len(argument), len(report), 0))

    # One as large as this thread's would be growth for which the worker is replaced.
    threading.stack_size(MIB)
    threading.Thread(target=reply_again).start()
    return b"real"


def _import(argument: bytes) -> bytes:
    return str(len(importlib.import_module(argument.decode()).TEXT)).encode()


def _remember(argument: bytes) -> bytes:
    SEEN.append(argument.decode())
    return " ".join(SEEN).encode()


def _environment(_: bytes) -> bytes:
    return " ".join(sorted(os.environ)).encode()


def _files(_: bytes) -> bytes:
    files = sorted(Path("/proc/self/fd").iterdir(), key=lambda file: int(file.name))[:-1]
    return " ".join(str(file.readlink()).split(":")[0] for file in files).encode()


def _modules(_: bytes) -> bytes:
    return " ".join(sorted(sys.modules)).encode()


def _limit(argument: bytes) -> bytes:
    return str(resource.getrlimit(getattr(resource, argument.decode()))[0]).encode()


def _fill(argument: bytes) -> bytes:
    """Return the page faults of allocating and freeing so many blocks of 1 MiB ten times."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        _ = [b"x" * MIB for _ in range(int(argument))]
    return str(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before).encode()


def _policy(_: bytes) -> bytes:
    """Return the scheduling policy of this process, see sched(7)."""
    return Path("/proc/self/stat").read_text().rpartition(")")[2].split()[38].encode()


def _attempt(argument: bytes) -> bytes:
    try:
        ATTEMPTS[argument.decode()]()
    except (PermissionError, RuntimeError) as error:
        return type(error).__name__.encode()
    return b"allowed"


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def _lease_a_file() -> None:
    """Block processes that open this file, for 45 seconds by default."""
    with Path(__file__).open() as file:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def _take_asynchronous_io() -> None:
    """Allocate slots for asynchronous I/O, of which the whole machine has 65,536."""
    libc = ctypes.CDLL(None, use_errno=True)
    context = ctypes.c_ulong(0)
    number = {"x86_64": 206, "aarch64": 0}[os.uname().machine]
    if libc.syscall(number, 4_096, ctypes.byref(context)) != 0:
        raise OSError(ctypes.get_errno(), "io_setup")


ATTEMPTS: dict[str, Callable[[], object]] = {
    "socket": socket.socket,
    "fork": os.fork,
    "execute": lambda: os.execv(sys.executable, [sys.executable, "--version"]),  # noqa: S606 - must fail
    "thread": lambda: threading.Thread(target=print).start(),
    "write a file": lambda: Path("written-by-a-worker").write_text(""),
    "append to a file": lambda: Path(__file__).open("a").close(),
    "remove a file": lambda: Path("written-by-a-worker").unlink(),
    "make a directory": lambda: Path("made-by-a-worker").mkdir(),
    "signal the zygote": lambda: os.kill(os.getppid(), 0),
    "signal the group": lambda: os.kill(0, 0),
    "limit the zygote": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (9, 9)),
    "pin the zygote": lambda: os.sched_setaffinity(os.getppid(), {0}),
    "slow the zygote down": lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19),
    "set the zygote aside": lambda: os.sched_setscheduler(
        os.getppid(), os.SCHED_IDLE, os.sched_param(0)
    ),
    "give a socket's signals away": lambda: fcntl.fcntl(3, fcntl.F_SETOWN, os.getppid()),
    "give them away by another call": lambda: fcntl.fcntl(
        3, 15, struct.pack("ii", 1, os.getppid())
    ),
    "choose a socket's signal": lambda: fcntl.fcntl(3, fcntl.F_SETSIG, signal.SIGKILL),
    "ask for a socket's signals": lambda: fcntl.fcntl(3, fcntl.F_SETFL, os.O_ASYNC),
    "give them away by ioctl": lambda: fcntl.ioctl(3, 0x8901, struct.pack("i", os.getppid())),
    "ask for them by ioctl": lambda: fcntl.ioctl(3, 0x5452, struct.pack("i", 1)),
    "lease a file": _lease_a_file,
    "take asynchronous io": _take_asynchronous_io,
    "survive the zygote": lambda: _prctl(1, 0),
    "be inspected": lambda: _prctl(4, 1),
    "set the clock": lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()),
    "read a file": lambda: Path(__file__).read_bytes(),
    "signal itself": lambda: os.kill(os.getpid(), 0),
    "know its limit": lambda: resource.prlimit(0, resource.RLIMIT_CPU),
    "wait for a socket": lambda: fcntl.fcntl(3, fcntl.F_SETFL, fcntl.fcntl(3, fcntl.F_GETFL)),
}

ALLOWED = {"read a file", "signal itself", "know its limit", "wait for a socket"}

COMMANDS: dict[str, Callable[[bytes], bytes]] = {
    "allocate": _allocate,
    "attempt": _attempt,
    "babble": _babble,
    "begin-next": _begin_next,
    "big-integer": _big_integer,
    "deafen": _deafen,
    "echo": _echo,
    "environment": _environment,
    "files": _files,
    "fill": _fill,
    "forge": _forge,
    "forge-replies": _forge_replies,
    "forge-report": _forge_report,
    "hoard": _hoard,
    "import": _import,
    "leave": _leave,
    "limit": _limit,
    "modules": _modules,
    "panic": _panic,
    "pid": _pid,
    "policy": _policy,
    "print": _print,
    "problem": _echo,
    "problems": _echo,
    "raise": _raise,
    "recurse": _recurse,
    "remember": _remember,
    "repeat": _repeat,
    "say": _say,
    "say-and-crash": _say_and_crash,
    "segfault": _segfault,
    "shout": _shout,
    "signal": _signal,
    "spin": _spin,
    "spin-aside": _spin_aside,
    "stop": _stop,
    "swell": _swell,
    "work": _work,
}
