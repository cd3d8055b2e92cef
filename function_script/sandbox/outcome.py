"""The outcomes of a request, the exit of a worker, and the errors that explain them."""

import os
import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from function_script.request.limits import MIB, EffectiveLimits
from function_script.step.telemetry import Answered
from function_script.texts.diagnostics import CONTROL, Code, Diagnostic, cut
from function_script.texts.errors import FatalError, LimitError, LimitName, SandboxError

# A program that prints more is ended.
MAX_LOG_BYTES = 64 * 1024
# A worker that grew this close to its limit did not crash from deep nesting.
_MEMORY_SUSPICION = 0.75
_MAX_DETAIL_BYTES = 300
# The notice that Rust prints of a panic.
_PANIC = re.compile(
    r"^\n?thread '[^\n]*panicked at [^\n]*\n[^\n]*\n?(note: [^\n]*\n?)?", re.MULTILINE
)


class Cause(Enum):
    """The reason why there is no response; the values appear in logs and metrics."""

    TIMEOUT = "timeout"
    MEMORY = "memory"
    OUTPUT = "output"
    CRASH = "crash"
    FORBIDDEN = "forbidden"
    KILLED = "killed"
    STARVED = "starved"
    WAITED = "waited"
    REFUSED = "refused"
    BUG = "bug"


RETRIED: Final = frozenset({Cause.STARVED, Cause.WAITED, Cause.REFUSED})
"""The causes that are not the program's fault: the call fails as a whole and is tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A request without a response: ``error`` is for the user, ``detail`` for the operator."""

    error: FatalError
    cause: Cause
    log: str = ""
    detail: str = ""
    waited_seconds: float = 0.0
    cpu_seconds: float = 0.0

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The problems of the error."""
        return self.error.diagnostics


Reply: TypeAlias = Answered | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitStatus:
    """The wait status of a worker, None when it is unknown, and its largest resident size.

    ``cause`` is set when its pool ended it for a reason of its own.
    """

    status: int | None
    peak_bytes: int = 0
    cause: Cause | None = None

    def describe(self) -> str:
        """Return the status with its meaning, for the operator: ``wait status 11 (SIGSEGV)``."""
        if self.status is None:
            return "unknown wait status: the process that forked it is gone"
        if os.WIFSIGNALED(self.status):
            number = os.WTERMSIG(self.status)
            meaning = _SIGNAL_NAMES.get(number, f"signal {number}")
        else:
            meaning = f"exit code {os.WEXITSTATUS(self.status)}"
        return f"wait status {self.status} ({meaning})"


def find_cause(exit_status: ExitStatus, memory_bytes: int) -> Cause:
    """Return the cause of the exit of a worker that had so much memory."""
    # The pool killed it, and the signal alone would look like one from outside.
    if exit_status.cause is not None:
        return exit_status.cause
    if exit_status.status is None:
        return Cause.KILLED
    if not os.WIFSIGNALED(exit_status.status):
        return Cause.CRASH
    name = _SIGNAL_NAMES.get(os.WTERMSIG(exit_status.status), "")
    if name in {"SIGSEGV", "SIGBUS"}:
        # Many small allocations up to the limit end like this, and so does a stack overflow.
        is_full = exit_status.peak_bytes >= _MEMORY_SUSPICION * memory_bytes
        return Cause.MEMORY if is_full else Cause.CRASH
    return _CAUSES_BY_SIGNAL.get(name, Cause.CRASH)


# By name: not every system has all of them.
_SIGNAL_NAMES: Mapping[int, str] = {number.value: number.name for number in signal.Signals}
_CAUSES_BY_SIGNAL: Mapping[str, Cause] = {
    "SIGALRM": Cause.TIMEOUT,
    "SIGPROF": Cause.TIMEOUT,
    "SIGXCPU": Cause.TIMEOUT,
    # Rust aborts without memory, and so does a worker that cannot even report its failure.
    "SIGABRT": Cause.MEMORY,
    "SIGKILL": Cause.KILLED,
    "SIGSYS": Cause.FORBIDDEN,
}


def sanitize_stderr(printed: bytes) -> str:
    """Return printed text without terminal codes and without notices of Rust panics.

    The notices hold paths of a build machine.
    """
    text = _PANIC.sub("", printed.decode("utf-8", "replace"))
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def panic_cause(text: str) -> Cause | None:
    """Return the cause of a Rust panic; None for one that is no limit."""
    return next((cause for sign, cause in _PANICS if sign in text), None)


# Starlark allocates without checking and prints without checking, and its binding assumes that
# Python always has memory for a string.
_PANICS: Final = (
    ("PyObject pointer is null", Cause.MEMORY),
    ("out of memory", Cause.MEMORY),
    ("AlignedSize", Cause.MEMORY),
    ("failed printing to stderr", Cause.OUTPUT),
)


def explain(
    cause: Cause, limits: EffectiveLimits, detail: str = "", *, counts_cpu: bool = True
) -> FatalError:
    """Build the error of a run that ended by ``cause``; ``detail`` is safe to show to the user.

    ``counts_cpu``: the timeout is CPU time, not time on the clock.
    """
    if cause is Cause.TIMEOUT:
        took = "it needed more CPU time" if counts_cpu else "on the clock it took more time"
        text = f"{took} than its limit of {_seconds(limits.in_force.timeout_seconds)}"
        return limits.attribute(_limit(text, limit="time"))
    if cause is Cause.MEMORY:
        text = f"it needed more memory than its limit of {_size(limits.in_force.memory_bytes)}"
        return limits.attribute(_limit(text, limit="memory"))
    if cause is Cause.OUTPUT:
        return _limit(f"it printed more than {_size(MAX_LOG_BYTES)}", "print less")
    hint: str | None
    text, hint = _SANDBOX_TEXTS.get(cause, _SANDBOX_TEXTS[Cause.BUG])
    if detail:
        text = f"{text}: {cut(detail, _MAX_DETAIL_BYTES)}"
        # Of a crash it is the cause, and nobody has to guess.
        hint = None if cause is Cause.CRASH else hint
    return SandboxError.of(f"cannot run the program: {text}", hint=hint)


def starved_error(cpu_seconds: float, seconds: float, *, is_at_deadline: bool) -> FatalError:
    """Build the error of a run that was ended after ``seconds`` before it had its CPU time."""
    after = _seconds(seconds)
    when = f"at the call's deadline, after {after}" if is_at_deadline else f"after {after}"
    return _limit(f"it was not done {when}: it had {_seconds(cpu_seconds)} of CPU time", _BUSY_HINT)


def wait_timeout_error(seconds: float) -> Failed:
    """Build the failure of a request that waited for a worker as long as a request may."""
    text = f"it waited {_seconds(seconds)} for a free worker, as long as its deadline allows"
    error = _limit(text, _BUSY_HINT)
    return Failed(error=error, cause=Cause.WAITED, waited_seconds=seconds)


def too_late_error(
    expected_seconds: float, needed_seconds: float, remaining_seconds: float
) -> Failed:
    """Build the failure of a request that needs more time on the clock than its deadline leaves."""
    text = (
        f"it needed {_seconds(expected_seconds)} of CPU time before, which programs get in "
        f"{_seconds(needed_seconds)} here, and the call's deadline leaves "
        f"{_seconds(max(remaining_seconds, 0.0))}"
    )
    return Failed(error=_limit(text, _BUSY_HINT), cause=Cause.REFUSED)


def too_busy_error(wait_seconds: float, remaining_seconds: float) -> Failed:
    """Build the failure of a request behind more heavy programs than its deadline allows."""
    text = (
        f"programs before it need the CPUs for {_seconds(wait_seconds)}, and it may wait for half "
        f"of the {_seconds(remaining_seconds)} until the call's deadline"
    )
    return Failed(error=_limit(text, _BUSY_HINT), cause=Cause.REFUSED)


def queue_full_error(waiting_of_this: int, waiting: int) -> Failed:
    """Build the failure of a request that finds the queue, or its key's share of it, full."""
    text = (
        f"all workers are busy and {waiting} requests are waiting, "
        f"{waiting_of_this} of them of this composite resource"
    )
    return Failed(error=_limit(text, _BUSY_HINT), cause=Cause.REFUSED)


