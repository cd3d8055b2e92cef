"""A captured request: a case without secrets whose replay gives the same response."""

import json
from pathlib import Path
from typing import cast

import pytest
from google._upb import _message
from support import builders
from support.commands import Run
from support.secret_places import (
    ENCODED,
    MARKER,
    OLD,
    PLACES,
    PLAIN,
    SECRET,
    captured,
    replayed,
    to_base64,
)

from function_script import documents
from function_script.request import capture
from function_script.request.capture import responses
from function_script.request.limits import EffectiveLimits, Limits
from function_script.request.values import Object
from function_script.sandbox import outcome
from function_script.sandbox.outcome import Cause
from function_script.texts.errors import InputError
from function_script.texts.source import Source
from function_script.tools.cases.verdicts import Status

ELSEWHERE: Object = {"apiVersion": "v1", "kind": "Thing", "spec": {MARKER: [f"a {MARKER} b"]}}
WAITS = builders.document("a") + builders.document("b", depends_on="a")
ECHOES = [
    pytest.param({"context": {"a": f"postgres://u:{MARKER}@db", MARKER: ENCODED}}, id="context"),
    pytest.param({"desired": {"resources": {MARKER: {"resource": ELSEWHERE}}}}, id="desired"),
    pytest.param(
        {
            "observed": {"resources": {"a": {"resource": ELSEWHERE}}},
            "required_resources": {"b": {"items": [{"resource": ELSEWHERE}]}},
            "required_schemas": {"c": {"openapi_v3": {"default": MARKER}}},
        },
        id="observed, required, schemas",
    ),
    pytest.param({"input": builders.starlark(f"# {MARKER}\n{PLAIN}")}, id="program"),
    pytest.param({"input": builders.starlark(PLAIN, params={"a": ENCODED})}, id="params"),
    pytest.param({"input": builders.jinja(WAITS, params={"a": ENCODED})}, id="what waits"),
]


def read(text: str) -> Object:
    """Return the case as plain values."""
    (document,) = documents.read_source(Source(name="case", text=text))
    return document.value


def test_annotation_of_a_secret_that_is_no_valid_json_is_masked_as_a_whole() -> None:
    secret: Object = {**SECRET, "metadata": {"annotations": {"a": OLD[:-1]}}}
    parts: Object = {"observed": {"resources": {"a": {"resource": secret}}}}
    text = captured(builders.request(builders.starlark(PLAIN), **parts))
    assert ENCODED.rstrip("=") not in text


@pytest.mark.parametrize("parts", PLACES)
def test_secrets_of_any_place_are_masked_where_they_were_copied_to(parts: Object) -> None:
    """Also a value that stands only in a former state of a Secret; as text and as base64."""
    copied = {"context": {**parts.get("context", {}), "copy": f"a {MARKER} b"}}
    text = captured(builders.request(builders.starlark(PLAIN), **{**parts, **copied}))
    assert MARKER not in text
    assert ENCODED.rstrip("=") not in text


@pytest.mark.parametrize("parts", ECHOES)
def test_copies_of_secrets_are_masked(parts: Object, tmp_path: Path) -> None:
    """Values, keys, parts of texts and base64 get the same word, and the case passes."""
    whole = {
        "input": builders.starlark(PLAIN),
        **parts,
        "credentials": {"api": {"credential_data": {"data": {"value": ENCODED}}}},
    }
    text = captured(builders.request(**whole))
    assert MARKER not in text
    assert ENCODED.rstrip("=") not in text
    assert "redacted1" in text or to_base64("redacted1") in text
    assert replayed(text, tmp_path).status is Status.PASSED


PASSED_ON = """\
def main(req):
    key = from_json(get_credentials(req, "api")["value"])["key"]
    secret = {"apiVersion": "v1", "kind": "Secret", "data": {"made": "bmV3LXNlY3JldA=="}}
    thing = {"apiVersion": "v1", "kind": "Thing", "spec": {"key": key, "count": 2, "half": 0.5}}
    return {
        "desired": {
            "composite": {"resource": {"status": {"phase": "new"}}},
            "resources": {"s": {"resource": secret}, "t": {"resource": thing, "ready": True}},
        },
        "requirements": {"resources": {"r": {"api_version": "v1", "kind": "A", "match_name": "b"}}},
        "conditions": [{"type": "Told", "status": "True", "reason": "Key", "message": key}],
        "results": [{"severity": "Warning", "message": "key " + key}],
        "context": {"key": key},
    }
"""
JSON_DATA: Object = {"value": to_base64('{"key": "AKIA-marker"}')}
WITH_JSON: Object = {"api": {"credential_data": {"data": JSON_DATA}}}


