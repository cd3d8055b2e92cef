"""Frames: long lines are cut around the caret."""

import pytest

from function_script.texts import diagnostics
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.source import Source, Span, excerpt


def _frame(line: str, column: int, columns: int | None) -> list[str]:
    source = Source(name="inline", text=f"short\n{line}\n")
    span = Span(name="inline", line=2, column=column, width=3)
    problem = Diagnostic(message="m", span=span, excerpt=excerpt(source, span))
    return diagnostics.to_frame(problem, columns=columns).split("\n")


def test_long_line_is_cut_around_the_caret() -> None:
    _, _, _, _, text, caret = _frame("a" * 500 + "BAD" + "c" * 500, 501, columns=60)
    assert len(text) <= 60
    assert text[caret.index("^") :].startswith("BAD")
    assert text.endswith("…")
    assert "| …" in text


def test_long_line_without_a_terminal_has_its_caret() -> None:
    *_, text, caret = _frame("a" * 500 + "BAD", 501, columns=None)
    assert text[caret.index("^") :] == "BAD"


def test_short_line_is_whole() -> None:
    *_, text, caret = _frame("abc BAD def", 5, columns=60)
    assert text == "2 | abc BAD def"
    assert caret == "  |     ^^^"


def test_narrow_terminal_has_room_for_the_caret() -> None:
    *_, above, text, caret = _frame("a" * 100 + "BAD", 101, columns=1)
    assert above == "1 | …"
    assert text[caret.index("^") :].startswith("BAD")


def test_name_of_a_file_cannot_fake_or_colour_lines() -> None:
    span = Span(name="a\x1b[31m\nerror: b.yaml", line=1)
    frame = diagnostics.to_frame(Diagnostic(message="no", span=span))
    assert frame == "error: no\n  --> a[31m error: b.yaml:1"


@pytest.mark.parametrize(
    "value", [f'"{"a" * 500_000}"', f'"{"a b " * 500_000}"', "a" * 500_000], ids=len
)
def test_long_value_leaves_room_for_the_reason_behind_it(value: str) -> None:
    message = f"cannot read {value}: it has no kind"
    line = diagnostics.to_line((Diagnostic(message=message, hint="give it one"),))
    assert line.startswith(f"cannot read {value[:99]}")
    assert line.endswith("it has no kind (give it one)")
