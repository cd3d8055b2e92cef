"""`run`: one request as JSON in, one response as JSON out."""

import errno
import io
import json
import os
import sys
from pathlib import Path

import pytest
from support.builders import API_VERSION, XR, starlark
from support.commands import Run
from support.notes import without_note

from function_script.request.values import Object
from function_script.texts.errors import FatalError, InputError
from function_script.texts.source import Source
from function_script.tools import run as runs
from function_script.tools import sources

ECHO = """\
def main(req):
    print("seen")
    size = req["observed"]["composite"]["resource"]["spec"]["count"]
    thing = {"apiVersion": "v1", "kind": "Thing", "size": size, "half": 0.5}
    return {"desired": {"resources": {"thing": {"resource": thing, "ready": True}}}}
"""
FATAL = """\
def main(req):
    return {"results": [{"severity": "Fatal", "message": "no"}]}
"""


def request(script: str = ECHO, **parts: object) -> str:
    """A request in protobuf JSON."""
    observed: Object = {"composite": {"resource": XR}}
    whole = {"meta": {"tag": "t"}, "observed": observed, "input": starlark(script), **parts}
    return json.dumps(whole)


def test_request_is_answered(run: Run) -> None:
    out, err = run("run", stdin=request())
    resource: Object = {"apiVersion": "v1", "kind": "Thing", "size": 2, "half": 0.5}
    # An hour, and the deviation of this XR.
    assert json.loads(out) == {
        "meta": {"tag": "t", "ttl": "3659s"},
        "desired": {"resources": {"thing": {"resource": resource, "ready": "READY_TRUE"}}},
    }
    assert '"size": 2\n' in out
    assert without_note(err).strip() == "seen"


def test_case_is_whole_or_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    (tmp_path / "request.json").write_text(request())

    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    case = tmp_path / "x.case.yaml"
    err = run("run", tmp_path / "request.json", "--capture", case, code=1).err
    assert f'cannot write "{case}": no space left on device' in err
    assert [each.name for each in tmp_path.iterdir()] == ["request.json"]


def test_case_that_is_there_stays(tmp_path: Path, run: Run) -> None:
    """Its author may have added to it."""
    (case := tmp_path / "x.case.yaml").write_text("mine")
    assert "the file is there already" in run("run", "--capture", case, stdin="{}", code=1).err
    assert case.read_text() == "mine"


def test_fatal_response_is_printed_and_fails(run: Run) -> None:
    """A pipeline that runs this notices, and still has the response to look at."""
    out, err = run("run", stdin=request(FATAL), code=1)
    assert json.loads(out)["results"][0]["severity"] == "SEVERITY_FATAL"
    assert "error: the function returned a fatal result: no" in err


def test_lost_worker_answers_as_in_production(run: Run) -> None:
    """A server answers FATAL then, with desired state and context untouched."""
    thing: Object = {"resource": {"apiVersion": "v1", "kind": "Thing"}, "ready": "READY_TRUE"}
    parts: Object = {"desired": {"resources": {"thing": thing}}, "context": {"key": "value"}}
    script = "def main(req):\n    for i in range(1000000000):\n        pass\n"
    out, err = run("run", "--timeout", "100ms", stdin=request(script, **parts), code=1)
    message = "time than its limit of 0.1 s"
    response = json.loads(out)
    (result,) = response.pop("results")
    assert result["severity"] == "SEVERITY_FATAL"
    assert message in result["message"]
    assert message in err
    assert response.pop("meta")["tag"] == "t"
    assert response == parts


def test_programs_in_files(tmp_path: Path, run: Run) -> None:
    (tmp_path / "thing").mkdir()
    (tmp_path / "thing" / "main.star").write_text(ECHO)
    value = request(
        input={
            "apiVersion": API_VERSION,
            "kind": "StarlarkScript",
            "source": "FileSystem",
            "fileSystem": {"dirPath": "thing"},
        }
    )
    out = run("run", "--program-root", tmp_path, stdin=value).out
    assert "thing" in json.loads(out)["desired"]["resources"]


SPELLINGS = {
    "camel-case": '{"requiredResources": {"a": {}}}',
    "the-protocol's": '{"required_resources": {"a": {}}}',
    "yaml": "required_resources:\n  a: {}\n",
    "unknown-field": '{"requiredResources": {"a": {}}, "newer": {"x": 1}}',
    "unknown-enum-value": "requiredResources: {a: {}}\nmeta: {capabilities: [CAPABILITY_NEW]}\n",
}


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_requests_may_be_spelled_freely(text: str) -> None:
    assert list(runs.parse(Source(name="x", text=text)).required_resources) == ["a"]


UNREADABLE = {
    "empty": ("", "it holds 0 requests instead of one"),
    "type": ("meta: {tag: [1]}", "cannot read x as a RunFunctionRequest"),
    "two": ("a: 1\n---\na: 2\n", "it holds 2 requests instead of one"),
    "syntax": ("a: [", "cannot read"),
}


@pytest.mark.parametrize(("text", "message"), UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable_requests_are_told(text: str, message: str) -> None:
    with pytest.raises(FatalError, match=message):
        runs.parse(Source(name="x", text=text))


def test_manifest_is_no_request() -> None:
    """All of its fields would be ignored, and the function would miss its input."""
    with pytest.raises(InputError, match=r'cannot read f as a RunFunctionRequest: .*"x"') as caught:
        runs.parse(Source(name="f", text="kind: Composition\nmetadata: {name: x}"))
    assert "render" in str(caught.value.diagnostics[0].hint)


def test_stdin_must_be_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    for errors in ("strict", "surrogateescape"):
        text = io.TextIOWrapper(io.BytesIO(b"\xff\xfe"), encoding="utf-8", errors=errors)
        monkeypatch.setattr(sys, "stdin", text)
        with pytest.raises(InputError, match="cannot read stdin: it is not UTF-8 text"):
            sources.load_argument("-")
