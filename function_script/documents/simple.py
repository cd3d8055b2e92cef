"""The YAML that templates mostly write, read line by line: three times faster than by events.

Called by the stream reader before the composer. Knows keys of plain words, scalars on one line
and nesting by blanks; gives up at anything else, also at every error, for the composer to read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from function_script.documents.composer import ParsedDocument
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
_lines: dict[str, _ParsedLine] = {}


class _ParsedLine(NamedTuple):
    """``- key: value``; ``column`` is where the item or key begins, -1 for a line to skip.

    ``is_open``: after the key stands nothing, so its value may be on the next lines, or an empty
    map or list.
    """

    column: int
    is_item: bool
    key: str | None
    value: Value
    is_open: bool


_SKIPPED = _ParsedLine(column=-1, is_item=False, key=None, value=None, is_open=False)


def parse_simple(text: str, *, nodes: int, depth: int) -> ParsedDocument | None:
    """The object of a simple text; None for any other, also for more ``nodes`` or ``depth``."""
    try:
        composed = _Reader().read(text)
    except _NotSimpleError:
        return None
    return composed if composed.nodes <= nodes and composed.depth <= depth else None


class _NotSimpleError(Exception):
    """The text is none of those that are read here."""


class _Reader:
    """Reads into ``members``, or into ``items`` when a list is open; both begin at ``column``.

    ``outer`` are the maps and lists around, ``waiting`` is the key of ``members`` whose value
    may be on the next lines.
    """

    __slots__ = ("column", "depth", "items", "members", "nodes", "outer", "waiting")

    def __init__(self) -> None:
        self.column = 0
        self.members: Object = {}
        self.items: list[Value] | None = None
        self.outer: list[tuple[int, Object, list[Value] | None]] = []
        self.waiting: str | None = None
        self.nodes = 1
        self.depth = 1

    def read(self, text: str) -> ParsedDocument:
        """The object; raises _OtherError."""
        root = self.members
        first = -1
        known = _lines.get
        for number, text_line in enumerate(text.split("\n")):
            line = known(text_line) or _parsed(text_line)
            column, is_item, key, value, is_open = line
            if column < 0:
                continue
            if first < 0:
                first = number
            self.nodes += 1
            # Most lines hold one more member of the map that is open.
            is_next = column == self.column and self.waiting is None and self.items is None
            if not is_next or is_item:
                self._enter(column, is_item=is_item)
                if is_item and not self._begin_item(line):
                    continue
            if key is None or key in self.members:
                raise _NotSimpleError
            self.members[key] = value
            if is_open:
                self._wait(key, value)
        if first < 0:
            raise _NotSimpleError
        return ParsedDocument(value=root, line=first, nodes=self.nodes, depth=self.depth)

    def _enter(self, column: int, *, is_item: bool) -> None:
        """Open the value that begins here, or go back to the level this line belongs to."""
        key, self.waiting = self.waiting, None
        if key is not None and (column > self.column or (is_item and column == self.column)):
            members: Object = {}
            items: list[Value] | None = [] if is_item else None
            self.members[key] = members if items is None else items
            self._open(column, members, items)
            return
        while column < self.column:
            self.column, self.members, self.items = self.outer.pop()
        # A list may stand as far left as the key it belongs to.
        if not is_item and self.items is not None:
            self.column, self.members, self.items = self.outer.pop()
        if self.column != column or (self.items is not None) is not is_item:
            raise _NotSimpleError

    def _begin_item(self, line: _ParsedLine) -> bool:
        """Add an item to the open list; whether it is a map, of which the line has a member."""
        items = self.items if self.items is not None else []
        if line.key is None:
            items.append(self._own(line.value))
            return False
        members: Object = {}
        items.append(members)
        self.nodes += 1
        self._open(self.column + 2, members, None)
        return True

    def _open(self, column: int, members: Object, items: list[Value] | None) -> None:
        self.outer.append((self.column, self.members, self.items))
        self.column, self.members, self.items = column, members, items
        self.depth = max(self.depth, len(self.outer) + 1)

    def _wait(self, key: str, value: Value) -> None:
        if value is None:
            self.waiting = key
        else:
            self.members[key] = self._own(value)

    def _own(self, value: Value) -> Value:
        """Another one for an empty map or list: those of remembered lines are everybody's."""
        if not isinstance(value, (dict, list)):
            return value
        self.depth = max(self.depth, len(self.outer) + 2)
        return {} if isinstance(value, dict) else []


def _parsed(line: str) -> _ParsedLine:
    found = _parse(line)
    if found is None:
        raise _NotSimpleError
    if len(line) <= _MAX_LINE_LENGTH:
        if len(_lines) >= _MAX_LINES:
            _lines.clear()
        _lines[line] = found
    return found


def _parse(line: str) -> _ParsedLine | None:
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
    is_open = double is None and single is None and plain is None
    if is_open and empty is None and (key is None or line.endswith(" ")):
        return None
    column = len(indent)
    return _ParsedLine(
        column=column, is_item=item is not None, key=key, value=value, is_open=is_open
    )