def request_too_large_error(request_bytes: int, max_bytes: int) -> Failed:
    """Build the failure of a request of a tool that is too large; a server's port refuses it."""
    text = f"the request has {_size(request_bytes)}, more than the limit of {_size(max_bytes)}"
    return Failed(error=_limit(text), cause=Cause.MEMORY)


def response_too_large_error(response_bytes: int, max_bytes: int) -> Failed:
    """Build the failure of a response that the memory of a worker and its pool cannot hold."""
    text = f"the response has {_size(response_bytes)}, and a worker can send {_size(max_bytes)}"
    return Failed(error=_limit(text, limit="output"), cause=Cause.OUTPUT)


def _limit(text: str, hint: str | None = None, limit: LimitName | None = None) -> LimitError:
    code = Code("limit", limit) if limit else None
    problem = Diagnostic(message=f"cannot run the program: {text}", hint=hint, code=code)
    return LimitError(problem, limit=limit)


_BUSY_HINT = "it is tried again; run more replicas or --workers when this stays"

_SANDBOX_TEXTS = {
    Cause.CRASH: ("its worker crashed", "is something nested too deeply?"),
    Cause.FORBIDDEN: (
        "its worker made a system call that the sandbox forbids",
        "this is a bug in function-script or an attack; the function's log has more",
    ),
    Cause.KILLED: (
        "its worker was killed from outside",
        "it is tried again; is the node or the pod short of memory?",
    ),
    Cause.BUG: (
        "internal error",
        "this is a bug in function-script; the function's log has more",
    ),
}


def _seconds(seconds: float) -> str:
    return f"{round(seconds, 2) or round(seconds, 4):g} s"


def _size(size: int) -> str:
    for factor, unit in ((MIB, "MiB"), (1024, "KiB")):
        if size >= factor:
            return f"{size / factor:.1f}".removesuffix(".0") + f" {unit}"
    return f"{size} bytes"
