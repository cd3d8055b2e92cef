"""Results that are cached or shared between requests change no response."""

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from support.builders import NAME_KEY, jinja, request, starlark
from support.example_counts import examples
from support.input_steps import NOTHING
from support.timing import PATIENCE_SECONDS

from function_script import inputs, wire
from function_script.documents import to_yaml_stream
from function_script.request import objects
from function_script.request.cache import ByteLruCache
from function_script.request.limits import Limits
from function_script.request.values import Object
from function_script.step import function

READY = "script.fn.crossplane.io/ready"
MERGE = "script.fn.crossplane.io/merge"
PEER_NAME = "gotemplating.fn.crossplane.io/composition-resource-name"


def mostly(sound: list[object], wrong: object) -> st.SearchStrategy[object]:
    """Draw one of the sound values, and seldom the wrong one."""
    return st.sampled_from([*sound * 10, wrong])


# Few names and values: cached ones have to be repeated, beside similar ones.
NAMES = mostly(["a", "b", "c"], "")
SCALARS = st.sampled_from([None, True, 0, 1.5, "x", "", "line\nbreak", "null"])
VALUES = st.recursive(
    SCALARS,
    lambda below: st.one_of(
        st.lists(below, max_size=2), st.dictionaries(st.sampled_from("pqr"), below, max_size=2)
    ),
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.sampled_from("pqr"), VALUES, max_size=2)
METADATA = st.fixed_dictionaries(
    {},
    optional={
        "labels": mostly([{}, {"team": "x"}, None], {"team": 1}),
        "uid": st.just("server-owned"),
        "name": st.sampled_from(["n", None]),
    },
)
BODIES = st.fixed_dictionaries(
    {"apiVersion": st.just("v1"), "kind": mostly(["Thing", "Other"], "")},
    optional={"metadata": METADATA, "spec": OBJECTS | st.none(), "status": OBJECTS},
)


def document(body: Object, annotations: Object) -> Object:
    metadata = body.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    return {**body, "metadata": {**metadata, "annotations": annotations}}


ANNOTATIONS = st.fixed_dictionaries(
    {NAME_KEY: NAMES},
    optional={
        READY: mostly(["True", "False"], "Perhaps"),
        MERGE: st.sampled_from(["Replace", "Merge"]),
        PEER_NAME: NAMES,
    },
)
XR = {"apiVersion": "example.org/v1", "kind": "XThing"}
SPECS = st.sampled_from([{}, {"p": 1}, {"p": 2}])
XR_STATUS = st.builds(
    lambda status, more: {**XR, "status": status, **more},
    OBJECTS,
    st.sampled_from([{}, {"spec": {"p": 1}}, {"metadata": {"labels": {"p": "1"}}}]),
)
DOCUMENTS = st.one_of([st.builds(document, BODIES, ANNOTATIONS)] * 4 + [XR_STATUS])
TEXTS = st.lists(DOCUMENTS, max_size=2).map(to_yaml_stream)
ENTRIES = st.none() | st.fixed_dictionaries(
    {"resource": BODIES}, optional={"ready": mostly(["True", False, None], "Perhaps")}
)
RESPONSES = st.builds(
    lambda resources, status: {
        "desired": {"resources": resources, "composite": {"resource": {"status": status}}}
    },
    st.dictionaries(NAMES, ENTRIES, max_size=3),
    OBJECTS,
)
INPUTS = st.one_of(
    TEXTS.map(lambda text: jinja("{{ params.text }}", params={"text": text})),
    RESPONSES.map(
        lambda response: starlark(
            'def main(req):\n    return req["params"]["response"]\n', params={"response": response}
        )
    ),
)
EARLIER = st.dictionaries(
    st.sampled_from(["a", "b"]), BODIES.map(lambda body: {"resource": body}), max_size=2
)


def respond(data: bytes) -> bytes:
    """Return the response to a request, with enough time for all positions."""
    limits = Limits(timeout_seconds=PATIENCE_SECONDS)
    return function.handle(data, limits, lambda _: None).response


@given(st.lists(st.tuples(INPUTS, EARLIER, SPECS), min_size=1, max_size=3))
@examples(37)
def test_cached_results_change_no_response(
    steps: list[tuple[Object, Object, Object]],
) -> None:
    """Each response, also the third, is that of a process without caches."""
    requests = [
        request(
            step_input,
            observed={"composite": {"resource": {**XR, "spec": spec}}},
            desired={"resources": earlier},
        ).SerializeToString()
        for step_input, earlier, spec in steps
    ]
    cached = [respond(data) for data in requests * 3]
    with patch.object(ByteLruCache, "get", lambda _self, _key: None):
        assert cached == [respond(data) for data in requests] * 3


@given(OBJECTS)
def test_encoding_without_nulls_equals_pruned_object(value: Object) -> None:
    pruned = objects.without_nulls(value)
    assert isinstance(pruned, dict)
    assert wire.encode_struct(value, drop_nulls=True) == wire.encode_struct(pruned)


XR_SPEC = {**XR, "spec": {"p": 1}}


def test_cached_text_is_compared_with_current_xr() -> None:
    """The warning about a field that differs from the XR comes and goes with the XR."""
    step_input = jinja("{{ params.text }}", params={"text": to_yaml_stream([XR_SPEC])})
    for spec in ({"p": 1}, {"p": 1}, {"p": 2}, {"p": 1}):
        observed = {"composite": {"resource": {**XR, "spec": spec}}}
        response = respond(request(step_input, observed=observed).SerializeToString())
        assert (b"IgnoredFields" in response) == (spec != XR_SPEC["spec"])


def test_cached_document_of_an_xr_is_compared_with_the_type_of_the_current_one() -> None:
    """The text of an XR's status is none for an XR of another type."""
    others = [document({"apiVersion": "v1", "kind": "A"}, {NAME_KEY: n}) for n in "abcd"]
    kinds = ["XThing", "XThing", "XThing", "XOther"]
    for kind, other in zip(kinds, others, strict=True):
        text = to_yaml_stream([other, {**XR, "status": {"p": 1}}])
        step_input = jinja("{{ params.text }}", params={"text": text})
        observed = {"composite": {"resource": {**XR, "kind": kind}}}
        response = respond(request(step_input, observed=observed).SerializeToString())
        assert (b"not its kind XOther" in response) == (kind == "XOther")


def test_cached_text_is_checked_with_current_limits() -> None:
    text = to_yaml_stream(
        [document({"apiVersion": "v1", "kind": "A"}, {NAME_KEY: n}) for n in "ab"]
    )
    data = request(jinja("{{ params.text }}", params={"text": text})).SerializeToString()
    for most in (2, 2, 2, 1):
        response = function.handle(data, Limits(documents=most), lambda _: None).response
        assert (b"more than 1 documents" in response) == (most == 1)


def test_params_of_cached_input_are_copied() -> None:
    """A program's changes of its params do not reach the next run."""
    payload = wire.encode_struct(jinja("x", params={"list": [1]}))
    first = inputs.parse_cached(payload, Limits(), NOTHING)
    assert isinstance(first.params["list"], list)
    first.params["list"].append(2)
    assert inputs.parse_cached(payload, Limits(), NOTHING).params == {"list": [1]}


def test_cached_input_has_current_limits() -> None:
    payload = wire.encode_struct(jinja("x"))
    for seconds in (1.0, 2.0):
        limits = Limits(timeout_seconds=seconds)
        assert inputs.parse_cached(payload, limits, NOTHING).limits == limits
