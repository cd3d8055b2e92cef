"""The report of a worker: written as JSON, parsed as untrusted input."""

from dataclasses import replace

import pytest
from support.sandbox_handlers import PROBLEM

from function_script.request.program import Blocked
from function_script.sandbox import report
from function_script.sandbox.outcome import Cause, Failed
from function_script.step.telemetry import Answered, RequestInfo
from function_script.texts.diagnostics import Code, Diagnostic, Note
from function_script.texts.errors import FatalError, LimitError, SandboxError
from function_script.texts.source import Excerpt, Span

WITH_NOTES = Diagnostic(
    message='resource name "a" is used twice',
    notes=(
        "plain",
        Note("called from main at", Span(name="script", line=3, column=1)),
        Note("first at", Span(name="script", line=2), is_cause=True),
    ),
    field="input.script",
    code=Code("duplicate-key", "a"),
)


EMPTY = Answered(response=b"")


def read_info(info: RequestInfo) -> RequestInfo:
    """Return what a pool reads of a report with these facts."""
    return report.from_json(report.to_json(replace(EMPTY, info=info))).info


def test_report_is_read_as_it_was_written() -> None:
    original = Answered(
        response=b"r",
        diagnostics=(PROBLEM, type(PROBLEM)(message="bare"), WITH_NOTES),
        blocked=(Blocked("b", "for a, c", ("a", "c")), Blocked("d", "because x is undefined")),
        info=RequestInfo(name="\N{SNOWMAN}", documents=0),
        log="a\nb",
        waited_seconds=1.0,
        cpu_seconds=2.0,
    )
    assert report.from_json(report.to_json(original), b"r", 1.0, 2.0) == original


@pytest.mark.parametrize("error", [LimitError(PROBLEM, limit="memory"), SandboxError(PROBLEM)])
def test_failure_is_read_as_it_was_written(error: FatalError) -> None:
    original = Failed(error=error, cause=Cause.CRASH, log="l", detail="d")
    reply = report.from_json(report.to_json(original), b"", 1.0, 2.0)
    assert vars(reply.error) == vars(error)
    assert isinstance(reply.error, type(error))
    assert replace(reply, error=error) == replace(original, waited_seconds=1.0, cpu_seconds=2.0)


def test_lone_surrogates_are_replaced() -> None:
    """JSON has no encoding for them."""
    assert read_info(RequestInfo(name="a\ud800b")) == RequestInfo(name="a?b")


def test_long_texts_of_the_info_are_cut() -> None:
    """They go to the log."""
    info = RequestInfo(name="x" * 1_000, limit="y" * 1_000)
    assert read_info(info) == RequestInfo(name="x" * 256, limit="y" * 256)


def test_empty_members_are_left_out() -> None:
    """Most reports have a RequestInfo only, by position; absent members are read as empty."""
    info = RequestInfo(name="b", documents=0)
    text = b'{"info":["","","","b","","","","",0,null,null,null,"","",""]}'
    assert report.to_json(replace(EMPTY, info=info)) == text
    for original in (replace(EMPTY, diagnostics=(PROBLEM,)), replace(EMPTY, log="l")):
        assert report.from_json(report.to_json(original)) == original


FAILED = Failed(error=SandboxError(PROBLEM), cause=Cause.BUG, detail="d")
FULL = Answered(
    response=b"",
    diagnostics=(PROBLEM, WITH_NOTES),
    blocked=(Blocked("w", "for v", ("v",)),),
    info=RequestInfo(name="b", documents=7),
    log="l",
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b'"b","","","",""', b'1,"","","",""', id="a text is a number"),
        pytest.param(b'"b","","","",""', b'null,"","","",""', id="a text is null"),
        pytest.param(b'"b","","","",""', b'"b","","","","",""', id="one text more"),
        pytest.param(b'"b","","","",""', b'"b","","",""', id="one text less"),
        pytest.param(b"7,null", b'"7",null', id="a number is a text"),
        pytest.param(b"7,null", b"true,null", id="a number is a boolean"),
        pytest.param(b"7,null", b"-1,null", id="a negative number"),
        pytest.param(b"7,null", b"1000000000000,null", id="a huge number"),
        pytest.param(b'"info":[', b'"info":{},"x":[', id="info is an object"),
        pytest.param(b'"info"', b'"inf"', id="no info"),
        pytest.param(b'"log":"l"', b'"log":1', id="the log is a number"),
        pytest.param(b'"cause":"bug"', b'"cause":"none"', id="an unknown cause"),
        pytest.param(b'"cause":"bug"', b'"cause":["bug"]', id="a list of causes"),
        pytest.param(b'"detail":"d"', b'"detail":null', id="no detail"),
        pytest.param(b'"limit":null', b'"limit":"none"', id="an unknown limit"),
        pytest.param(b'null,"diagnostics":[', b'null,"diagnostics":[],"x":[', id="no problem"),
        pytest.param(b'"diagnostics":[', b'"diagnostics":[{},', id="an empty problem"),
        pytest.param(b'"diagnostics":[', b'"diagnostics":1,"x":[', id="problems are a number"),
        pytest.param(b'"duplicate-key"', b'"other"', id="an unknown code"),
        pytest.param(b'["duplicate-key","a"]', b'["duplicate-key"]', id="a code of one part"),
        pytest.param(b'["w","for v",["v"]]', b'["w"]', id="no reason"),
        pytest.param(b'["w","for v",["v"]]', b'["w","for v",[1]]', id="a dependency is a number"),
        pytest.param(b'"excerpt":{"first_line":1,', b'"excerpt":{', id="an empty excerpt"),
        pytest.param(b'"main.star","line":2,', b'"main.star",', id="a span of three"),
    ],
)
def test_member_of_another_type_is_refused(old: bytes, new: bytes) -> None:
    """Reports are untrusted."""
    data = next(data for data in map(report.to_json, (FULL, FAILED)) if old in data)
    with pytest.raises(ValueError, match="unreadable report"):
        report.from_json(data.replace(old, new))


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"null", b"1", b'"a"', b"[1]", b"{}", b"\xff", b"[" * 100_000),
        *(
            b'{"info":{"name":1}}',
            b'{"info":["name"]}',
            b'{"info":[]}',
            b'{"info":null}',
            b'{"log":"l"}',
        ),
    ],
    ids=lambda data: str(data[:30]),
)
def test_invalid_report_is_a_value_error(data: bytes) -> None:
    """No other exception is raised for bytes that no sound worker sends."""
    with pytest.raises(ValueError, match="unreadable report"):
        report.from_json(data)


def test_long_members_are_cut() -> None:
    long = "\x01" * 30_000
    excerpt = Excerpt(first_line=1, lines=(long,))
    problem = Diagnostic(message=long, hint=long, notes=(long,), excerpt=excerpt)
    original = replace(EMPTY, diagnostics=(problem,) * 60, info=RequestInfo(name=long), log=long)
    text = report.to_bounded_json(original)
    assert len(text) <= 1 << 20
    assert report.from_json(text).diagnostics[0].message.endswith("…")
    failed = replace(FAILED, log=long * 9, detail=long * 9)
    assert len(report.to_bounded_json(failed)) <= 1 << 20
