"""RequestInfo: identity of a request from any bytes, and what a run counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import builders, input_steps

from function_script import inputs, wire
from function_script.request.limits import Limits
from function_script.step import function, telemetry

XR = {
    "api_version": "example.org/v1",
    "kind": "XThing",
    "namespace": "here",
    "name": "demo",
    "uid": "8a4c2f0e",
}


def identity_of(step_input: object, **parts: object) -> dict[str, str]:
    """The identity of a request."""
    return telemetry.read(builders.request(step_input, **parts).SerializeToString()).identity()  # type: ignore[arg-type] # any input


def test_request_is_known_by_its_xr_and_its_step() -> None:
    step_input = builders.jinja("", metadata={"name": "buckets"})
    of_step = {"step": "buckets", "input": "JinjaTemplate", "language": "jinja"}
    assert identity_of(step_input) == XR | of_step


def test_unknown_input_is_told_as_unknown() -> None:
    """An author's text never becomes a label of a metric."""
    assert identity_of({"apiVersion": "example.org/v1", "kind": "Mine"}) == XR | {
        "input": "unknown"
    }


def test_peer_input_of_another_group_is_no_other_input() -> None:
    """It runs in the same language."""
    step_input = {"apiVersion": "gotemplating.crossplane.io/v1beta1", "kind": "GoTemplate"}
    assert identity_of(step_input) == XR | {"input": "GoTemplate", "language": "gotemplate"}


def test_input_that_its_fields_tell_is_told_once_it_has_run() -> None:
    """Neither its apiVersion nor its kind says what it is."""
    template = {"source": "Inline", "inline": {"template": "# nothing"}}
    step_input = {"apiVersion": "x/v1", "kind": "Y", **template}
    data = builders.request(step_input).SerializeToString()
    assert telemetry.read(data).input == "unknown"
    answer = function.handle(data, Limits(), lambda _: None)
    assert (answer.info.input, answer.info.language) == ("GoTemplate", "gotemplate")


def test_operation_has_no_xr() -> None:
    assert identity_of(builders.starlark(""), observed={}) == {
        "input": "StarlarkScript",
        "language": "starlark",
    }


def test_name_is_cut_not_refused() -> None:
    """A line of the log has an end, whatever a caller sends."""
    observed = {"composite": {"resource": {"metadata": {"name": "x" * 10_000}}}}
    assert len(identity_of(None, observed=observed)["name"]) == 256


@pytest.mark.parametrize("kind", inputs.LANGUAGES)
def test_kind_has_the_language_it_runs(kind: tuple[str, str]) -> None:
    """The table for counting agrees with what parsing makes of an input."""
    program = "script" if kind[1] == "StarlarkScript" else "inline"
    text: object = "x" if kind[0] == builders.API_VERSION else {"template": "x"}
    source = {} if kind[0] == builders.API_VERSION else {"source": "Inline"}
    step_input = {"apiVersion": kind[0], "kind": kind[1], program: text, **source}
    step = input_steps.parse(step_input, Limits())  # type: ignore[arg-type] # plain values
    assert inputs.LANGUAGES[kind] == step.language


@given(st.binary(max_size=60), st.integers(0, 400))
def test_reading_never_fails(tail: bytes, kept: int) -> None:
    """Any bytes, also a request that is cut off anywhere and goes on with something else."""
    whole = builders.request(builders.starlark("x")).SerializeToString()
    data = whole[:kept] + tail
    telemetry.read(data)


NAMES = st.text(max_size=200)


@given(NAMES, NAMES, st.dictionaries(st.text(max_size=140), NAMES, max_size=5))
def test_identity_is_what_the_codec_decodes(name: str, kind: str, others: dict[str, str]) -> None:
    """The quick way reads the same as the thorough one, wherever keys stand."""
    metadata = {**others, "name": name}
    resource = {**others, "metadata": metadata, "kind": kind}
    data = builders.request(None, observed={"composite": {"resource": resource}})
    found = wire.read_identity(data.SerializeToString())
    assert found.name.encode() == name.encode()[:256] or len(name.encode()) > 256
    assert found.kind.encode() == kind.encode()[:256] or len(kind.encode()) > 256
    assert found.uid == others.get("uid", "")


def length_delimited(tag: bytes, content: bytes) -> bytes:
    """A field of less than 128 bytes."""
    return tag + bytes([len(content)]) + content


NAME = length_delimited(b"\n", b"name")
TEXT = length_delimited(b"\x12", length_delimited(b"\x1a", b"demo"))
ENTRIES = [
    pytest.param(b"\n", NAME + TEXT, id="usual"),
    pytest.param(b"\n", TEXT + NAME, id="value first"),
    pytest.param(b"\n", NAME + TEXT + b"\x18\x01", id="an unknown field"),
    pytest.param(b"\n", b"\n\x84\x00name" + TEXT, id="a long size"),
    pytest.param(b"\x8a\x00", NAME + TEXT, id="a long tag"),
    pytest.param(b"\x18\x07\n", NAME + TEXT, id="after another field"),
]


@pytest.mark.parametrize(("tag", "entry"), ENTRIES)
def test_entries_are_read_in_every_form(tag: bytes, entry: bytes) -> None:
    """Protobuf allows much that nobody writes."""
    struct = length_delimited(b"*", length_delimited(tag, entry))
    metadata = length_delimited(b"\n", b"metadata") + length_delimited(b"\x12", struct)
    xr = length_delimited(b"\n", metadata)
    state = length_delimited(b"\n", length_delimited(b"\n", xr))
    assert wire.read_identity(length_delimited(b"\x12", state)).name == "demo"


def test_run_counts_what_it_stated_and_what_it_knew() -> None:
    """Resources of the program; texts it had read before show as remembered."""
    note = f"{builders.API_VERSION.partition('/')[0]}/composition-resource-name"
    text = f"kind: A\napiVersion: v1\nmetadata: {{annotations: {{{note}: counted}}}}\n"
    data = builders.request(builders.jinja(text)).SerializeToString()
    answers = [function.handle(data, Limits(), lambda _: None) for _ in range(3)]
    last = answers[-1].info
    assert last.documents == 1
    assert (last.looked_up or 0) >= (last.remembered or 0) > 0
    assert (last.program_microseconds or 0) > 0


def test_fingerprint_is_of_what_the_step_adds() -> None:
    """It depends neither on the tag nor on the order of fields, and there is none with results."""

    def fingerprint(script: str, **parts: object) -> str:
        data = builders.request(builders.starlark(script), **parts).SerializeToString()
        return function.handle(data, Limits(), lambda _: None).info.fingerprint

    entry = '{"resource": {"apiVersion": "v1", "kind": "A", "spec": {"x": %s}}}'
    script = "def main(req):\n" + '    return {"desired": {"resources": {"a": ' + entry + "}}}\n"
    first = fingerprint(script % 1)
    assert first == fingerprint(script % 1, meta={"tag": "another"})
    assert first[:8] != fingerprint(script % 2)[:8]
    count = script % 'req["observed"]["composite"]["resource"]["spec"]["count"]'
    changed = {"composite": {"resource": {**builders.XR, "spec": {"count": 3}}}}
    assert fingerprint(count)[:8] == fingerprint(count, observed=changed)[:8]
    assert fingerprint(count) != fingerprint(count, observed=changed)
    event = '{"results": [{"severity": "Normal", "message": "x"}]}'
    assert not fingerprint(f"def main(req):\n    return {event}\n")
