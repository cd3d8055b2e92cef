"""The laws of error texts: whatever happens, people and events can read them."""

import operator

from hypothesis import given
from hypothesis import strategies as st

from function_script.texts import diagnostics, source
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.source import Source, Span

# Long ones repeat a few characters: to draw each would take longer than to print them.
TEXTS = st.builds(operator.mul, st.text(max_size=60), st.sampled_from([1, 5, 30]))


@given(st.lists(TEXTS, min_size=1, max_size=3), st.none() | TEXTS)
def test_results_are_one_short_line(messages: list[str], hint: str | None) -> None:
    """A result's message is one line of valid UTF-8 and at most 1,024 bytes."""
    line = diagnostics.to_line(tuple(Diagnostic(message=text, hint=hint) for text in messages))
    assert len(line.encode()) <= diagnostics.MAX_LINE_BYTES
    assert len(line.splitlines()) <= 1


@given(TEXTS, st.integers(0, 50), st.none() | st.integers(1, 300), st.integers(0, 300))
def test_excerpt_of_any_text_can_be_printed(
    text: str, line: int, column: int | None, width: int
) -> None:
    """An excerpt of any text at any place is drawn without raising, in short lines."""
    span = Span(name="script", line=line, column=column, width=width)
    found = source.excerpt(Source(name="script", text=text), span)
    frame = diagnostics.to_frame(Diagnostic(message="cannot read", span=span, excerpt=found))
    assert "cannot read" in frame
    assert "\x1b" not in frame
