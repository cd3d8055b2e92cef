"""The sandbox's parts, each by itself: deaths, reports, logs, frames."""

from __future__ import annotations

import signal
import time

import pytest
from support.sandbox_handlers import PROBLEM

from function_script.diagnostics import Diagnostic, Note
from function_script.limits import MIB
from function_script.sandbox import capacity, outcome, report, speech
from function_script.sandbox.costs import Costs
from function_script.sandbox.ipc import Receipt
from function_script.sandbox.outcome import AppliedLimits, Cause, ExitStatus
from function_script.sandbox.pace import RuntimeEstimate
from function_script.sandbox.report import WorkerReport
from function_script.sandbox.suspects import PenaltyBox
from function_script.source import Excerpt, Span
from function_script.telemetry import RequestInfo

TERMS = AppliedLimits(timeout_seconds=2.0, memory_bytes=256 * MIB)


def test_runs_gather_while_programs_are_short() -> None:
    """One that takes longer is remembered for a hundred runs or so."""
    pace = RuntimeEstimate()
    assert pace.gathering_seconds() == 0.0
    for _ in range(400):
        pace.learn(0.001)
    assert pace.gathering_seconds() > 0.0
    pace.learn(0.01)
    assert pace.gathering_seconds() == 0.0


def learn(costs: Costs, program: str | None, xr: str, seconds: float) -> None:
    """Have a run of a program and an XR note its cost."""
    costs.learn(lambda: program, lambda: (program, xr), seconds)


def expect(costs: Costs, program: str | None, xr: str) -> float:
    """What a run of theirs will need."""
    return costs.expect(lambda: program, lambda: (program, xr))


def test_costs_are_known_by_program_and_xr() -> None:
    """An XR that is not known is expected to need what its program needed for others."""
    costs = Costs()
    learn(costs, "heavy", "large", 1.5)
    assert expect(costs, "heavy", "large") == expect(costs, "heavy", "new") == 1.5
    learn(costs, "heavy", "small", 0.001)
    assert expect(costs, "heavy", "small") == 0.0
    assert expect(costs, "heavy", "new") == (1.5 + 0.001) / 2
    assert expect(costs, "other", "large") == 0.0


def test_a_program_that_alternates_is_heavy() -> None:
    """Cheap runs halve the estimate, no more; and one that goes on is known before its end."""
    costs = Costs()
    for _ in range(5):
        learn(costs, "sly", "xr", 1.5)
        learn(costs, "sly", "xr", 0.0)
        assert expect(costs, "sly", "xr") > 0.3
    costs.note(lambda: "begun", 0.06)
    assert expect(costs, "begun", "any") == 0.06


def test_a_program_that_is_cheap_again_is_forgotten() -> None:
    """And those that were always cheap, or are nobody's, are never remembered."""
    costs = Costs()
    costs.learn(pytest.fail, pytest.fail, 0.001)
    learn(costs, None, "xr", 1.5)
    learn(costs, "cold", "xr", 0.3)
    for _ in range(10):
        learn(costs, "cold", "xr", 0.001)
    assert costs.expect(pytest.fail, pytest.fail) == 0.0


def test_costs_are_forgotten_when_nothing_confirms_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a minute: what is refused for its cost would never run, and never be cheaper."""
    costs = Costs()
    learn(costs, "heavy", "xr", 1.5)
    now = time.monotonic()
    monkeypatch.setattr("time.monotonic", lambda: now + 59)
    assert expect(costs, "heavy", "xr") == 1.5
    monkeypatch.setattr("time.monotonic", lambda: now + 61)
    assert expect(costs, "heavy", "xr") == 0.0


DEATHS = [
    # signal, peak MiB, cause, why
    pytest.param(signal.SIGPROF, 0, Cause.TIMEOUT, id="the worker's own alarm"),
    pytest.param(signal.SIGALRM, 0, Cause.TIMEOUT, id="a plain worker's own alarm"),
    pytest.param(signal.SIGXCPU, 0, Cause.TIMEOUT, id="the kernel's CPU limit"),
    pytest.param(signal.SIGABRT, 0, Cause.MEMORY, id="Rust aborts when memory is out"),
    pytest.param(signal.SIGSEGV, 250, Cause.MEMORY, id="full when it failed to allocate"),
    pytest.param(signal.SIGSEGV, 100, Cause.CRASH, id="a stack overflow stays small"),
    pytest.param(signal.SIGBUS, 100, Cause.CRASH, id="same, other name"),
    pytest.param(signal.SIGSYS, 0, Cause.FORBIDDEN, id="seccomp"),
    pytest.param(signal.SIGKILL, 0, Cause.KILLED, id="the kernel's memory killer, or a person"),
    pytest.param(signal.SIGILL, 0, Cause.CRASH, id="anything else"),
]


@pytest.mark.parametrize(("number", "peak", "expected"), DEATHS)
def test_deaths_have_causes(number: int, peak: int, expected: Cause) -> None:
    """Signal and size tell what a worker died of."""
    assert outcome.cause_of(ExitStatus(status=number, peak_bytes=peak * MIB), TERMS) is expected


def test_an_exit_is_a_crash_and_an_unknown_end_a_kill() -> None:
    """Workers do not exit in the middle of a request; without a status the zygote died too."""
    assert outcome.cause_of(ExitStatus(status=256), TERMS) is Cause.CRASH
    assert outcome.cause_of(ExitStatus(status=None), TERMS) is Cause.KILLED


@pytest.mark.parametrize("cause", list(Cause))
def test_every_cause_is_explained(cause: Cause) -> None:
    """Each has a message in the common form, with a hint."""
    (problem,) = outcome.explain(cause, TERMS).diagnostics
    assert problem.message.startswith("cannot run the program: ")
    assert problem.hint


def test_long_details_are_cut() -> None:
    """A panic's text may be as long as the program."""
    assert len(str(outcome.explain(Cause.CRASH, TERMS, "x" * 10_000))) < 500


