"""The outcomes: the causes of an exit, their errors, and what workers print."""

import signal

import pytest

from function_script.request.limits import MIB, EffectiveLimits, Limits
from function_script.sandbox import outcome
from function_script.sandbox.outcome import Cause, ExitStatus

LIMITS = EffectiveLimits(Limits(timeout_seconds=0.001, memory_bytes=256 * MIB))
EXITS = [
    # signal, peak MiB, cause; others are met by test_pool.py
    pytest.param(signal.SIGPROF, 0, Cause.TIMEOUT, id="the worker's own timer"),
    pytest.param(signal.SIGALRM, 0, Cause.TIMEOUT, id="a plain worker's own timer"),
    pytest.param(signal.SIGXCPU, 0, Cause.TIMEOUT, id="the kernel's CPU limit"),
    pytest.param(signal.SIGSEGV, 250, Cause.MEMORY, id="full when it failed to allocate"),
    pytest.param(signal.SIGSEGV, 100, Cause.CRASH, id="a stack overflow stays small"),
    pytest.param(signal.SIGBUS, 100, Cause.CRASH, id="same, other name"),
    pytest.param(signal.SIGILL, 0, Cause.CRASH, id="anything else"),
]


@pytest.mark.parametrize(("number", "peak", "expected"), EXITS)
def test_cause_follows_from_signal_and_size(number: int, peak: int, expected: Cause) -> None:
    """A full worker that gets SIGSEGV has exceeded its memory."""
    status = ExitStatus(status=number, peak_bytes=peak * MIB)
    assert outcome.find_cause(status, 256 * MIB) is expected


def test_exit_is_a_crash_and_an_unknown_end_a_kill() -> None:
    """Workers do not exit during a request; without a status the zygote was killed, too."""
    assert outcome.find_cause(ExitStatus(status=256), MIB) is Cause.CRASH
    assert outcome.find_cause(ExitStatus(status=None), MIB) is Cause.KILLED


@pytest.mark.parametrize("cause", list(Cause))
def test_cause_is_explained(cause: Cause) -> None:
    (problem,) = outcome.explain(cause, LIMITS).diagnostics
    assert problem.message.startswith("cannot run the program: ")
    assert problem.hint
    assert cause is not Cause.TIMEOUT or "its limit of 0.001 s" in problem.message


def test_long_details_are_cut() -> None:
    """A panic's text may be as long as the program."""
    assert len(str(outcome.explain(Cause.CRASH, LIMITS, "x" * 10_000))) < 500


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (256, "wait status 256 (exit code 1)"),
        (0, "wait status 0 (exit code 0)"),
        (None, "unknown wait status: the process that forked it is gone"),
    ],
)
def test_exit_status_is_described(status: int | None, text: str) -> None:
    assert ExitStatus(status=status).describe() == text


PANIC = b"\nthread '<unnamed>' panicked at src/eval.rs:1:2:\nout of memory\nnote: run with `X=1`\n"
PRINTS = [
    pytest.param(b"plain\n", "plain\n", id="text stays"),
    pytest.param(b"\x1b[2J\xff\x00\r", "\N{REPLACEMENT CHARACTER}[2J" + 3 * "�", id="controls"),
    pytest.param(b"before\n" + PANIC + b"after\n", "before\nafter\n", id="panic notices"),
    pytest.param("\u2028é\tü\n".encode(), "�é\tü\n", id="separators go, tabs and letters stay"),
]


@pytest.mark.parametrize(("printed", "expected"), PRINTS)
def test_stderr_is_sanitized(printed: bytes, expected: str) -> None:
    """Terminal codes and notices of Rust panics do not reach the log."""
    assert outcome.sanitize_stderr(printed) == expected
