"""The main path answers whatever comes, and says where a bug of its own is."""

import pytest
from google.protobuf.message import DecodeError
from support.builders import fatal, request, starlark
from support.timing import is_within

from function_script import wire
from function_script.engines.registry import LANGUAGES
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import Limits
from function_script.step import function, telemetry
from function_script.step.telemetry import Answered
from function_script.texts.errors import SandboxError
from function_script.wire.fields import length_field


def handle(data: bytes) -> tuple[Answered, pb.RunFunctionResponse]:
    """The answer and its response."""
    answer = function.handle(data, Limits(), lambda _: None)
    return answer, pb.RunFunctionResponse.FromString(answer.response)


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
    pytest.param(bytes(range(256)), "", id="any bytes"),
]


@pytest.mark.parametrize(("data", "tag"), BROKEN)
def test_tag_of_a_broken_request_comes_back(data: bytes, tag: str) -> None:
    with pytest.raises(DecodeError):
        pb.RunFunctionRequest.FromString(data)
    _, response = handle(data)
    assert [result.severity for result in response.results] == [pb.SEVERITY_FATAL]
    assert response.meta.tag == tag


def test_part_that_is_broken_inside_is_told() -> None:
    """Where the program meets it, and nothing of such a request is handed on."""
    script = starlark("def main(req):\n    return {'context': {'a': req['context']['word']}}\n")
    data = request(script, context={"word": "naïve"}).SerializeToString()
    _, response = handle(data.replace("ï".encode(), b"\xff\xff"))
    (fatal,) = response.results
    assert "cannot read the request: " in fatal.message
    assert "not UTF-8" in fatal.message
    assert response.meta.tag == "a-tag"
    assert not response.HasField("context")


def test_bug_is_told_without_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """The result names the kind of error only, the log the places in our code."""

    def broken(*_: object) -> object:
        raise KeyError("secret")

    monkeypatch.setattr(LANGUAGES["starlark"].engine, "evaluate", broken)
    script = starlark("def main(req):\n    return {}\n")
    answer, response = handle(request(script).SerializeToString())
    assert response.meta.tag == "a-tag"
    assert "internal error (KeyError)" in response.results[0].message
    assert answer.info.bug.startswith("KeyError at function:")
    assert "secret" not in answer.info.bug + response.results[0].message


def test_limits_in_force_are_told_first() -> None:
    """The callback has the input's limits before its program runs."""
    narrowed_limits: list[Limits] = []
    script = starlark("def main(req):\n    return {}\n", limits={"timeout": "100ms"})
    function.handle(request(script).SerializeToString(), Limits(), narrowed_limits.append)
    assert [limits.timeout_seconds for limits in narrowed_limits] == [0.1]


ERROR = SandboxError.of("the worker was lost")
WHOLE = request(
    starlark("def main(req):\n    return {}\n"),
    context={"a": {"b": [1, "c"]}},
    desired={"resources": {f"r{number}": {"resource": {"kind": "A"}} for number in range(3)}},
).SerializeToString()
PASSED = [
    pytest.param(b"", id="nothing"),
    pytest.param(WHOLE, id="all"),
    pytest.param(META + WHOLE + META, id="two tags more"),
    pytest.param(WHOLE + b"\x1a\x00\x2a\x00", id="empty parts more"),
    pytest.param(WHOLE + WHOLE, id="everything twice"),
    pytest.param(b"\x1a\x00", id="an empty state"),
]


@pytest.mark.parametrize("data", PASSED)
def test_response_of_a_lost_worker_is_the_same_without_reading_the_request(data: bytes) -> None:
    unread = function.pass_through_unread(data, ERROR)
    assert unread == function.pass_through(data, ERROR)
    assert pb.RunFunctionResponse.FromString(unread).results[0].message == "the worker was lost"


@pytest.mark.parametrize(("data", "tag"), BROKEN)
def test_broken_request_of_a_lost_worker_is_answered(data: bytes, tag: str) -> None:
    """With its tag, as far as the bytes can be read."""
    response = pb.RunFunctionResponse()
    response.MergeFromString(function.pass_through_unread(data.replace(b"\x1a", b"\x12"), ERROR))
    assert response.meta.tag == tag
    assert len(response.results) == 1


def test_many_resources_of_a_lost_worker_hold_up_nobody() -> None:
    """The server answers for lost workers itself, and all callers wait for that."""
    resources = {f"r{number}": {"resource": {"kind": "A"}} for number in range(5_000)}
    data = request({}, desired={"resources": resources}).SerializeToString()
    assert is_within(
        0.2,
        lambda: function.pass_through_unread(data, ERROR),
        of=lambda: function.pass_through(data, ERROR),
    )


MANY = b"\x78\x00" * 200_000
ENTRIES = b"\x0a\x04\x0a\x00\x12\x00" * 70_000
SLOW = [
    pytest.param(MANY, id="fields of the request"),
    pytest.param(length_field(1, MANY), id="fields of meta"),
    pytest.param(length_field(1, MANY[:100]) * 10_000, id="many metas"),
    pytest.param(length_field(2, MANY), id="fields of observed state"),
    pytest.param(length_field(2, length_field(1, MANY)), id="fields of the XR"),
    pytest.param(length_field(2, length_field(1, length_field(1, ENTRIES))), id="keys of the XR"),
    pytest.param(
        length_field(2, length_field(1, length_field(1, length_field(1, MANY)))),
        id="fields of a key of the XR",
    ),
    pytest.param(length_field(3, MANY) * 2, id="desired state in pieces"),
    pytest.param(length_field(4, ENTRIES), id="keys of the input"),
    pytest.param(b"\x7b" + MANY + b"\x7c", id="a group"),
]


@pytest.mark.parametrize("data", SLOW)
def test_request_of_a_million_parts_holds_up_nobody(data: bytes) -> None:
    """The server stops reading, for all callers wait for that."""

    def read() -> None:
        telemetry.read(data)
        function.pass_through_unread(data, ERROR)

    assert is_within(0.3, read, of=lambda: wire.index_request(MANY))
    assert fatal(pb.RunFunctionResponse.FromString(function.pass_through_unread(data, ERROR)))
