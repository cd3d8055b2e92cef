"""Positions of fields in a YAML text, and of the lines of a text that is embedded in it.

The text is parsed again, for errors and for the tools only, so that the first parse need not
record positions.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from yaml import events

from function_script.documents.errors import YamlError
from function_script.documents.kubernetes_yaml import key_text, read_events, start_of, width_of
from function_script.request.objects import Path

# The texts whose place is remembered: the tools ask for many positions in one program.
_MAX_TEXTS: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The begin of a field: its key in a map, else its value; 0-based, with the events of both.

    ``is_exact`` is false when the field does not exist: the position is its nearest ancestor's.
    """

    line: int
    column: int
    key: events.Event | None
    value: events.Event
    is_exact: bool = True

    @property
    def width(self) -> int:
        """The number of characters of the key, else of the value; 1 for no text in one line."""
        return width_of(self.key or self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedText:
    """A text whose lines are lines of a YAML text, such as a script in a literal block.

    ``first_line`` is the outer line of the inner line 1, both 1-based; ``lines`` is the number of
    inner lines; ``indentation`` is the difference of outer and inner columns.
    """

    first_line: int
    indentation: int
    lines: int

    def outer(self, line: int, column: int | None = None) -> tuple[int, int | None]:
        """Return the outer line and column of an inner position, all 1-based."""
        inner = min(max(line, 1), self.lines)
        return self.first_line + inner - 1, None if column is None else column + self.indentation


def find_position(text: str, path: Path) -> Position | None:
    """Find the field at ``path`` or its nearest ancestor; return None for text that is not YAML."""
    depth, nearest = -1, None
    try:
        for each, position in walk(text):
            if nearest is not None and each[:depth] != path[:depth]:
                # All that is below the nearest ancestor has been read: the rest may be no YAML.
                break
            if each == path[: depth + 1]:
                depth, nearest = depth + 1, position
            if depth == len(path):
                return nearest
    except YamlError:
        return None
    return None if nearest is None else replace(nearest, is_exact=False)


def list_positions(text: str) -> dict[Path, Position]:
    """Find all fields in one pass; return none for text that is not YAML.

    A field below an alias or a merged map is not listed: the nearest field above it is.
    """
    try:
        return dict(walk(text))
    except YamlError:
        return {}


def walk(text: str) -> Iterator[tuple[Path, Position]]:
    """Yield the fields of the first document in their order. Raises YamlError."""
    stream = read_events(text)
    next(stream)
    if not isinstance(next(stream), events.DocumentStartEvent):
        return
    key, value = None, next(stream)
    # Of each open map or list: its path, and the number of its entries so far; None for a map.
    above: list[tuple[Path, int | None]] = []
    path: Path = ()
    line, column = start_of(value)
    while True:
        yield path, Position(line=line, column=column, key=key, value=value)
        if isinstance(value, events.CollectionStartEvent):
            above.append((path, 0 if isinstance(value, events.SequenceStartEvent) else None))
        while above and isinstance(value := next(stream), events.CollectionEndEvent):
            above.pop()
        if not above:
            return
        parent, index = above[-1]
        line, column = start_of(value)
        if index is None:
            # The key that an alias stands for is not followed: no field has this name.
            name = key_text(value) if isinstance(value, events.ScalarEvent) else "\0"
            key, value = value, next(stream)
            path = (*parent, name)
        else:
            key = None
            above[-1] = (parent, index + 1)
            path = (*parent, index)


@lru_cache(maxsize=_MAX_TEXTS)
def find_embedded_text(text: str, path: Path) -> EmbeddedText | None:
    """Find the lines of the string at ``path`` in ``text``.

    Returns None when there is no string, or when its lines are not lines of ``text``: a folded
    block, or quoted text with escapes or over several lines.
    """
    position = find_position(text, path)
    if (
        position is None
        or not position.is_exact
        or not isinstance(position.value, events.ScalarEvent)
    ):
        return None
    scalar = position.value
    line, column = start_of(scalar)
    if scalar.style == "|":
        return _literal_block(text, scalar.value, line + 1)
    if scalar.style == ">":
        return None
    begin = column + (1 if scalar.style in {"'", '"'} else 0)
    outer = text.splitlines()
    if not outer[line : line + 1] or not outer[line].startswith(scalar.value, begin):
        return None
    return EmbeddedText(first_line=line + 1, indentation=begin, lines=1)


def is_folded(text: str, path: Path) -> bool:
    """Report whether the string at ``path`` is a folded block of which lines were joined."""
    # The block ends where the next line begins.
    position = find_position(f"{text}\n", path)
    if position is None or not position.is_exact:
        return False
    scalar = position.value
    if not isinstance(scalar, events.ScalarEvent) or scalar.style != ">":
        return False
    (header, _), end = start_of(scalar), scalar.end_mark
    block = text.splitlines()[header + 1 : None if end is None else end.line]
    texts = (block, scalar.value.splitlines())
    before, after = (sum(bool(line.strip()) for line in lines) for lines in texts)
    return before > after


def _literal_block(text: str, value: str, first: int) -> EmbeddedText | None:
    outer, inner = text.splitlines(), value.splitlines()
    for number, content in enumerate(inner):
        # The first line with content has the indentation of all.
        if content.strip() and first + number < len(outer):
            indentation = len(outer[first + number]) - len(content)
            return EmbeddedText(first_line=first + 1, indentation=indentation, lines=len(inner))
    return None
