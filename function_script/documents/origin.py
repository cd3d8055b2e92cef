"""Where the text of a stream comes from: rendered from a template, or written as it is.

Called by the stream reader to give problems the place where their author can mend them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from function_script.diagnostics import Diagnostic
from function_script.documents.errors import TooLargeError, YamlError
from function_script.errors import DocumentError, FatalError, LimitError
from function_script.source import Source, Span, excerpt

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_NOTE_COLUMNS = 160
# What a tag that trims makes of "port: 80" and the "---" below it.
_SWALLOWED = re.compile(r"[^\s-]---$")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOrigin:
    """The text of a stream with either the source it is, or the way back to its template.

    ``locate`` maps a 1-based line of ``text`` to the template's place.
    """

    text: str
    source: Source | None = None
    locate: Callable[[int], Span | None] | None = None

    def span(self, line: int, column: int | None = None) -> Span | None:
        """The author's place of a 1-based line and column.

        In a template it is the line that wrote the text's line, or the very column if that line
        seems to have been written as it is.
        """
        if self.source is not None:
            return Span(name=self.source.name, line=line, column=column)
        span = None if self.locate is None else self.locate(line)
        if span is None or column is None or not self._is_written(line, span):
            return span
        return replace(span, column=column, width=1)

    def _is_written(self, line: int, span: Span) -> bool:
        """Whether a line is as long as the template's ``span``, and begins in the same column."""
        lines = self.text.split("\n")
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        indentation = len(text) - len(text.lstrip())
        return (span.column, span.width) == (indentation + 1, len(text.strip()))

    def error(self, error: YamlError, *, first_line: int, what: str) -> FatalError:
        """The user's problem; ``first_line`` is the 1-based line of the text that was read."""
        line = first_line + error.line
        span = self.span(line, error.column + 1)
        if self.source is not None:
            shown = None if span is None else excerpt(self.source, span)
            message = f"cannot read {what}: {error.message}"
            problem = Diagnostic(message=message, span=span, excerpt=shown, hint=error.hint)
            return _fatal_error(error, problem)
        where = f"line {line}" if self.locate is None else f"line {line} of the rendered text"
        message = f"cannot read {what}, {where}: {error.message}"
        hint = self._swallowed(range(first_line + 1, line + 1)) or error.hint
        problem = Diagnostic(message=message, span=span, hint=hint, notes=self._around(line))
        return _fatal_error(error, problem)

    def _swallowed(self, numbers: range) -> str | None:
        """A hint when a document in lines ``numbers`` goes on where the next should begin."""
        lines = self.text.splitlines()
        for number in numbers:
            if number <= len(lines) and _SWALLOWED.search(lines[number - 1]):
                return (
                    f'line {number} ends in "---", which only begins a document on a line of its '
                    'own: "-" in a tag such as {%- or {{- takes the line break before it'
                )
        return None

    def _around(self, line: int) -> tuple[str, ...]:
        lines = self.text.splitlines()
        shown = range(max(1, line - 1), min(len(lines), line + 1) + 1)
        return tuple(f"rendered {n}: {lines[n - 1][:_MAX_NOTE_COLUMNS]}" for n in shown)


def _fatal_error(error: YamlError, problem: Diagnostic) -> FatalError:
    if isinstance(error, TooLargeError):
        return LimitError(problem, limit=error.limit)
    return DocumentError(problem)
