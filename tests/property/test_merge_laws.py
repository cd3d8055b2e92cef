"""The laws of `desired.merge`, for any desired state and any contribution."""

from hypothesis import given
from hypothesis import strategies as st
from support.builders import request

from function_script import wire
from function_script.contribution import Composite, Contribution, DesiredResource
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object
from function_script.step import desired

NAMES = st.text(min_size=1, max_size=8)
SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**53), 2**53),
    # An integer has no other form in a manifest.
    st.floats(allow_nan=False, allow_infinity=False).map(lambda x: 0.5 if x.is_integer() else x),
    st.text(max_size=8),
)
VALUES = st.recursive(
    SCALARS,
    lambda below: st.one_of(
        st.lists(below, max_size=3), st.dictionaries(st.text(max_size=5), below, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)
READY = st.sampled_from([None, 0, 1, 2])


def resource(spec: Object) -> Object:
    """Return a composed resource with that spec."""
    return {"apiVersion": "example.org/v1", "kind": "Thing", "spec": spec}


STATES = st.dictionaries(NAMES, OBJECTS, max_size=4)
CONTRIBUTIONS = st.builds(
    lambda entries, status: Contribution(
        composed={
            name: DesiredResource(resource=resource(spec), ready=ready, replace=replace)
            for name, (spec, ready, replace) in entries.items()
        },
        composite=Composite(status=status),
    ),
    st.dictionaries(NAMES, st.tuples(OBJECTS, READY, st.booleans()), max_size=4),
    st.none() | OBJECTS,
)


def sent(state: dict[str, Object]) -> pb.RunFunctionRequest:
    """Return a request whose desired state holds these composed resources."""
    resources = {name: {"resource": resource(spec)} for name, spec in state.items()}
    return request(desired={"resources": resources} if resources else {})


def merged(message: pb.RunFunctionRequest, contribution: Contribution) -> pb.State:
    """Return the desired state after the contribution, parsed by protobuf."""
    payload = desired.merge(wire.index_request(message.SerializeToString()), contribution)
    return pb.State.FromString(payload or b"")


@given(STATES)
def test_merge_of_empty_contribution_is_identity(state: dict[str, Object]) -> None:
    """To the byte."""
    message = sent(state)
    indexed = wire.index_request(message.SerializeToString())
    before = indexed.desired.payload if indexed.desired is not None else None
    assert desired.merge(indexed, Contribution()) == before


@given(STATES, CONTRIBUTIONS)
def test_merge_is_idempotent_and_leaves_other_resources_identical(
    state: dict[str, Object], contribution: Contribution
) -> None:
    message = sent(state)
    indexed = wire.index_request(message.SerializeToString())
    payload = desired.merge(indexed, contribution)
    assert desired.merge(indexed, contribution) == payload
    once = pb.State.FromString(payload or b"")
    for name in state:
        if name not in contribution.composed:
            assert once.resources[name] == message.desired.resources[name]
    assert set(once.resources) == set(state) | set(contribution.composed)
    again = pb.RunFunctionRequest()
    again.CopyFrom(message)
    again.desired.CopyFrom(once)
    assert merged(again, contribution) == once


@given(STATES, CONTRIBUTIONS, CONTRIBUTIONS)
def test_merge_of_disjoint_contributions_commutes(
    state: dict[str, Object], first: Contribution, second: Contribution
) -> None:
    others = {k: v for k, v in second.composed.items() if k not in first.composed}
    second = Contribution(composed=others)
    message = sent(state)

    def both(one: Contribution, two: Contribution) -> pb.State:
        between = pb.RunFunctionRequest()
        between.CopyFrom(message)
        between.desired.CopyFrom(merged(message, one))
        return merged(between, two)

    assert both(first, second) == both(second, first)
