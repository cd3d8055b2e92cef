"""Laws of requests, responses and splices, judged by protobuf."""

from google.protobuf.duration_pb2 import Duration
from google.protobuf.struct_pb2 import Struct
from hypothesis import example, given
from hypothesis import strategies as st
from property.strategies_wire import (
    BYTES,
    NAMES,
    OBJECTS,
    REQUESTS,
    RESOURCES,
    STATES,
    STRUCTS,
    from_request,
    read_request,
    to_struct,
)

from function_script import wire
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object

# A field of a protocol newer than ours, at the end of a message.
NEWER = b"\xfa\x01\x05newer"


@given(REQUESTS)
def test_request_is_indexed_as_protobuf_reads_it(request: pb.RunFunctionRequest) -> None:
    """Every field of the request arrives, presence included."""
    indexed = wire.index_request(request.SerializeToString())
    assert read_request(indexed) == from_request(request)


@given(REQUESTS, REQUESTS)
def test_requests_one_after_another_are_merged(
    first: pb.RunFunctionRequest, second: pb.RunFunctionRequest
) -> None:
    """Concatenated bytes mean the merged message: maps by key, messages field by field."""
    payload = first.SerializeToString() + NEWER + second.SerializeToString()
    expected = from_request(pb.RunFunctionRequest.FromString(payload))
    assert read_request(wire.index_request(payload)) == expected


@given(STATES)
def test_payloads_are_the_messages_own_bytes(state: pb.State) -> None:
    """What is handed on is what came, unknown fields included."""
    payload = state.SerializeToString() + NEWER
    request = pb.RunFunctionRequest(desired=pb.State.FromString(payload))
    desired = wire.index_request(request.SerializeToString()).desired
    assert desired is not None
    assert pb.State.FromString(desired.payload) == request.desired
    for name, resource in desired.resources.items():
        assert pb.Resource.FromString(resource.payload) == state.resources[name]


@given(st.none() | STRUCTS, BYTES, st.sampled_from([0, 1, 2]))
def test_resources_are_written_as_protobuf_reads_them(
    struct: Struct | None, details: dict[str, bytes], ready: int
) -> None:
    """Struct, connection details and readiness arrive."""
    payload = struct.SerializeToString() if struct is not None else None
    written = wire.encode_resource(payload, details, ready)
    expected = pb.Resource(resource=struct, connection_details=details, ready=ready)
    assert pb.Resource.FromString(written) == expected


TARGETS = st.sampled_from([None, 0, 1, 2])
OPTIONAL = st.none() | NAMES
RESULTS = st.builds(wire.Result, st.integers(0, 3), NAMES, OPTIONAL, TARGETS)
CONDITIONS = st.builds(wire.Condition, NAMES, st.integers(0, 3), NAMES, OPTIONAL, TARGETS)
SELECTORS = st.builds(
    wire.Selector,
    NAMES,
    NAMES,
    OPTIONAL,
    st.none() | st.dictionaries(NAMES, NAMES, max_size=2),
    OPTIONAL,
)
SELECTED = st.dictionaries(NAMES, SELECTORS, max_size=2)
REQUIREMENTS = st.builds(
    wire.Requirements,
    SELECTED,
    SELECTED,
    st.dictionaries(NAMES, st.tuples(NAMES, NAMES), max_size=2),
)
OPTIONAL_BYTES = st.none() | STRUCTS.map(lambda struct: struct.SerializeToString())
RESPONSES = st.builds(
    wire.Response,
    tag=NAMES,
    ttl_seconds=st.none() | st.sampled_from([0.0, 60.0, 0.25, 86400.000000001, -1.5]),
    desired=st.none() | STATES.map(lambda state: state.SerializeToString()),
    results=st.lists(RESULTS, max_size=2),
    context=OPTIONAL_BYTES,
    requirements=st.none() | REQUIREMENTS,
    conditions=st.lists(CONDITIONS, max_size=2),
    output=OPTIONAL_BYTES,
)


@given(RESPONSES)
@example(wire.Response("tag", None, None, [], None, None, [], None))
@example(wire.Response("", 0.0, None, [], None, wire.Requirements({}, {}, {}), [], None))
def test_response_is_written_as_protobuf_reads_it(response: wire.Response) -> None:
    """Every field of the response arrives, presence included.

    Empty requirements are not written: Crossplane would see a change and call again.
    """
    written = pb.RunFunctionResponse.FromString(wire.encode_response(response))
    assert written == to_message(response)
    asked = response.requirements is not None and any(response.requirements)
    assert written.HasField("requirements") == asked


