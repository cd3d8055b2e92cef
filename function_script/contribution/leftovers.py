"""Texts in a rendered stream that are leavings of a language, and no value that anybody means."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple


class Leftover(NamedTuple):
    """A leaving: a text that every one of its lines has, the pattern, and what is said of it."""

    part: str
    pattern: re.Pattern[str]
    message: str
    hint: str


# A line that has no other value than one of a pattern.
_VALUE: Final = r"^[ -]*(?:[\w./\"'-]+: +)?[\"']?{}[\"']?\s*$"
_LEFTOVERS: Final = (
    Leftover(
        part="%!",
        pattern=re.compile(
            r"%!(?:[a-zA-Z]\((?:MISSING|BADINDEX|BADPREC|BADWIDTH|<nil>|[\w.*\[\]{} ]+=)|\(EXTRA )"
        ),
        message="printf wrote an error for an argument that does not fit its verb",
        hint="%d takes a whole number, %s a text, %v anything, and each verb one argument",
    ),
    Leftover(
        part="<nil>",
        pattern=re.compile(_VALUE.format("<nil>")),
        message="<nil> was written for a value that is missing",
        hint="check the path, or give the value a default",
    ),
    Leftover(
        part="map[",
        pattern=re.compile(_VALUE.format(r"map\[[\w./-]+:.*\]")),
        message="a map was written as Go prints it, which is no YAML",
        hint="write it with toYaml and nindent, or with toJson",
    ),
    Leftover(
        part="[object Object]",
        pattern=re.compile(_VALUE.format(r"\[object Object\]")),
        message="an object was written as JavaScript prints it",
        hint="write its fields, or write it as JSON",
    ),
    Leftover(
        part="{",
        pattern=re.compile(r"^[^#{]*: +\{ ?[.$][A-Za-z_][\w.]* ?\}\s*$"),
        message="in one pair of braces, a path is a key of a map without a value",
        hint="an action has two pairs: {{ and }}",
    ),
)


def find(text: str) -> Iterator[tuple[Leftover, int]]:
    """Yield leavings with the numbers of their lines."""
    # Most texts lack the first characters, which are found in a fraction of the time.
    candidates = [each for each in _LEFTOVERS if each.part[0] in text and each.part in text]
    if not candidates:
        return
    for number, line in enumerate(text.split("\n"), 1):
        for leftover in candidates:
            if leftover.part in line and leftover.pattern.search(line.partition(" #")[0]):
                yield leftover, number
