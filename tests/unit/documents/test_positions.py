"""Positions of fields in YAML, and of lines of embedded texts."""

import pytest

from function_script.documents import find_embedded_text
from function_script.documents.positions import find_position, list_positions
from function_script.request.objects import Path

TEXT = """\
# a composition
spec:
  pipeline:
    - step: one
      input:
        script: |
          def main(req):

            return {
          }
        "on": 'quoted'
    - input: {script: plain, on: "a\\tb"}
"""


def _position(text: str, path: Path) -> tuple[int, int, int, bool]:
    position = find_position(text, path)
    assert position is not None
    return position.line, position.column, position.width, position.is_exact


POSITIONS = [
    pytest.param((), (1, 0, 1, True), id="the-whole"),
    pytest.param(("spec", "pipeline"), (2, 2, 8, True), id="key"),
    pytest.param(("spec", "pipeline", 0), (3, 6, 1, True), id="item"),
    pytest.param(("spec", "pipeline", 0, "input", "on"), (10, 8, 4, True), id="quoted-key"),
    pytest.param(("spec", "pipeline", 1, "input", "script"), (11, 14, 6, True), id="flow"),
    pytest.param(("spec", "pipeline", 1, "input", "true"), (11, 29, 2, True), id="by-its-value"),
    pytest.param(("spec", "pipeline", 2, "input"), (2, 2, 8, False), id="index-beyond-the-end"),
    pytest.param(("spec", "typo", "x"), (1, 0, 4, False), id="no-such-key"),
    pytest.param(("spec", "pipeline", "x"), (2, 2, 8, False), id="key-of-a-list"),
    pytest.param(("spec", "pipeline", 0, "step", "x"), (3, 6, 4, False), id="below-a-scalar"),
]


@pytest.mark.parametrize(("path", "expected"), POSITIONS)
def test_position_of_path_is_its_key_or_nearest_ancestor(
    path: Path, expected: tuple[int, int, int, bool]
) -> None:
    assert _position(TEXT, path) == expected


@pytest.mark.parametrize("text", ["a: [", "null: 1", "", "# only", "a: \ud800"])
def test_position_in_invalid_yaml_is_none(text: str) -> None:
    assert find_position(text, ("c",)) is None


EMBEDDINGS = [
    pytest.param("a: |\n  x\n  y", (2, 3), (3, 5), id="literal"),
    pytest.param("a: |-  # c\n    x\n\n      y", (4, 3), (4, 7), id="comment-and-blank-line"),
    pytest.param("a: |2\n    x\n  y", (2, 1), (3, 3), id="indentation-indicator"),
    pytest.param("a: |\n\n\n  x\n", (3, 1), (4, 3), id="blank-lines-first"),
    pytest.param("a: |+\r\n  x\r\n  y\r\n", (2, 1), (3, 3), id="crlf"),
    pytest.param("- a: 1\n", None, None, id="no-such-field"),
    pytest.param("a: plain text", (1, 7), (1, 10), id="plain"),
    pytest.param("a:\n  plain", (1, 1), (2, 3), id="plain-on-the-next-line"),
    pytest.param("a: 'quoted'", (1, 1), (1, 5), id="single-quoted"),
    pytest.param('a: "quoted"', (1, 1), (1, 5), id="double-quoted"),
    pytest.param("a: 'it''s'", None, None, id="single-quoted-escape"),
    pytest.param('a: "x\\ny"', None, None, id="double-quoted-escape"),
    pytest.param("a: x\n  y", None, None, id="plain-over-lines"),
    pytest.param("a: >\n  x\n  y", None, None, id="folded"),
    pytest.param("a: >-\n  >-", None, None, id="folded-that-looks-plain"),
    pytest.param("a: {b: 1}", None, None, id="map"),
    pytest.param("a: |\n\n", None, None, id="blank-only"),
]


@pytest.mark.parametrize(("text", "inner", "outer"), EMBEDDINGS)
def test_embedded_text_maps_positions_to_outer_text(
    text: str, inner: tuple[int, int] | None, outer: tuple[int, int] | None
) -> None:
    embedding = find_embedded_text(text, ("a",))
    if inner is None:
        assert embedding is None
    else:
        assert embedding is not None
        assert embedding.outer(*inner) == outer


def test_embedded_text_maps_each_character_of_a_script() -> None:
    embedding = find_embedded_text(TEXT, ("spec", "pipeline", 0, "input", "script"))
    assert embedding is not None
    script = "def main(req):\n\n  return {\n}\n"
    for number, line in enumerate(script.splitlines(), 1):
        for column, character in enumerate(line, 1):
            outer_line, outer_column = embedding.outer(number, column)
            assert outer_column is not None
            assert TEXT.splitlines()[outer_line - 1][outer_column - 1] == character


def test_embedded_text_maps_later_lines_to_its_last() -> None:
    embedding = find_embedded_text("a: |\n  x\n  y\nb: 1", ("a",))
    assert embedding is not None
    assert embedding.outer(9) == (3, None)


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb: {c: [1, {d: 2}], e: []}\n'f g':\n- - x\n  - y\n- {}\n",
        '{"a": [{"b": null}, "c"], "d": {"e": 1}}',
        "a: &x {b: 1}\nc: *x\non: |\n  text\n~: 1\n"[:-5],
        "- 1\n",
        "text",
    ],
)
def test_list_of_positions_has_what_is_found_for_each_path(text: str) -> None:
    positions = list_positions(text)
    assert positions
    for path, position in positions.items():
        single = find_position(text, path)
        assert single is not None
        assert single.is_exact
        assert (single.line, single.column) == (position.line, position.column)


@pytest.mark.parametrize("text", ["", "a: [", "~: 1"])
def test_list_of_positions_of_what_is_no_yaml_is_empty(text: str) -> None:
    assert list_positions(text) == {}
