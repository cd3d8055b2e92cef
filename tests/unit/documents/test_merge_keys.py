"""Merge keys, as the YAML library of Kubernetes reads them: what comes later in a map counts.

What is lenient here was compared with function-go-templating, which reads with that library.
"""

from __future__ import annotations

import pytest

from function_script.documents import read_stream, read_value
from function_script.errors import DocumentError

ANCHORS = "x: &x {a: merged, c: 1, e: null}\nz: &z {a: other, d: 2}\n"
X, XZ = {"a": "merged", "c": 1, "e": None}, {"a": "merged", "c": 1, "d": 2, "e": None}
BEFORE = "the key 'a' is before the << that has it, too: the merged value counts"
TWO = "a second << in one map: both are merged, and the later one counts"

# The map `m`, what it is read as, and what is doubtful about it.
MAPS = [
    pytest.param("{<<: *x, a: own}", {**X, "a": "own"}, [], id="before"),
    pytest.param("{a: own, <<: *x}", X, [BEFORE], id="after"),
    pytest.param("{a: merged, <<: *x}", X, [], id="after-and-equal"),
    pytest.param("{b: own, <<: *x}", {"b": "own", **X}, [], id="after-another"),
    pytest.param("{<<: *x, <<: *z}", {**XZ, "a": "other"}, [TWO], id="two"),
    pytest.param(
        "{<<: *z, a: own, <<: *x, b: 1}", {**XZ, "b": 1}, [TWO, BEFORE], id="two-around-a-key"
    ),
    pytest.param("{<<: [*x, *z]}", XZ, [], id="list"),
    pytest.param("{a: own, <<: [*x, *z], d: 9}", {**XZ, "d": 9}, [BEFORE], id="list-between"),
    pytest.param("{<<: [*x, {a: 4, b: 4}]}", {**X, "b": 4}, [], id="list-with-a-map"),
    pytest.param("{<<: []}", {}, [], id="empty-list"),
    pytest.param("{'<<': *x}", {"<<": X}, [], id="quoted"),
    pytest.param("{a: {deep: 1}, <<: {a: {b: 2}}}", {"a": {"b": 2}}, [BEFORE], id="no-deep-merge"),
    pytest.param("{<<: &w {a: 1}, v: *w}", {"a": 1, "v": {"a": 1}}, [], id="anchor-inside"),
    pytest.param("[{<<: *x, a: 1}, {a: 1}]", [{**X, "a": 1}, {"a": 1}], [], id="in-a-list"),
]


@pytest.mark.parametrize(("text", "value", "doubts"), MAPS)
def test_what_comes_later_counts(text: str, value: object, doubts: list[str]) -> None:
    """For a lenient reader; what YAML itself says otherwise is a doubt."""
    (document,) = read_stream(f"{ANCHORS}m: {text}", lenient=True)
    assert document.value["m"] == value
    assert [error.message for error in document.warnings] == doubts


@pytest.mark.parametrize(("text", "value", "doubts"), MAPS)
def test_what_is_doubtful_is_refused(text: str, value: object, doubts: list[str]) -> None:
    """By every other reader, also one that comes after a lenient one; the rest is read the same."""
    whole = f"{ANCHORS}m: {text}"
    for _ in range(3):
        read_stream(whole, lenient=True)
    if not doubts:
        assert read_stream(whole)[0].value["m"] == value
        return
    with pytest.raises(DocumentError) as caught:
        read_stream(whole)
    (problem,) = caught.value.diagnostics
    assert doubts[0].partition(": ")[0] in problem.message
    assert problem.hint in ("write << before the other keys", "write <<: [*one, *other]")


@pytest.mark.parametrize("text", ["1", "null", "", "[*x, 1]", "[[*x]]", "*list", "*text"])
def test_only_maps_can_be_merged(text: str) -> None:
    """Nor can an alias of a list of maps, which only looks like one."""
    with pytest.raises(DocumentError, match="<< takes a map or a list of maps"):
        read_value(f"{ANCHORS}list: &list [*x]\ntext: &text x\nm: {{<<: {text}}}")
