"""Texts in a program's result that are leftovers of a language, and no value that anybody means.

The table is `leftovers.tsv`. A ``line`` is one of a rendered stream, a ``value`` one of data, a
``text`` either; a pattern with ``yes`` is that of all of it.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from function_script.engines.foreign_syntax import WHOLE_LINE, outside_scalars
from function_script.engines.tables import read_rows


class Leftover(NamedTuple):
    """A leftover: a text that each of its lines or values has, the pattern, message and hint."""

    part: str
    pattern: re.Pattern[str]
    message: str
    hint: str


_ROWS: Final = tuple(
    (use, Leftover(part, re.compile(pattern), *words))
    for use, part, whole, text, *words in read_rows("leftovers")
    for pattern in (WHOLE_LINE.format(text) if whole == "yes" else text,)
)
_LEFTOVERS: Final = tuple(each for use, each in _ROWS if use in {"text", "line"})
# Expressions of other languages: a file in a block scalar may be of that language.
_EXPRESSIONS: Final = frozenset({"{", "${", "<%=", "<%", "[[", "$(", "#{", "$"})
# Braces, brackets and "$" are in all data: texts with them are left to `of_line`.
_FOR_VALUES: Final = tuple(each for use, each in _ROWS if use in {"text", "value"})
NONE: Final = next(each for use, each in _ROWS if use == "none")
"""The text that a script writes for None. A program or a request may also mean this word."""
LIST: Final = next(each for use, each in _ROWS if use == "list")
"""The text of a list. Only the run knows that it was printed: an author may also write it."""


def _sign(part: str) -> str:
    """Return a character of a leftover that most data lacks; without one, the whole leftover."""
    return next((each for each in part if not each.islower() and each not in "{ "), part)


# Most texts lack the signs, which are found in a fraction of the time.
_LINE_SIGNS: Final = tuple((_sign(each.part), each) for each in _LEFTOVERS)
_VALUE_SIGNS: Final = tuple((_sign(each.part), each.part) for each in (*_FOR_VALUES, NONE))


def find(text: str) -> Iterator[tuple[Leftover, int, int]]:
    """Yield leftovers in a rendered stream with their lines and columns, from 1."""
    candidates = [each for sign, each in _LINE_SIGNS if sign in text and each.part in text]
    if not candidates:
        return
    lines = text.split("\n")
    own_lines: set[int] = set()
    for number, line in enumerate(lines, 1):
        for leftover in candidates:
            # To YAML, "#{" begins a comment.
            value = line if leftover.part == "#{" else line.partition(" #")[0]
            if leftover.part in line and (match := leftover.pattern.search(value)):
                if leftover.part in _EXPRESSIONS:
                    own_lines = own_lines or {own for own, _ in outside_scalars(lines)}
                    if number not in own_lines:
                        continue
                yield leftover, number, line.find(leftover.part, match.start()) + 1


def of_line(line: str) -> Leftover | None:
    """Return the leftover that a rendered line has; None if it has none."""
    return next((leftover for leftover, *_ in find(line)), None)


def may_be_in(text: str) -> bool:
    """Report whether data, as JSON, may have a value with leftovers."""
    return any(sign in text and part in text for sign, part in _VALUE_SIGNS)


def of_value(text: str) -> Leftover | None:
    """Return the leftover in a value of data; None if there is none, and for texts of many lines.

    Texts of many lines are programs and files of others, with a language of their own.
    """
    if "\n" in text:
        return None
    return next(
        (each for each in _FOR_VALUES if each.part in text and each.pattern.search(text)), None
    )
