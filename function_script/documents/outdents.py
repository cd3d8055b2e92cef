"""Printed values of several lines, of which only the first has the indentation of its place.

Each run asks this of its values of several lines, so nothing here parses.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

_LEAD: Final = re.compile(r" *(?:- +)*")


def required_indentation(prefix: str) -> int:
    """Return the blanks that lines of a value need that is printed behind ``prefix``."""
    if not prefix.lstrip(" "):
        return len(prefix)
    lead = _LEAD.match(prefix)
    width = 0 if lead is None else lead.end()
    return width if width == len(prefix) else width + 1


def is_outdented(parts: Sequence[str], index: int, value: str) -> bool:
    """Report whether a line of a value has too few blanks behind the first ``index`` parts."""
    if value[0] == "\n":
        return False
    prefix = ""
    for number in range(index - 1, -1, -1):
        _, line_break, tail = parts[number].rpartition("\n")
        prefix = tail + prefix
        if line_break:
            break
    width = required_indentation(prefix) if prefix else 0
    # Most values are indented, which takes a fraction of the time to see.
    if value.count("\n" + " " * width) == value.count("\n"):
        return False
    return any(line[:width].lstrip(" ") for line in value.split("\n")[1:] if not line.isspace())


def find(parts: Sequence[str], values: Iterable[str]) -> list[tuple[int, int]]:
    """Return the offsets where the outdented ones of printed values begin and end in a text.

    ``parts`` are the parts of the text, ``values`` are in their order; not all are in it.
    """
    offsets: list[tuple[int, int]] = []
    start = 0
    for value in values:
        try:
            index = parts.index(value, start)
        except ValueError:
            continue
        if is_outdented(parts, index, value):
            offset = sum(map(len, parts[:index]))
            offsets.append((offset, offset + len(value)))
        start = index + 1
    return offsets