MENTIONING = Diagnostic(
    message='resource name "a" is used twice; first at script:2',
    notes=("plain", Note("called from main at", Span(name="script", line=3, column=1))),
    field="input.script",
    mention=Span(name="script", line=2),
)


def test_reports_survive_the_way() -> None:
    """What a worker reports is what its pool reads."""
    told = WorkerReport(
        diagnostics=(PROBLEM, type(PROBLEM)(message="bare"), MENTIONING),
        info=RequestInfo(name="\N{SNOWMAN}", documents=0),
        log="a\nb",
        cause=Cause.CRASH,
        detail="d",
        trace="t",
    )
    assert report.from_json(report.to_json(told)) == told


def test_reports_are_always_text() -> None:
    """Half of a character, which no encoding has, becomes a question mark."""
    told = report.from_json(report.to_json(WorkerReport(info=RequestInfo(name="a\ud800b"))))
    assert told.info == RequestInfo(name="a?b")


def test_long_texts_of_a_worker_are_cut() -> None:
    """A worker has run a stranger's program; what it sends goes to the log."""
    info = RequestInfo(name="x" * 1_000, limit="y" * 1_000)
    told = report.from_json(report.to_json(WorkerReport(info=info)))
    assert told.info == RequestInfo(name="x" * 256, limit="y" * 256)


def test_what_is_empty_is_not_reported() -> None:
    """Most reports have a RequestInfo and nothing else; members that are absent read as empty."""
    info = RequestInfo(name="b", documents=0)
    assert report.to_json(WorkerReport(info=info)) == b'{"info":{"name":"b","documents":0}}'
    alone = {"diagnostics": (PROBLEM,), "log": "l", "cause": Cause.BUG, "detail": "d", "trace": "t"}
    for name, value in alone.items():
        told = WorkerReport(**{name: value})  # type: ignore[arg-type] # each has its own type
        assert report.from_json(report.to_json(told)) == told


FULL = WorkerReport(
    diagnostics=(PROBLEM,),
    info=RequestInfo(name="b", documents=7),
    log="l",
    cause=Cause.BUG,
    detail="d",
    trace="t",
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b'"name":"b"', b'"name":1', id="a text is a number"),
        pytest.param(b'"name":"b"', b'"evil":"b"', id="an unknown field"),
        pytest.param(b'"documents":7', b'"documents":"7"', id="a number is a text"),
        pytest.param(b'"documents":7', b'"documents":true', id="a number is a boolean"),
        pytest.param(b'"documents":7', b'"documents":-1', id="a negative number"),
        pytest.param(b'"documents":7', b'"documents":1000000000000', id="a huge number"),
        pytest.param(b'{"name":"b","documents":7}', b'[["name","b"]]', id="info is a list"),
        pytest.param(b'"info"', b'"inf"', id="no info"),
        pytest.param(b'"log":"l"', b'"log":1', id="the log is a number"),
        pytest.param(b'"cause":"bug"', b'"cause":"none"', id="an unknown cause"),
        pytest.param(b'"cause":"bug"', b'"cause":["bug"]', id="a list of causes"),
        pytest.param(b'"detail":"d"', b'"detail":null', id="no detail"),
        pytest.param(b'"trace":"t"', b'"trace":{}', id="an odd trace"),
        pytest.param(b'"diagnostics":[', b'"diagnostics":[{},', id="an empty problem"),
        pytest.param(b'"diagnostics":[', b'"diagnostics":1,"x":[', id="problems are a number"),
        pytest.param(b'"main.star",2', b'"main.star"', id="a span of three"),
    ],
)
def test_a_report_that_was_touched_is_refused(old: bytes, new: bytes) -> None:
    """No member of another type is believed, wherever it stands."""
    data = report.to_json(FULL)
    assert data.count(old) == 1
    with pytest.raises(ValueError, match="unreadable report"):
        report.from_json(data.replace(old, new))


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"null", b"1", b'"a"', b"[1]", b"{}", b"\xff", b"[" * 100_000),
        *(b'{"info":{"name":1}}', b'{"info":["name"]}', b'{"info":null}', b'{"log":"l"}'),
    ],
    ids=lambda data: str(data[:30]),
)
def test_reports_are_not_trusted(data: bytes) -> None:
    """Anything a sound worker does not send is a ValueError, never another exception."""
    with pytest.raises(ValueError, match="unreadable report"):
        report.from_json(data)


