"""Diagnostics on a terminal."""

import io
import re

import pytest

from function_script.texts.diagnostics import Diagnostic, to_frame
from function_script.texts.source import Source, Span, excerpt
from function_script.tools import console

SPAN = Span(name="script", line=2, column=5, width=3)
PROBLEM = Diagnostic(
    message="cannot run it",
    span=SPAN,
    excerpt=excerpt(Source(name="script", text="^^^\ntwo 345\nthree ^^^\n"), SPAN),
    notes=("a note",),
    hint="mend it",
)
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """It is one."""
        return True


COLOURS = [
    pytest.param(Terminal(), {}, True, id="terminal"),
    pytest.param(io.StringIO(), {}, False, id="no-terminal"),
    pytest.param(Terminal(), {"NO_COLOR": "1"}, False, id="refused"),
    pytest.param(Terminal(), {"NO_COLOR": ""}, True, id="empty-refuses-nothing"),
    pytest.param(Terminal(), {"TERM": "dumb"}, False, id="cannot"),
    pytest.param(io.StringIO(), {"FORCE_COLOR": "1"}, True, id="forced"),
    pytest.param(io.StringIO(), {"FORCE_COLOR": "0"}, False, id="not-forced"),
    pytest.param(Terminal(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, id="refused-if-forced"),
]


@pytest.mark.parametrize(("stream", "environment", "expected"), COLOURS)
def test_colours_only_where_they_show(
    stream: io.StringIO, environment: dict[str, str], expected: bool
) -> None:
    assert console.is_colourful(stream, environment) is expected


def test_colours_change_no_text() -> None:
    coloured = console.to_frame(PROBLEM, colourful=True)
    assert _ESCAPE.sub("", coloured) == to_frame(PROBLEM)
    assert coloured.startswith("\x1b[1;31merror:\x1b[0m")
    assert "\x1b[1;31m    ^^^\x1b[0m" in coloured


def test_source_is_not_painted() -> None:
    """Only the underline is red, not what looks like one in the source."""
    coloured = console.to_frame(PROBLEM, colourful=True).splitlines()
    assert any(line.endswith("three ^^^") for line in coloured)
    assert any(line.endswith("\x1b[0m ^^^") for line in coloured)


def test_lines_are_folded_below_their_last_column() -> None:
    text = "name: list\n\n  a: the first one of them\n  a name  a longer text\n"
    folded = "name: list\n\n  a: the first one\n  of them\n  a name  a longer\n          text\n"
    assert console.fold(text, 20) == folded
    assert console.fold(text, None) == text
