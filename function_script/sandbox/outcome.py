"""How a run ended, and the error to show when a worker did not survive it."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

from function_script.diagnostics import Diagnostic, cut
from function_script.errors import FatalError, LimitError, SandboxError
from function_script.limits import MIB
from function_script.telemetry import RequestInfo

if TYPE_CHECKING:
    from collections.abc import Mapping

# What a program printed is kept up to here, and printing more ends it.
MAX_LOG_BYTES = 64 * 1024
# A worker that grew this close to its limit did not die of deep nesting.
_MEMORY_SUSPICION = 0.75
_MAX_DETAIL_BYTES = 300


class Cause(Enum):
    """Why there is no answer; the values appear in logs and metrics."""

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
"""The causes for which no program is to blame: the call fails as a whole, and is tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The evaluation finished; ``response`` is what the handler built, be it good or FATAL.

    ``cpu_seconds`` is what the run used.
    """

    response: bytes
    diagnostics: tuple[Diagnostic, ...] = ()
    info: RequestInfo = field(default_factory=RequestInfo)
    log: str = ""
    waited_seconds: float = 0.0
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """There is no response: ``error`` says why to the user, ``detail`` more to the operator."""

    error: FatalError
    cause: Cause
    log: str = ""
    detail: str = ""
    waited_seconds: float = 0.0
    cpu_seconds: float = 0.0


Reply: TypeAlias = Answered | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedLimits:
    """What a run was allowed; ``timeout_set_by`` and ``memory_set_by`` complete "set by …".

    ``counts_cpu``: the timeout is CPU time, and not time on the clock.
    """

    timeout_seconds: float
    memory_bytes: int
    counts_cpu: bool = True
    timeout_set_by: str = "--timeout"
    memory_set_by: str = "--memory-limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitStatus:
    """How a worker ended: its wait status (None: nobody knows) and largest resident size.

    ``cause`` is set when its pool ended it for a reason of its own.
    """

    status: int | None
    peak_bytes: int = 0
    cause: Cause | None = None


def cause_of(death: ExitStatus, terms: AppliedLimits) -> Cause:
    """Tell from a worker's end what it died of."""
    if death.cause is not None:
        return death.cause
    if death.status is None:
        return Cause.KILLED
    if not os.WIFSIGNALED(death.status):
        return Cause.CRASH
    name = _SIGNALS.get(os.WTERMSIG(death.status), "")
    if name in {"SIGSEGV", "SIGBUS"}:
        # Many small allocations up to the limit end like this, as a stack overflow does.
        is_full = death.peak_bytes >= _MEMORY_SUSPICION * terms.memory_bytes
        return Cause.MEMORY if is_full else Cause.CRASH
    return _CAUSES_BY_SIGNAL.get(name, Cause.CRASH)


# By name: not every system has every one of them.
_SIGNALS: Mapping[int, str] = {number.value: number.name for number in signal.Signals}
_CAUSES_BY_SIGNAL: Mapping[str, Cause] = {
    "SIGALRM": Cause.TIMEOUT,
    "SIGPROF": Cause.TIMEOUT,
    "SIGXCPU": Cause.TIMEOUT,
    "SIGABRT": Cause.MEMORY,
    "SIGKILL": Cause.KILLED,
    "SIGSYS": Cause.FORBIDDEN,
}


def explain(cause: Cause, terms: AppliedLimits, detail: str = "") -> FatalError:
    """The error for a run that ended by ``cause``; ``detail`` is safe to show to the user."""
    if cause is Cause.TIMEOUT:
        took = "it needed more CPU time" if terms.counts_cpu else "on the clock it took more time"
        text = f"{took} than its limit of {_seconds(terms.timeout_seconds)}"
        return _limit(text, f"set by {terms.timeout_set_by}")
    if cause is Cause.MEMORY:
        return _limit(
            f"it needed more memory than its limit of {_size(terms.memory_bytes)}",
            f"set by {terms.memory_set_by}",
        )
    if cause is Cause.OUTPUT:
        return _limit(f"it printed more than {_size(MAX_LOG_BYTES)}", "print less")
    text, hint = _SANDBOX_TEXTS.get(cause, _SANDBOX_TEXTS[Cause.BUG])
    if detail:
        text = f"{text}: {cut(detail, _MAX_DETAIL_BYTES)}"
    return SandboxError.of(f"cannot run the program: {text}", hint=hint)


def starved(cpu_seconds: float, seconds: float, *, is_at_deadline: bool) -> FatalError:
    """The error for a run of so many seconds that was ended before it had used its CPU time."""
    after = _seconds(seconds)
    when = f"at the call's deadline, after {after}" if is_at_deadline else f"after {after}"
    return _limit(f"it was not done {when}: it had {_seconds(cpu_seconds)} of CPU time", _BUSY_HINT)


def wait_timeout_error(seconds: float, expected_seconds: float) -> Failed:
    """No worker became free while the call's deadline still left the time that is expected."""
    until = "until the call's deadline"
    if expected_seconds:
        until += f" left less than the {_seconds(expected_seconds)} of CPU time that it needs"
    text = f"it waited {_seconds(seconds)} for a free worker, {until}"
    error = _limit(text, _BUSY_HINT)
    return Failed(error=error, cause=Cause.WAITED, waited_seconds=seconds)


def too_late(expected_seconds: float, left_seconds: float) -> Failed:
    """The call's deadline comes before a program can be done that needs so much CPU time."""
    text = (
        f"it needed {_seconds(expected_seconds)} of CPU time before, and the call's deadline "
        f"leaves {_seconds(left_seconds)}"
    )
    return Failed(error=_limit(text, "it is tried again"), cause=Cause.REFUSED)


def too_busy(wait_seconds: float, left_seconds: float) -> Failed:
    """Heavy programs are in line for longer than the call's deadline leaves."""
    text = (
        f"programs before it need the CPUs for {_seconds(wait_seconds)}, and the call's "
        f"deadline leaves {_seconds(left_seconds)}"
    )
    return Failed(error=_limit(text, _BUSY_HINT), cause=Cause.REFUSED)


def queue_full_error(waiting_of_this: int, waiting: int) -> Failed:
    """More requests wait already than the pool lets wait, in all or of this composite resource."""
    text = (
        f"all workers are busy and {waiting} requests are waiting, "
        f"{waiting_of_this} of them of this composite resource"
    )
    return Failed(error=_limit(text, _BUSY_HINT), cause=Cause.REFUSED)


def request_too_large_error(request_bytes: int, max_bytes: int) -> Failed:
    """The request does not fit."""
    text = f"the request has {_size(request_bytes)}, more than the limit of {_size(max_bytes)}"
    error = _limit(text, "set by --max-recv-message-size")
    return Failed(error=error, cause=Cause.REFUSED)


def _limit(text: str, hint: str) -> LimitError:
    return LimitError.of(f"cannot run the program: {text}", hint=hint)


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
    return f"{seconds:.2f}".rstrip("0").rstrip(".") + " s"


def _size(size: int) -> str:
    for factor, unit in ((MIB, "MiB"), (1024, "KiB")):
        if size >= factor:
            return f"{size / factor:.1f}".removesuffix(".0") + f" {unit}"
    return f"{size} bytes"
