"""The YAML that templates mostly write, read line by line: three times faster than by events.

Called by the stream reader before the composer. Knows keys of plain words, scalars on one line
and nesting by blanks; gives up at anything else, also at every error, for the composer to read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from function_script.documents.composer import Composed
from function_script.documents.scalars import WORDS, resolve

if TYPE_CHECKING:
    from function_script.values import Object, Value

_LINE = re.compile(
    r"""(?P<indent>[ ]*) (?P<item>-[ ])?
        (?: (?P<key>[A-Za-z_][A-Za-z0-9_./-]{0,200}) : (?=[ ]|\Z) )?
        [ ]?
        (?: "(?P<double>[ !#-\[\]-~]*)"
          | '(?P<single>[ -&(-~]*)'
          | (?P<empty>\{\}|\[\])
          | (?P<plain>(?:[A-Za-z0-9_/.]|-[0-9.])(?:[!-9;-~]|:(?=[^ ])|[ ](?=[^ \#]))*)
        )?""",
    re.VERBOSE,
)
_BLANK = re.compile(r" *(?:#[ -~]*)?")

# Most lines of documents come again, in the same document or the next. Cleared when full.
_MAX_LINES = 4096
_MAX_LINE_LENGTH = 200
_lines: dict[str, _Line] = {}


class _Line(NamedTuple):
    """``- key: value``; ``column`` is where the item or key begins, -1 for a line to skip.

    ``is_open``: nothing stands after the key, so its value may be on the next lines.
    """

    column: int
    is_item: bool
    key: str | None
    value: Value
    is_open: bool


_SKIPPED = _Line(column=-1, is_item=False, key=None, value=None, is_open=False)


def find_simple(text: str, *, nodes: int, depth: int) -> Composed | None:
    """The object of a simple text; None for any other, also for more ``nodes`` or ``depth``."""
    try:
        return _Reader().read(text, nodes, depth)
    except _OtherError:
        return None


class _OtherError(Exception):
    """The text is none of those that are read here."""


class _Reader:
    """``_levels`` are the open maps and lists from the outside in, each with its column."""

    def __init__(self) -> None:
        self._root: Object = {}
        self._levels: list[tuple[int, Object | list[Value]]] = [(0, self._root)]
        # The key that waits for its value, in which map and column.
        self._open: tuple[int, Object, str] | None = None
        self._depth = 1
        self._nodes = 1

    def read(self, text: str, nodes: int, depth: int) -> Composed:
        first = None
        known = _lines.get
        for number, line in enumerate(text.split("\n")):
            found = known(line) or _parsed(line)
            if found is not _SKIPPED:
                first = number if first is None else first
                self._add(found)
        if first is None or self._nodes > nodes or self._depth > depth:
            raise _OtherError
        return Composed(value=self._root, line=first, nodes=self._nodes, depth=self._depth)

    def _add(self, line: _Line) -> None:
        column, is_item, key, value, is_open = line
        self._enter(column, is_item=is_item)
        into = self._levels[-1][1]
        self._nodes += 1
        if type(value) is dict or type(value) is list:
            value = type(value)()
            self._depth = max(self._depth, len(self._levels) + 1 + (is_item and key is not None))
        if isinstance(into, list):
            if key is None:
                into.append(value)
                return
            column, into = self._begin_item(column, into)
        if key is None or key in into:
            raise _OtherError
        into[key] = value
        if is_open:
            self._open = column, into, key

    def _enter(self, column: int, *, is_item: bool) -> None:
        """Open the value that begins here, or go back to the level this line belongs to."""
        if self._open is not None:
            begin, into, key = self._open
            self._open = None
            if column > begin or (is_item and column == begin):
                below: Object | list[Value] = [] if is_item else {}
                into[key] = below
                self._push(column, below)
        levels = self._levels
        while column < levels[-1][0]:
            levels.pop()
        # A list may stand as far left as the key it belongs to.
        if not is_item and isinstance(levels[-1][1], list):
            levels.pop()
        if levels[-1][0] != column or isinstance(levels[-1][1], list) is not is_item:
            raise _OtherError

    def _begin_item(self, column: int, into: list[Value]) -> tuple[int, Object]:
        item: Object = {}
        into.append(item)
        self._nodes += 1
        self._push(column + 2, item)
        return column + 2, item

    def _push(self, column: int, below: Object | list[Value]) -> None:
        self._levels.append((column, below))
        self._depth = max(self._depth, len(self._levels))


def _parsed(line: str) -> _Line:
    found = _parse(line)
    if found is None:
        raise _OtherError
    if len(line) <= _MAX_LINE_LENGTH:
        if len(_lines) >= _MAX_LINES:
            _lines.clear()
        _lines[line] = found
    return found


def _parse(line: str) -> _Line | None:
    if _BLANK.fullmatch(line):
        return _SKIPPED
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    indent, item, key, double, single, empty, plain = match.groups()
    if key in WORDS or (key is None and item is None):
        return None
    value: Value = double if double is not None else single
    if empty is not None:
        value = {} if empty == "{}" else []
    elif plain is not None:
        try:
            value = resolve(plain)
        except ValueError:
            return None
    is_open = double is None and single is None and empty is None and plain is None
    if is_open and (key is None or line.endswith(" ")):
        return None
    column = len(indent)
    return _Line(column=column, is_item=item is not None, key=key, value=value, is_open=is_open)
