from __future__ import annotations

import pytest

from function_script.documents import find_embedded_text
from function_script.documents.positions import Path, find_position

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


def _place(text: str, path: Path) -> tuple[int, int, bool]:
    found = find_position(text, path)
    assert found is not None
    return found.line, found.column, found.is_exact


PLACES = [
    pytest.param((), (1, 0, True), id="the-whole"),
    pytest.param(("spec", "pipeline"), (2, 2, True), id="key"),
    pytest.param(("spec", "pipeline", 0), (3, 6, True), id="item"),
    pytest.param(("spec", "pipeline", 0, "input", "on"), (10, 8, True), id="quoted-key"),
    pytest.param(("spec", "pipeline", 1, "input", "script"), (11, 14, True), id="flow"),
    pytest.param(("spec", "pipeline", 1, "input", "true"), (11, 29, True), id="key-by-its-value"),
    pytest.param(("spec", "pipeline", 2, "input"), (2, 2, False), id="index-beyond-the-end"),
    pytest.param(("spec", "typo", "x"), (1, 0, False), id="no-such-key"),
    pytest.param(("spec", "pipeline", "x"), (2, 2, False), id="key-of-a-list"),
    pytest.param(("spec", "pipeline", 0, "step", "x"), (3, 6, False), id="below-a-scalar"),
]


@pytest.mark.parametrize(("path", "expected"), PLACES)
def test_fields_have_places(path: Path, expected: tuple[int, int, bool]) -> None:
    """A path has the place of its key or item, or that of its nearest ancestor."""
    assert _place(TEXT, path) == expected


@pytest.mark.parametrize("text", ["a: [", "null: 1", "", "# only", "a: \ud800"])
def test_what_is_no_yaml_has_no_places(text: str) -> None:
    """Without a way to a field there is no place, and no error either."""
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
def test_places_in_embedded_text_lead_to_the_outer_text(
    text: str, inner: tuple[int, int] | None, outer: tuple[int, int] | None
) -> None:
    """Lines and columns of a script in YAML have exact ones in the file, or none at all."""
    embedding = find_embedded_text(text, ("a",))
    if inner is None:
        assert embedding is None
    else:
        assert embedding is not None
        assert embedding.outer(*inner) == outer


def test_each_character_of_a_script_is_found_in_its_file() -> None:
    """The outer place of every inner character holds that character."""
    embedding = find_embedded_text(TEXT, ("spec", "pipeline", 0, "input", "script"))
    assert embedding is not None
    script = "def main(req):\n\n  return {\n}\n"
    for number, line in enumerate(script.splitlines(), 1):
        for column, character in enumerate(line, 1):
            outer_line, outer_column = embedding.outer(number, column)
            assert outer_column is not None
            assert TEXT.splitlines()[outer_line - 1][outer_column - 1] == character


def test_lines_beyond_the_text_stay_within_it() -> None:
    """An error at the end of a script is shown at its last line; a missing column stays so."""
    embedding = find_embedded_text("a: |\n  x\n  y\nb: 1", ("a",))
    assert embedding is not None
    assert embedding.outer(9) == (3, None)