def _to_result(result: wire.Result) -> pb.Result:
    fields = {name: value for name, value in result._asdict().items() if name != "problem"}
    return pb.Result(**fields)


def to_message(response: wire.Response) -> pb.RunFunctionResponse:
    """The response built with protobuf alone."""
    message = pb.RunFunctionResponse(
        results=[_to_result(item) for item in response.results],
        conditions=[pb.Condition(**item._asdict()) for item in response.conditions],
    )
    message.meta.SetInParent()
    message.meta.tag = response.tag
    if response.ttl_seconds is not None:
        nanoseconds = round(response.ttl_seconds * 1e9)
        message.meta.ttl.CopyFrom(Duration())
        message.meta.ttl.FromNanoseconds(nanoseconds)
    for name in ("desired", "context", "output"):
        payload = getattr(response, name)
        if payload is not None:
            getattr(message, name).SetInParent()
            getattr(message, name).MergeFromString(payload)
    if response.requirements is not None and any(response.requirements):
        message.requirements.CopyFrom(to_requirements(response.requirements))
    return message


def to_requirements(requirements: wire.Requirements) -> pb.Requirements:
    """The requirements built with protobuf alone."""
    message = pb.Requirements()
    for name, selector in requirements.resources.items():
        message.resources[name].CopyFrom(to_selector(selector))
    for name, selector in requirements.extra_resources.items():
        message.extra_resources[name].CopyFrom(to_selector(selector))
    for name, (api_version, kind) in requirements.schemas.items():
        message.schemas[name].CopyFrom(pb.SchemaSelector(api_version=api_version, kind=kind))
    return message


def to_selector(selector: wire.Selector) -> pb.ResourceSelector:
    """The selector built with protobuf alone; of a oneof a name goes before labels."""
    fields = selector._asdict()
    labels = fields.pop("match_labels")
    if labels is not None and selector.match_name is None:
        fields["match_labels"] = pb.MatchLabels(labels=labels)
    return pb.ResourceSelector(**fields)


@given(
    STATES,
    st.none() | RESOURCES,
    st.dictionaries(NAMES, RESOURCES, max_size=2),
    st.sets(NAMES, max_size=2),
)
def test_splicing_a_state_is_editing_its_message(
    state: pb.State,
    composite: pb.Resource | None,
    resources: dict[str, pb.Resource],
    removed: set[str],
) -> None:
    """Replaced entries are the new ones whole, removed ones are gone, the rest is there."""
    spliced = wire.splice_state(
        state.SerializeToString() + NEWER,
        composite.SerializeToString() if composite is not None else None,
        {name: resource.SerializeToString() for name, resource in resources.items()},
        removed,
    )
    expected = pb.State.FromString(state.SerializeToString() + NEWER)
    for name in removed & expected.resources.keys():
        del expected.resources[name]
    for name, resource in resources.items():
        expected.resources[name].CopyFrom(resource)
    if composite is not None:
        expected.composite.CopyFrom(composite)
    assert pb.State.FromString(spliced) == expected


@given(STATES, st.sets(NAMES, max_size=2))
def test_fields_outside_a_splice_keep_bytes_and_order(state: pb.State, removed: set[str]) -> None:
    """Kept entries stand as they stood, one after another."""
    entries = [
        pb.State(resources={name: resource}).SerializeToString()
        for name, resource in state.resources.items()
    ]
    kept = [
        entry for name, entry in zip(state.resources, entries, strict=True) if name not in removed
    ]
    payload = NEWER + b"".join(entries)
    assert wire.splice_state(payload, None, {}, removed) == NEWER + b"".join(kept)


@given(RESOURCES, RESOURCES)
def test_splicing_a_resource_keeps_what_a_newer_protocol_added(
    old: pb.Resource, new: pb.Resource
) -> None:
    """The known fields are the new ones', the unknown fields the old one's."""
    spliced = wire.splice_resource(old.SerializeToString() + NEWER, new.SerializeToString())
    assert spliced == new.SerializeToString() + NEWER


@given(OBJECTS, OBJECTS)
def test_splicing_a_struct_is_updating_a_dict(old: Object, changed: Object) -> None:
    """Top-level keys are replaced whole or added."""
    spliced = wire.splice_struct(wire.encode_struct(old), changed)
    assert Struct.FromString(spliced) == to_struct({**old, **changed})
