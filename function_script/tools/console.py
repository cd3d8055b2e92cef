"""Diagnostics as text for terminals: frames, in colour where the terminal supports it."""

import json
import os
import re
import shutil
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TextIO, TypeAlias

from function_script.request.values import Readable
from function_script.texts import diagnostics

RED: Final = "\x1b[1;31m"
_YELLOW: Final = "\x1b[1;33m"
_BLUE: Final = "\x1b[1;34m"
_BOLD: Final = "\x1b[1m"
GREEN: Final = "\x1b[32m"
_DARK_RED: Final = "\x1b[31m"
_CYAN: Final = "\x1b[36m"
PLAIN: Final = "\x1b[0m"

# A problem of a report, behind a word of ours.
Entry: TypeAlias = tuple[str, diagnostics.Diagnostic]

# A platform's limit, less what is around the report.
_MAX_COMMENT: Final = 60_000
_MAX_NAMES: Final = 3
# The part of a line before its last column: its indentation, and the names of a table.
_MARGIN: Final = re.compile(r" *(?:\S+(?: \S+)*  +)?")
_COLOURS: Final = {"error": RED, "warning": _YELLOW}


def is_colourful(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Report whether to use colours: on a capable terminal, unless a variable decides.

    NO_COLOR turns them off, and FORCE_COLOR, but not 0, turns them on where nothing is a terminal.
    """
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in {"", "0"}:
        return True
    return environment.get("TERM") != "dumb" and stream.isatty()


def columns_of(stream: TextIO) -> int | None:
    """Return the width of a terminal; None for a file or a pipe, which has room for any line."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def fold(text: str, columns: int | None) -> str:
    """Break longer lines at blanks, and go on below the last column of the line."""
    if columns is None:
        return text
    lines = []
    for line in text.split("\n"):
        margin = _MARGIN.match(line)
        width = margin.end() if margin else 0
        indent = " " * (width if width <= columns // 2 else 4)
        lines += textwrap.wrap(
            line,
            columns,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [line]
    return "\n".join(lines)


def to_frame(
    problem: diagnostics.Diagnostic,
    severity: str = "error",
    columns: int | None = None,
    *,
    colourful: bool = False,
) -> str:
    """Return a problem's frame: its title, margins and underlines may have colours."""
    if not colourful:
        return diagnostics.to_frame(problem, severity, columns)
    (title, message, _), *others = diagnostics.draw_frame(problem, severity, columns)
    lines = [f"{_COLOURS.get(severity, _BOLD)}{title}{PLAIN}{_BOLD}{message}{PLAIN}"]
    for margin, text, is_mark in others:
        lines.append(f"{_BLUE}{margin}{PLAIN}{f'{RED}{text}{PLAIN}' if is_mark else text}")
    return "\n".join(lines)


def one_line(text: str) -> str:
    """Return a foreign name that can neither fake lines of a report nor colour them."""
    return " ".join(diagnostics.CONTROL.sub("", text).split())


def count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 XR``, ``2 XRs``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def cut_names(names: Sequence[str]) -> list[str]:
    """Return the first names of a report's entry, and the number of the others."""
    others = len(names) - _MAX_NAMES
    return [*names[:_MAX_NAMES], f"and {others} more"] if others > 0 else [*names]


def to_short(value: Readable, characters: int) -> str:
    """Return a value as JSON, cut after so many characters; None is a value that is not there."""
    if value is None:
        return "absent"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= characters else f"{text[:characters]}…"


def to_code(text: str) -> str:
    """Return a foreign text as code in Markdown, where nothing in it has a meaning."""
    plain = one_line(text).replace("`", "'")
    return f"`{plain}`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The report of a command, in three formats.

    ``summary`` are its last lines, and ``value`` is the rest of the object in JSON. A text has
    paragraphs before and behind the entries, and a comment in Markdown has lines there.
    """

    entries: Sequence[Entry]
    summary: Sequence[str]
    value: Mapping[str, object]
    head: Sequence[str] = ()
    details: Sequence[str] = ()
    markdown_head: Sequence[str] = ()
    markdown_end: Sequence[str] = ()

    def write(self, output: Literal["text", "json", "markdown"], columns: int | None) -> str:
        """Return the report in a format; a text fits into so many ``columns``."""
        if output == "json":
            value = {**self.value, "summary": [*self.summary]}
            return json.dumps(value, indent=2, ensure_ascii=False)
        if output == "markdown":
            return "\n".join([*self._list_lines(), *self.markdown_end])
        frames = [diagnostics.to_frame(each, word, columns) for word, each in self.entries]
        return "\n\n".join([*self.head, *frames, *self.details, "\n".join(self.summary)])

    def _list_lines(self) -> list[str]:
        """Return the lines of a comment before its end, without those beyond its limit."""
        lines = [*self.markdown_head]
        for word, problem in self.entries:
            place = "" if problem.span is None else f" {to_code(str(problem.span))}"
            lines.append(f"- **{word}**{place}: {to_code(problem.message)}")
            hints = [] if problem.hint is None else [f"hint: {problem.hint}"]
            lines += (f"  - {to_code(str(note))}" for note in (*problem.notes, *hints))
        size = 0
        for number, line in enumerate(lines):
            size += len(line) + 1
            if size > _MAX_COMMENT:
                return [*lines[:number], f"\n{len(lines) - number} lines are left out."]
        return lines


def colour_diff(text: str) -> str:
    """Return a unified diff in colour."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line.startswith("@@"):
            lines[number] = f"{_CYAN}{line}{PLAIN}"
        elif line.startswith(("+", "-")) and not line.startswith(("+++", "---")):
            lines[number] = f"{GREEN if line.startswith('+') else _DARK_RED}{line}{PLAIN}"
    return "\n".join(lines)
