"""The laws of merging: what holds for every desired state and every contribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from support.builders import request

from function_script import desired, wire
from function_script.contribution import Composite, Contribution, DesiredResource
from function_script.proto.v1 import run_function_pb2 as pb

if TYPE_CHECKING:
    from function_script.values import Object

NAMES = st.text(min_size=1, max_size=8)
SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not x.is_integer()),
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
    """A composed resource with that spec."""
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
    """A request whose desired state holds these composed resources."""
    resources = {name: {"resource": resource(spec)} for name, spec in state.items()}
    return request(desired={"resources": resources} if resources else {})


def merged(message: pb.RunFunctionRequest, wanted: Contribution) -> pb.State:
    """Desired state after the contribution, as protobuf reads it."""
    payload = desired.merge(wire.index_request(message.SerializeToString()), wanted)
    return pb.State.FromString(payload or b"")


@given(STATES)
def test_nothing_wanted_changes_nothing(state: dict[str, Object]) -> None:
    """Merging the empty contribution is the identity, to the byte."""
    message = sent(state)
    indexed = wire.index_request(message.SerializeToString())
    before = indexed.desired.payload if indexed.desired is not None else None
    assert desired.merge(indexed, Contribution()) == before


@given(STATES, CONTRIBUTIONS)
def test_merging_twice_is_merging_once(state: dict[str, Object], wanted: Contribution) -> None:
    """A contribution merged into its own result changes nothing more."""
    message = sent(state)
    once = merged(message, wanted)
    again = pb.RunFunctionRequest()
    again.CopyFrom(message)
    again.desired.CopyFrom(once)
    assert merged(again, wanted) == once


@given(STATES, CONTRIBUTIONS, CONTRIBUTIONS)
def test_disjoint_contributions_commute(
    state: dict[str, Object], first: Contribution, second: Contribution
) -> None:
    """Two contributions that speak of different resources may be merged in either order."""
    others = {k: v for k, v in second.composed.items() if k not in first.composed}
    second = Contribution(composed=others)
    message = sent(state)

    def both(one: Contribution, two: Contribution) -> pb.State:
        between = pb.RunFunctionRequest()
        between.CopyFrom(message)
        between.desired.CopyFrom(merged(message, one))
        return merged(between, two)

    assert both(first, second) == both(second, first)


@given(STATES, CONTRIBUTIONS)
def test_unmentioned_resources_are_identical(
    state: dict[str, Object], wanted: Contribution
) -> None:
    """Resources the contribution does not name come out as they went in."""
    message = sent(state)
    after = merged(message, wanted)
    for name in state:
        if name not in wanted.composed:
            assert after.resources[name] == message.desired.resources[name]
    assert set(after.resources) == set(state) | set(wanted.composed)


@given(STATES, CONTRIBUTIONS)
def test_the_same_input_gives_the_same_bytes(
    state: dict[str, Object], wanted: Contribution
) -> None:
    """Merging is deterministic."""
    data = wire.index_request(sent(state).SerializeToString())
    assert desired.merge(data, wanted) == desired.merge(data, wanted)
