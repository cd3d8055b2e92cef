"""Positions in a program's sources, as its author knows them: file or field, line and column."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from function_script.request.values import Value
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.source import Excerpt, Source, Span, excerpt, span_at


class SourcePart(NamedTuple):
    """A part of a joined text: the name its author knows it by, and its first line."""

    name: str
    line: int


def read_source_parts(options: Mapping[str, Value]) -> tuple[SourcePart, ...]:
    """Read the parts of a joined text from the option ``parts``, ``[[name, line], …]``."""
    entries = options.get("parts")
    pairs = (
        [part for part in entries if isinstance(part, list)] if isinstance(entries, list) else []
    )
    return tuple(SourcePart(str(name), line) for name, line in pairs if isinstance(line, int))


class Finding(NamedTuple):
    """A problem with a part of a source, in characters, and a hint."""

    position: int
    width: int
    message: str
    hint: str

    def to_diagnostic(self, source: Source, parts: tuple[SourcePart, ...]) -> Diagnostic:
        """Return it with its place as the author knows it."""
        place = find_span(source, self.position, self.width, parts)
        return Diagnostic(
            message=self.message, span=place.span, excerpt=place.excerpt, hint=self.hint
        )


class SourceSpan(NamedTuple):
    """A span and the source it is in."""

    span: Span
    source: Source

    @property
    def excerpt(self) -> Excerpt | None:
        """The lines around it."""
        return excerpt(self.source, self.span)


def find_span(
    source: Source, position: int, width: int, parts: tuple[SourcePart, ...]
) -> SourceSpan:
    """Return the span at a position, in characters; ``width`` is cut at the end of the line."""
    span = span_at(source, position, width)
    own, line = find_part(source, span.line, parts)
    return SourceSpan(replace(span, name=own.name, line=line), own)


def find_part(source: Source, line: int, parts: tuple[SourcePart, ...]) -> tuple[Source, int]:
    """Return the part that a line of a joined text belongs to, and the line's number in it."""
    if len(parts) < 2:  # noqa: PLR2004 # a single part is the text itself
        return source, line
    part = [part for part in parts if part.line <= line][-1]
    lines = source.text.split("\n")
    following = next((other.line for other in parts if other.line > part.line), len(lines) + 2)
    # The line before the next part joins them.
    text = "\n".join(lines[part.line - 1 : following - 2])
    return Source(name=part.name, text=text), line - part.line + 1
