"""Where things stand in a YAML text: the place of a field, and of each line of a block of text.

Called on errors and by the tools only; reads the text again, so that reading it the first time
costs nothing for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import yaml
from yaml.events import (
    CollectionEndEvent,
    CollectionStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from function_script.documents.composer import events, key_text, place
from function_script.documents.errors import YamlError

if TYPE_CHECKING:
    from collections.abc import Callable

# Keys of maps and indices of lists, from the outside in.
Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where the field at a path begins: its key in a map, else its value. Both are 0-based.

    ``is_exact`` is false when the path leads nowhere and this is its nearest ancestor.
    """

    line: int
    column: int
    value: Event
    is_exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedText:
    """A text that stands in a YAML text line by line, as the literal block of a script does.

    ``first_line`` (1-based) is the outer line of the inner line 1, of ``lines`` in all; inner
    columns are shifted by ``indentation`` characters.
    """

    first_line: int
    indentation: int
    lines: int

    def outer(self, line: int, column: int | None = None) -> tuple[int, int | None]:
        """The outer line and column of an inner place, all 1-based."""
        inner = min(max(line, 1), self.lines)
        return self.first_line + inner - 1, None if column is None else column + self.indentation


def find_place(text: str, path: Path) -> Position | None:
    """The place of ``path``, or of its nearest ancestor; None for a text that is not YAML."""
    try:
        return _Finder(text).find(path)
    except (yaml.YAMLError, YamlError, UnicodeEncodeError):
        return None


def find_embedding(text: str, path: Path) -> EmbeddedText | None:
    """How the lines of the string at ``path`` stand in ``text``.

    None when there is no string, or its lines do not stand there one by one: folded blocks,
    quoted text over several lines or with escapes.
    """
    found = find_place(text, path)
    if found is None or not found.is_exact or not isinstance(found.value, ScalarEvent):
        return None
    scalar = found.value
    line, column = place(scalar)
    if scalar.style == "|":
        return _literal(text, scalar.value, line + 1)
    if scalar.style == ">":
        return None
    return _one_line(text, scalar, line, column)


def _literal(text: str, value: str, first: int) -> EmbeddedText | None:
    outer, inner = text.splitlines(), value.splitlines()
    for number, content in enumerate(inner):
        # The first line with content shows how far all are indented.
        if content.strip() and first + number < len(outer):
            indentation = len(outer[first + number]) - len(content)
            return EmbeddedText(first_line=first + 1, indentation=indentation, lines=len(inner))
    return None


def _one_line(text: str, scalar: ScalarEvent, line: int, column: int) -> EmbeddedText | None:
    quotes = 1 if scalar.style in {"'", '"'} else 0
    begin = column + quotes
    outer = text.splitlines()
    if not outer[line : line + 1] or not outer[line].startswith(scalar.value, begin):
        return None
    return EmbeddedText(first_line=line + 1, indentation=begin, lines=1)


class _Finder:
    """Walks the events along a path, and skips what lies beside it."""

    def __init__(self, text: str) -> None:
        self._next: Callable[[], Event] = events(text)

    def find(self, path: Path) -> Position | None:
        self._next()
        if not isinstance(self._next(), yaml.DocumentStartEvent):
            return None
        value = self._next()
        line, column = place(value)
        for part in path:
            found = self._part(value, part)
            if found is None:
                return Position(line=line, column=column, value=value, is_exact=False)
            (line, column), value = found
        return Position(line=line, column=column, value=value, is_exact=True)

    def _part(self, value: Event, part: str | int) -> tuple[tuple[int, int], Event] | None:
        if isinstance(value, MappingStartEvent) and isinstance(part, str):
            return self._entry(part)
        if isinstance(value, SequenceStartEvent) and isinstance(part, int):
            return self._item(part)
        return None

    def _entry(self, name: str) -> tuple[tuple[int, int], Event] | None:
        while not isinstance(key := self._next(), MappingEndEvent):
            value = self._next()
            if isinstance(key, ScalarEvent) and key_text(key) == name:
                return place(key), value
            self._skip(value)
        return None

    def _item(self, index: int) -> tuple[tuple[int, int], Event] | None:
        while not isinstance(item := self._next(), SequenceEndEvent):
            if index == 0:
                return place(item), item
            self._skip(item)
            index -= 1
        return None

    def _skip(self, event: Event) -> None:
        depth = int(isinstance(event, CollectionStartEvent))
        while depth:
            event = self._next()
            depth += isinstance(event, CollectionStartEvent)
            depth -= isinstance(event, CollectionEndEvent)
