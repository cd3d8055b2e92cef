"""Places in a program's sources, as its author knows them: file or field, line and column.

Called for errors only. Knows texts and positions, and nothing of templates.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from function_script.source import Excerpt, Source, Span, excerpt, span_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.values import Value


class Part(NamedTuple):
    """A piece of a joined text: the name its author knows it by, and its first line."""

    name: str
    line: int


def read_parts(options: Mapping[str, Value]) -> tuple[Part, ...]:
    """What a text was joined from: the option ``parts``, ``[[name, line], …]``."""
    found = options.get("parts")
    pairs = [part for part in found if isinstance(part, list)] if isinstance(found, list) else []
    return tuple(Part(str(name), line) for name, line in pairs if isinstance(line, int))


class Place(NamedTuple):
    """A span, and the source it is in."""

    span: Span
    source: Source

    @property
    def excerpt(self) -> Excerpt | None:
        """The lines around it."""
        return excerpt(self.source, self.span)


def find_place(source: Source, position: int, width: int, parts: tuple[Part, ...]) -> Place:
    """The place of a position, in characters; ``width`` is cut at the end of the line."""
    written = span_at(source, position, width)
    own, line = part_at(source, written.line, parts)
    return Place(replace(written, name=own.name, line=line), own)


def part_at(source: Source, line: int, parts: tuple[Part, ...]) -> tuple[Source, int]:
    """The part that a line of a joined text belongs to, and the line's number in there."""
    if len(parts) < 2:  # noqa: PLR2004 # a single part is the text itself
        return source, line
    part = [part for part in parts if part.line <= line][-1]
    lines = source.text.split("\n")
    following = next((other.line for other in parts if other.line > part.line), len(lines) + 2)
    # The line before the next part joins them.
    text = "\n".join(lines[part.line - 1 : following - 2])
    return Source(name=part.name, text=text), line - part.line + 1
