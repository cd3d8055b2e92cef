"""A changed YAML text: the new value, and the author's lines of what stays."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from function_script import documents
from function_script.documents import editing
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts.source import Source

TEXT = """\
# head
kind: List
items:
# first
- kind: ConfigMap
  metadata:
    name: a   # name
    annotations: {}
  data:
    size: "1" # keep
    # above tier
    tier: 'gold'
    text: |
      # no comment
      line

# second
- kind: ConfigMap
  metadata:
    name: b
"""


def read(text: str) -> Object:
    (document,) = documents.read_source(Source(name="text", text=text))
    return document.value


def change(text: str, path: tuple[str | int, ...], value: object) -> str:
    """Edit a text: the field at ``path`` becomes ``value``; None deletes it."""
    after = json.loads(json.dumps(read(text)))
    parent = after
    for part in path[:-1]:
        parent = parent[part]
    if value is None:
        del parent[path[-1]]
    elif isinstance(parent, list) and path[-1] == len(parent):
        parent.append(value)
    else:
        parent[path[-1]] = value
    result = editing.edit(text, read(text), after)
    assert read(result) == after
    return result


@pytest.mark.parametrize(
    ("path", "value", "before", "after"),
    [
        pytest.param(
            ("items", 0, "data", "size"), "3", 'size: "1" # keep', 'size: "3" # keep', id="scalar"
        ),
        pytest.param(
            ("items", 0, "data", "tier"), None, "    tier: 'gold'\n", "", id="deleted-field"
        ),
        pytest.param(
            ("items", 0, "data", "zone"),
            "x",
            "      line\n",
            "      line\n    zone: x\n",
            id="added-field-after-a-block",
        ),
        pytest.param(
            ("items", 0, "metadata", "annotations"),
            {"q": "r"},
            "annotations: {}",
            "annotations:\n      q: r",
            id="flow-to-block",
        ),
        pytest.param(
            ("items", 0, "data", "text"),
            "# x\nlast\n",
            "# no comment\n      line\n",
            "# x\n      last\n",
            id="literal-block",
        ),
        pytest.param(
            ("items", 1),
            None,
            "- kind: ConfigMap\n  metadata:\n    name: b\n",
            "",
            id="deleted-item",
        ),
        pytest.param(
            ("items", 2),
            {"kind": "Secret"},
            "    name: b\n",
            "    name: b\n- kind: Secret\n",
            id="added-item",
        ),
        pytest.param(
            ("results",),
            [{"message": "x"}],
            "name: b\n",
            "name: b\nresults:\n- message: x\n",
            id="end",
        ),
    ],
)
def test_edit_changes_one_place(
    path: tuple[str | int, ...], value: object, before: str, after: str
) -> None:
    assert TEXT.count(before) == 1
    assert change(TEXT, path, value) == TEXT.replace(before, after)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: &x {b: 1}\nc: *x\nd: 2\n", id="alias"),
        pytest.param("{a: 1, d: 2}\n", id="flow"),
        pytest.param("? d\n: 1\n", id="complex-key"),
        pytest.param("--- # start\nd: 1\n...\n", id="markers"),
        pytest.param('\ufeffd: "1"\n', id="byte-order-mark"),
        pytest.param("d: >\n  a\n  b", id="no-newline"),
        pytest.param("d:\n  - 1\n  -   - 2\n", id="nested-lists"),
        pytest.param("d: 1\r\ne: 2\r\n", id="windows"),
        pytest.param("yes: 1\nd: 1\n", id="key-of-another-type"),
        pytest.param("d:\ne: 1\n", id="empty-value"),
        pytest.param("x: 1\nd:   # why\n  # inner\n  a: 1\n", id="comment-behind-a-key"),
    ],
)
def test_edit_of_any_form_holds_the_new_value(text: str) -> None:
    """`change` reads the result."""
    change(text, ("d",), "new")
    change(text, ("d",), {"a": [1, {"b": None}]})
    change(text, ("z",), "new\nlines\n")


scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab: #-\n'\"|é", max_size=8)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "kind", "a", "b", "c"]), inner, max_size=4)
    ),
    max_leaves=12,
)
maps = st.dictionaries(st.sampled_from(["items", "a", "b"]), values, min_size=1, max_size=3)


@given(before=maps, after=maps)
# Equal in Python, but not in YAML.
@example(before={"a": 1, "b": [0]}, after={"a": True, "b": [False]})
def test_edit_of_any_value_to_any_other_holds_it(before: Object, after: Object) -> None:
    text = documents.to_yaml(before)

    assert objects.is_same(read(editing.edit(text, before, after)), after)


def test_edit_without_a_change_returns_the_text() -> None:
    assert editing.edit(TEXT, read(TEXT), read(TEXT)) is TEXT
