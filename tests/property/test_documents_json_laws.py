"""For JSON, `json_objects` and `kubernetes_yaml` read the same value, also with duplicate keys."""

import json
from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st
from support.example_counts import examples

from function_script.documents.errors import YamlError
from function_script.documents.json_objects import parse_object
from function_script.documents.kubernetes_yaml import parse

NODES, DEPTH = 60, 8
KEYS = st.sampled_from(["a", "b", "on", "1", "<<", "x y", "\u00e9", "\\"])
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"], max_codepoint=0xFFFF)).filter(
    str.isprintable
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)


def to_text(members: Sequence[tuple[str, str]]) -> str:
    """Return a JSON object with these members, whose values are JSON; keys may be repeated."""
    return "{" + ", ".join(f"{json.dumps(key)}: {value}" for key, value in members) + "}"


MEMBERS = st.recursive(
    SCALARS.map(json.dumps),
    lambda below: (
        st.lists(below, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(st.tuples(KEYS, below), max_size=4).map(to_text)
    ),
    max_leaves=8,
)
OBJECTS = st.lists(st.tuples(KEYS, MEMBERS), max_size=4).map(to_text)


@given(text=OBJECTS, after=st.sampled_from(["", "\n", " {}", "\n---\na: b"]))
@example(text='{"a": 1, "a": {"b": 1, "b": 2}}', after="")
@example(text='{"a": {"b": 1}, "a": {"c": 2}}', after="{}")
@example(text='{"n": 18446744073709551616}', after="")
@examples(75)
def test_json_objects_equals_kubernetes_yaml(text: str, after: str) -> None:
    """Value, size and warnings are the same, if the slower reader accepts the text."""
    warnings: list[YamlError] = []
    expected_warnings: list[YamlError] = []
    try:
        expected = parse(text, nodes=NODES, depth=DEPTH, warnings=expected_warnings)
    except YamlError:
        return
    parsed = parse_object(text + after, 0, nodes=NODES, depth=DEPTH, warnings=warnings)
    assert parsed is not None
    assert expected is not None
    document, end = parsed
    assert end == len(text)
    assert json.dumps(document.value, sort_keys=True) == json.dumps(expected.value, sort_keys=True)
    assert [str(warning) for warning in warnings] == [str(warning) for warning in expected_warnings]
    if not warnings:
        assert (document.nodes, document.depth) == (expected.nodes, expected.depth)