def test_program_that_passes_secrets_on_gives_the_same_again(tmp_path: Path) -> None:
    """Fields of JSON stay fields, and the case omits the data of the program's Secrets."""
    step = builders.starlark(PASSED_ON, credentials=["api"])
    text = captured(builders.request(step, credentials=WITH_JSON))
    expected = read(text)["expect"]
    assert expected == {
        "conditions": [{"message": "redacted1", "reason": "Key", "status": "True", "type": "Told"}],
        "context": {"key": "redacted1"},
        "events": [{"message": "key redacted1", "severity": "Warning"}],
        "ready": {"s": False, "t": True},
        "requirements": {"resources": {"r": {"apiVersion": "v1", "kind": "A", "name": "b"}}},
        "resources": {
            "s": {"apiVersion": "v1", "kind": "Secret"},
            "t": {
                "apiVersion": "v1",
                "kind": "Thing",
                "spec": {"count": 2, "half": 0.5, "key": "redacted1"},
            },
        },
        "status": {"phase": "new"},
    }
    assert "bmV3LXNlY3JldA" not in text.partition("request:")[0]
    assert replayed(text, tmp_path).status is Status.PASSED


def test_value_derived_from_a_secret_is_reported_to_differ(tmp_path: Path) -> None:
    """The report of a failing case explains that the request's secrets are masked."""
    program = PASSED_ON.replace('"count": 2', '"count": len(key)')
    step = builders.starlark(program, credentials=["api"])
    verdict = replayed(captured(builders.request(step, credentials=WITH_JSON)), tmp_path)
    ((problem, _),) = verdict.problems
    assert problem.message == "resources.t.spec.count: expected 11, found 9"
    assert problem.notes == (
        "2 secrets of this request are redacted: what is made of them differs",
    )


FAILING = [
    pytest.param(builders.starlark('def main(req):\n    fail("no way")\n'), id="fail"),
    pytest.param(builders.starlark("def main(req):\n    return 1 + nothing\n"), id="program"),
    pytest.param(builders.jinja("a: {{ observed.composite.nothing }}\n"), id="template"),
    pytest.param(builders.jinja("a: b: c\n"), id="document"),
    pytest.param({**builders.jinja("a"), "inlin": "b"}, id="input"),
    pytest.param(None, id="no input"),
]


@pytest.mark.parametrize("step_input", FAILING)
def test_failure_is_expected_again(step_input: Object | None, tmp_path: Path) -> None:
    text = captured(builders.request(step_input))
    expected = read(text)["expect"]
    assert isinstance(expected, dict)
    assert list(expected) == ["error"]
    assert replayed(text, tmp_path).status is Status.PASSED


def test_language_is_replayed(tmp_path: Path) -> None:
    """The request has resources of earlier steps with nulls, and a context."""
    request = (
        "apiVersion: v1\nkind: A\nmetadata: {annotations: {gotemplating.fn.crossplane.io/%s: %s}}"
    )
    inline = request % ("composition-resource-name", "a")
    ours = inline.replace("gotemplating", "script")
    before: Object = {"resource": {"apiVersion": "v1", "kind": "B", "spec": {"gone": None}}}
    for step in (builders.jinja(ours), builders.gotemplate(ours)):
        message = builders.request(
            step, desired={"resources": {"b": before}}, context={"zone": "a", "n": 1.5}
        )
        text = captured(message)
        assert sorted(part(part(read(text), "expect"), "resources")) == ["a", "b"]
        assert replayed(text, tmp_path).status is Status.PASSED


def part(value: Object, key: str) -> Object:
    member = value[key]
    assert isinstance(member, dict)
    return member


def test_same_request_gives_the_same_case() -> None:
    step = builders.starlark(PLAIN)
    one = builders.request(step, context={"a": 1, "b": 2}, meta={"tag": "one"})
    two = builders.request(step, context={"b": 2, "a": 1}, meta={"tag": "two"})
    assert captured(one) == captured(two)


def test_common_words_and_short_numbers_are_hidden_in_their_places_only() -> None:
    """Connection Secrets have ports, and masking these numbers everywhere would break programs."""
    details: Object = {"port": to_base64("5432"), "tls": to_base64("true"), "pin": to_base64("abc")}
    message = builders.request(
        builders.starlark(PLAIN),
        observed={"composite": {"resource": builders.XR, "connection_details": details}},
        context={"port": "5432", "tls": "true", "abc": "abc"},
    )
    text = captured(message)
    assert part(part(read(text), "request"), "context") == {
        "port": "5432",
        "tls": "true",
        "abc": "abc",
    }
    assert not [value for value in details.values() if str(value) in text]


