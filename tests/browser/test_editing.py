"""The editor of the playground does what editors do."""

import pytest
from browser.browser import Browser
from browser.pages import open_file, put_text, read_marked, read_text, select

HEAD = "spec:\n  input:\n    kind: StarlarkScript\n    script: |\n"
JINJA = "spec:\n  input:\n    kind: JinjaTemplate\n    inline: |\n"
GO = "spec:\n  input:\n    kind: GoTemplate\n    inline:\n      template: |\n"
FOUR = HEAD + "      def one(a):\n          if a:\n              return 1\n"
TWO = HEAD + "      def one(a):\n        if a:\n          return 1\n"
FLUSH = "      {% if a %}\n      a: 1\n      {% endif %}\n"
DEEP = "      {% if a %}\n        a: 1\n      {% endif %}\n"


@pytest.mark.parametrize(
    ("before", "indent"),
    [
        pytest.param(FOUR + "      def main(req):", 10, id="script-of-4"),
        pytest.param(TWO + "      def main(req):", 8, id="script-of-2"),
        pytest.param(HEAD + "      def main(req):", 10, id="new-script"),
        pytest.param(FOUR + "      def main(req):  # begins: here", 10, id="comment-after-it"),
        pytest.param(FOUR + '          a = {"b": [', 14, id="bracket"),
        pytest.param(FOUR + '          a = "#:"', 10, id="text-with-a-colon"),
        pytest.param(FOUR + "          # note:", 10, id="comment"),
        pytest.param(FOUR + "          return a", 10, id="statement"),
        pytest.param("spec:", 2, id="yaml-key"),
        pytest.param("spec:\n    a: 1\nstatus:", 4, id="yaml-of-4"),
        pytest.param("spec:\n  a: 1", 2, id="yaml-value"),
        pytest.param("steps:\n- step: a\n- input:", 4, id="yaml-key-in-a-list"),
        pytest.param("spec:\n  script: |", 4, id="yaml-block"),
        pytest.param("  # note:", 2, id="yaml-comment"),
        pytest.param("a: http://b", 0, id="yaml-address"),
        pytest.param(JINJA + "      {% for i in x %}", 8, id="jinja-block"),
        pytest.param(JINJA + DEEP + "      {%- for i in x -%}", 8, id="jinja-text-that-indents"),
        pytest.param(JINJA + FLUSH + "      {% for i in x %}", 6, id="jinja-text-that-does-not"),
        pytest.param(JINJA + "      {% set a = 1 %}", 6, id="jinja-statement"),
        pytest.param(JINJA + "      a: {{ b }}", 6, id="jinja-expression"),
        pytest.param(GO + "        {{- if .a }}", 10, id="go-block"),
        pytest.param(GO + "        {{- range $i := .a }}", 10, id="go-range"),
        pytest.param(GO + "        {{- $a := 1 }}", 8, id="go-variable"),
        pytest.param(GO + "        {{- end }}", 8, id="go-end"),
    ],
)
def test_enter_indents_as_the_text_does(page: Browser, before: str, indent: int) -> None:
    put_text(page, before + "‸")
    page.press("Enter")
    assert read_marked(page) == f"{before}\n{' ' * indent}‸"


@pytest.mark.parametrize(
    ("keys", "before", "after"),
    [
        pytest.param(
            ("Tab",), "a:\n  ‸b: 1\n  c‸: 2\n", "a:\n    ‸b: 1\n    c‸: 2\n", id="indents"
        ),
        pytest.param(("Tab",), "a:\n  b‸: 1‸\n", "a:\n    b‸: 1‸\n", id="indents-one-line"),
        pytest.param(
            ("Tab",), "‸a: 1\n\nb: 2\n‸c: 3", "  ‸a: 1\n\n  b: 2\n‸c: 3", id="whole-lines"
        ),
        pytest.param(("Tab",), "a:\n‸b: 1", "a:\n  ‸b: 1", id="inserts-blanks"),
        pytest.param(("Tab",), HEAD + "‸      a‸", HEAD + "    ‸      a‸", id="by-4-in-a-script"),
        pytest.param(("Tab", "Shift"), "a:\n  ‸b: 1\n  c‸: 2", "a:\n‸b: 1\nc‸: 2", id="un-indents"),
        pytest.param(("Tab", "Shift"), "a:\n  b: 1‸", "a:\nb: 1‸", id="un-indents-at-the-caret"),
        pytest.param(
            ("Tab", "Shift"), "‸a: 1\nb‸: 2", "‸a: 1\nb‸: 2", id="leaves-what-has-no-indent"
        ),
        pytest.param(("Tab", "Shift"), "a:\n ‸b: 1", "a:\n‸b: 1", id="takes-blanks-only"),
        pytest.param(("Enter",), "a:\n  b‸: 1", "a:\n  b\n  ‸: 1", id="enter-in-a-line"),
        pytest.param(("Enter",), "a:\n ‸   b: 1", "a:\n \n ‸   b: 1", id="enter-in-an-indent"),
    ],
)
def test_tab_and_enter_delete_nothing(
    page: Browser, keys: tuple[str, ...], before: str, after: str
) -> None:
    put_text(page, before)
    page.press(*keys)
    assert read_marked(page) == after


def test_undo_and_redo_follow_every_key(page: Browser) -> None:
    put_text(page, "a:‸")
    page.press("Enter")
    page.type("b: 1")
    page.press("Tab", "Shift")
    assert read_text(page) == "a:\nb: 1"
    for text in ("a:\n  b: 1", "a:\n  ", "a:"):
        page.press("z", "Control")
        assert read_text(page) == text
    page.press("y", "Control")
    page.press("z", "Control", "Shift")
    assert read_text(page) == "a:\n  b: 1"


def test_undo_stays_in_its_file(page: Browser) -> None:
    original = read_text(page)
    select(page, 0, 0)
    page.type("# note\n")
    open_file(page, "xr.yaml")
    xr = read_text(page)
    select(page, 0, 0)
    page.type("# xr\n")
    for _ in range(3):
        page.press("z", "Control")
    assert read_text(page) == xr
    open_file(page, "composition.yaml")
    assert read_text(page) == "# note\n" + original
    select(page, 0, 0)
    page.press("z", "Control")
    assert read_text(page) == original


def test_escape_lets_tab_leave(page: Browser) -> None:
    put_text(page, "a:\n‸b: 1")
    page.press("Escape")
    page.press("Tab")
    assert read_text(page) == "a:\nb: 1"
    assert page.evaluate("document.activeElement.tagName") != "TEXTAREA"


def test_escape_is_over_with_the_next_key(page: Browser) -> None:
    put_text(page, "a:\n‸b: 1")
    page.press("Escape")
    page.press("ArrowRight")
    page.press("Tab")
    assert read_text(page) == "a:\nb  : 1"
