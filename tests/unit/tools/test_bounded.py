"""JSON that is read in parts: the same values and errors as when it is read at once."""

import io
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function_script.tools import bounded
from function_script.tools.plan import dump

SCALARS = st.none() | st.booleans() | st.integers() | st.text() | st.floats(-1e300, 1e300)
VALUES = st.recursive(
    SCALARS, lambda below: st.lists(below) | st.dictionaries(st.text(), below), max_leaves=4
)
LISTS = st.lists(VALUES, max_size=4) | st.builds(
    lambda items, others: {**others, "items": items},
    st.lists(VALUES, max_size=4),
    st.dictionaries(st.sampled_from(["kind", "apiVersion", "metadata"]), VALUES),
)


def read(text: str, part_size: int) -> object:
    """Return the items of a list, or the text of the error."""
    try:
        return [*bounded.JsonReader(io.StringIO(text).read, part_size).read_items()]
    except ValueError as error:
        return str(error)


@given(value=LISTS, indent=st.sampled_from([None, 1]), part_size=st.integers(1, 9))
def test_items_of_parts_are_those_of_the_whole(
    value: object, indent: int | None, part_size: int
) -> None:
    text = json.dumps(value, indent=indent)
    items = value["items"] if isinstance(value, dict) else value
    assert read(text, part_size) == items


@given(value=LISTS, part_size=st.integers(1, 9), data=st.data())
def test_error_of_parts_is_that_of_the_whole(
    value: object, part_size: int, data: st.DataObject
) -> None:
    """A text that is cut, or has one character more: the line and column are the same."""
    text = json.dumps(value, indent=1)
    end = data.draw(st.integers(1, len(text) - 1))
    more = data.draw(st.sampled_from(["", "]", "}", ",", "x", '"', "NaN"]))
    broken = text[:end] + more
    assert read(broken, part_size) == read(broken, len(broken) + 1)


ERRORS = {
    "cut": ('[{"a": 1}', "it is not JSON: Expecting ']': line 1 column 10"),
    "comma": ('{"items": [\n{}\n {}]}', "it is not JSON: Expecting ']': line 3 column 2"),
    "key": ("{1: 2}", "it is not JSON: Expecting property name: line 1 column 3"),
    "colon": ('{"a" 1}', "it is not JSON: Expecting ':': line 1 column 6"),
    "two values": ("[]\n[]", "it is not JSON: Extra data: line 2 column 1"),
    "constant": ("[NaN]", "it is not JSON: NaN is not a JSON value"),
    "half of a pair": ('["\\ud800"]', "a string in it has half of a surrogate pair"),
    "depth": (f"[{'[' * 201}{']' * 201}]", "it is nested more than 200 levels deep"),
}


@pytest.mark.parametrize(("text", "message"), ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize("part_size", [1, 1_000])
def test_error_names_line_and_column(text: str, message: str, part_size: int) -> None:
    assert read(text, part_size) == message


def test_dump_takes_less_memory_than_its_text(tmp_path: Path) -> None:
    """`kubectl get -o json` indents by four, and managedFields are deep."""
    fields: object = {}
    for level in range(20):
        fields = {f"f:level-{level}": fields, f"f:other-{level}": {}}
    fields_of_all = [{"manager": "kubectl", "fieldsV1": fields}]
    items = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"n{number}", "managedFields": fields_of_all},
        }
        for number in range(700)
    ]
    file = tmp_path / "dump.json"
    file.write_text(json.dumps({"kind": "List", "items": items}, indent=4))
    tracemalloc.start()
    try:
        cluster = dump.load(file)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert cluster[("", "ConfigMap", "", "n699")] == items[-1]
    size = file.stat().st_size
    # The text and its decoded objects take three times as much.
    assert peak < size, (peak, size)