def test_a_report_of_a_mebibyte_is_the_longest() -> None:
    """Its length is looked at before it is copied or parsed."""
    receipt = Receipt(is_answer=True, is_last=False, payload_length=1 << 30, report_length=1 << 20)
    assert Receipt.unpack(receipt.pack()) == receipt
    with pytest.raises(ValueError, match="a report of 1048577 bytes"):
        Receipt.unpack(receipt._replace(report_length=(1 << 20) + 1).pack())


def test_whatever_is_long_in_a_report_is_cut() -> None:
    """Each part by itself; what is sent is never longer than what is taken."""
    long = "\x01" * 30_000
    excerpt = Excerpt(first_line=1, lines=(long,))
    problem = Diagnostic(message=long, hint=long, notes=(long,), excerpt=excerpt)
    told = WorkerReport(
        diagnostics=(problem,) * 60, info=RequestInfo(name=long), log=long, trace=long
    )
    text = report.to_bounded_json(told)
    assert len(text) <= 1 << 20
    assert report.from_json(text).diagnostics[0].message.endswith("…")


def test_receipts_of_another_size_are_refused() -> None:
    """A frame that is no receipt is a ValueError."""
    with pytest.raises(ValueError, match="a frame of 3 bytes"):
        Receipt.unpack(b"abc")


PANIC = b"\nthread '<unnamed>' panicked at src/eval.rs:1:2:\nout of memory\nnote: run with `X=1`\n"
SPEECHES = [
    pytest.param(b"plain\n", "plain\n", id="text stays"),
    pytest.param(b"\x1b[2J\xff\x00\r", "\N{REPLACEMENT CHARACTER}[2J" + 3 * "�", id="controls"),
    pytest.param(b"before\n" + PANIC + b"after\n", "before\nafter\n", id="panic notices"),
    pytest.param("\u2028é\tü\n".encode(), "�é\tü\n", id="separators go, tabs and letters stay"),
]


@pytest.mark.parametrize(("printed", "expected"), SPEECHES)
def test_prints_become_safe_text(printed: bytes, expected: str) -> None:
    """Terminal codes and notices of native code do not reach the log."""
    assert speech.sanitize_stderr(printed) == expected


def test_the_machine_is_never_too_small() -> None:
    """Whatever the container allows, some work can be done, and not too much at once."""
    assert capacity.cpu_count() >= 2
    assert capacity.heavy_runs() >= 1
    assert capacity.max_slow_slots(memory_bytes=1 << 50, workers=2) == 4
    assert capacity.max_slow_slots(memory_bytes=1, workers=2) == 64


def test_suspects_are_forgiven_and_forgotten() -> None:
    """A key that lost a worker is one until a run of it ends well; only the latest are kept."""
    suspects = PenaltyBox()
    suspects.add(lambda: None)
    for number in range(1_200):
        suspects.add(lambda number=number: number)
    suspects.forgive(lambda: 1_000)
    found = [number for number in range(1_200) if suspects.has(lambda number=number: number)]
    assert found == [*range(200, 1_000), *range(1_001, 1_200)]
    assert not suspects.has(lambda: None)


def test_suspicion_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a minute: who never gets the CPU can never end well."""
    suspects = PenaltyBox()
    suspects.add(lambda: "somebody")
    now = time.monotonic()
    monkeypatch.setattr("time.monotonic", lambda: now + 59)
    assert suspects.has(lambda: "somebody")
    monkeypatch.setattr("time.monotonic", lambda: now + 61)
    assert not suspects.has(lambda: "somebody")


def test_nobody_is_asked_for_a_key_while_nobody_is_suspect() -> None:
    """Finding a key out costs more than most requests can spare."""
    suspects = PenaltyBox()
    suspects.forgive(pytest.fail)
    assert not suspects.has(pytest.fail)