def test_more_secrets_than_can_be_looked_for_are_an_error() -> None:
    """The alternative would be a file with secrets, or a very long search."""
    data: Object = {"k": to_base64("\n".join(f"{index:08}" for index in range(600_000)))}
    message = builders.request(
        builders.starlark(PLAIN), credentials={"api": {"credential_data": {"data": data}}}
    )
    with pytest.raises(InputError, match="too many or too large"):
        captured(message)


ANNOTATED = [("true", True), ("false", False), ("True", False), (None, False)]


@pytest.mark.parametrize(("value", "is_requested"), ANNOTATED)
def test_xr_asks_by_its_annotation(*, value: str | None, is_requested: bool) -> None:
    """An annotation of another object does not count."""
    annotations = {} if value is None else {capture.ANNOTATION: value}
    marked = {**builders.XR, "metadata": {"annotations": annotations}}
    other = {"resource": {"metadata": {"annotations": {capture.ANNOTATION: "true"}}}}
    observed = {"composite": {"resource": marked}, "resources": {"a": other}}
    data = builders.request(observed=observed).SerializeToString()
    assert capture.is_requested(data) is is_requested


def test_xr_of_any_depth_asks_for_a_capture() -> None:
    """Protobuf reads 33 nested objects, and a server does not lift this limit: it says so."""
    xr: Object = {**builders.XR, "metadata": {"annotations": {capture.ANNOTATION: "true"}}}
    message = builders.request(observed={"composite": {"resource": xr}})
    spec = message.observed.composite.resource.fields["spec"].struct_value
    for _ in range(60):
        spec = spec.fields["a"].struct_value
        spec.SetInParent()
    data = message.SerializeToString()
    _message.SetAllowOversizeProtos(False)  # noqa: FBT003 - it has no name
    try:
        assert capture.is_requested(data)
        with pytest.raises(InputError, match="cannot capture the request: "):
            capture.to_case(data, b"")
    finally:
        _message.SetAllowOversizeProtos(True)  # noqa: FBT003 - it has no name


def test_run_captures(tmp_path: Path, run: Run) -> None:
    step = builders.starlark(PASSED_ON, credentials=["api"])
    request: Object = {
        "observed": {"composite": {"resource": builders.XR}},
        "input": step,
        "credentials": WITH_JSON,
    }
    (tmp_path / "request.json").write_text(json.dumps(request))
    case = tmp_path / "bug.case.yaml"
    assert "AKIA-marker" in run("run", tmp_path / "request.json", "--capture", case).out
    assert "AKIA-marker" not in case.read_text()
    run("test", tmp_path)


def test_run_captures_what_took_too_long(tmp_path: Path, run: Run) -> None:
    """`run` prints no response then, but a server sends one, and the case expects it."""
    endless = "def main(req):\n    [0 for i in range(1000000000) for j in range(1000000000) if 0]\n"
    (tmp_path / "request.json").write_text(json.dumps({"input": builders.starlark(endless)}))
    case = tmp_path / "slow.case.yaml"
    run("run", tmp_path / "request.json", "--capture", case, "--timeout", "300ms", code=1)
    (failure,) = part(read(case.read_text()), "expect").values()
    assert failure == ["time than its limit"]


@pytest.mark.parametrize(
    ("name", "failure"),
    [("bug.yaml", "not the name of a case"), ("no/bug.case.yaml", "no such file")],
)
def test_run_says_where_it_cannot_capture(
    name: str, failure: str, tmp_path: Path, run: Run
) -> None:
    """The file name is not that of a case, or the directory does not exist."""
    (tmp_path / "request.json").write_text(json.dumps({"input": builders.starlark(PLAIN)}))
    request = tmp_path / "request.json"
    assert failure in run("run", request, "--capture", tmp_path / name, code=1).err


@pytest.mark.parametrize("cause", [Cause.TIMEOUT, Cause.MEMORY], ids=lambda cause: cause.value)
def test_expected_words_of_a_limit_are_in_its_message_and_have_no_number(cause: Cause) -> None:
    """A replay has other limits: its message must have the words, too."""
    problems = outcome.explain(
        cause, EffectiveLimits(Limits(timeout_seconds=2.5, memory_bytes=1 << 28))
    ).diagnostics
    response: Object = {"results": [{"severity": "SEVERITY_FATAL", "message": problems[0].message}]}
    (words,) = cast("list[str]", responses.to_expected(response, problems)["error"])
    assert words in problems[0].message
    assert not any(character.isdigit() for character in words)
