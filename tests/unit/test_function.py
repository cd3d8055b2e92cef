"""The main path answers whatever comes, and says where a bug of its own is."""

from __future__ import annotations

import pytest
from builders import request, starlark
from google.protobuf.message import DecodeError

from function_script import engines, function
from function_script.limits import Limits
from function_script.proto.v1 import run_function_pb2 as pb


def handle(data: bytes) -> tuple[function.Answer, pb.RunFunctionResponse]:
    """The answer and its response."""
    answer = function.handle(data, Limits(), lambda _: None)
    return answer, pb.RunFunctionResponse.FromString(answer.response)


@pytest.mark.parametrize("data", [b"", b"\xff", b"\x0a\x05ab", b"\x1a\x00" * 9, bytes(range(256))])
def test_bytes_that_are_no_request_are_answered(data: bytes) -> None:
    """Nothing raises; one FATAL says what is wrong."""
    _, response = handle(data)
    assert [result.severity for result in response.results] == [pb.SEVERITY_FATAL]


META = b"\x0a\x05\x0a\x03tag"
# Fields of a request, in the order they come, and the tag that must come back.
BROKEN = [
    pytest.param(META + b"\x12\x7f", "tag", id="cut off after the tag"),
    pytest.param(b"\x1a\x03\x12\x05\x0a" + META, "tag", id="cut off inside of a part before it"),
    pytest.param(b"\x0a\x03\x0a\x01x" + META + b"\xff", "tag", id="the last of two tags"),
    pytest.param(META + b"\x0a\x02\x0a\x09", "tag", id="a second meta that is broken"),
    pytest.param(b"\xff" + META, "", id="nothing can be read"),
    pytest.param(META[:-1], "", id="the tag itself is cut off"),
    pytest.param(b"\x0a\x03\x0a\x01\xff", "", id="the tag is no text"),
]


@pytest.mark.parametrize(("data", "tag"), BROKEN)
def test_the_tag_of_a_broken_request_comes_back(data: bytes, tag: str) -> None:
    """As far as the bytes can be read; otherwise there is none."""
    with pytest.raises(DecodeError):
        pb.RunFunctionRequest.FromString(data)
    _, response = handle(data)
    assert [result.severity for result in response.results] == [pb.SEVERITY_FATAL]
    assert response.meta.tag == tag


def test_a_part_that_is_broken_inside_is_told() -> None:
    """Where the program meets it, and nothing of such a request is handed on."""
    script = starlark("def main(req):\n    return {'context': {'a': req['context']['word']}}\n")
    data = request(script, context={"word": "naïve"}).SerializeToString()
    _, response = handle(data.replace("ï".encode(), b"\xff\xff"))
    (fatal,) = response.results
    assert "cannot read the request: " in fatal.message
    assert "not UTF-8" in fatal.message
    assert response.meta.tag == "a-tag"
    assert not response.HasField("context")


def test_a_bug_is_told_without_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """The result names the kind of error only, the log the places in our code."""

    def broken(language: str) -> object:
        raise KeyError(f"secret {language}")

    monkeypatch.setattr(engines, "get", broken)
    script = starlark("def main(req):\n    return {}\n")
    answer, response = handle(request(script).SerializeToString())
    assert response.meta.tag == "a-tag"
    assert "internal error (KeyError)" in response.results[0].message
    assert answer.facts["bug"].startswith("KeyError at function:")
    assert "secret" not in answer.facts["bug"] + response.results[0].message


def test_limits_in_force_are_told_first() -> None:
    """What the input narrows is known before its program runs."""
    told: list[Limits] = []
    script = starlark("def main(req):\n    return {}\n", limits={"timeout": "100ms"})
    function.handle(request(script).SerializeToString(), Limits(), told.append)
    assert [limits.timeout_seconds for limits in told] == [0.1]
