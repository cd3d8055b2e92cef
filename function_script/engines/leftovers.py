"""Texts in a program's result that are leftovers of a language, and no value that anybody means."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple


class Leftover(NamedTuple):
    """A leftover: a text that each of its lines or values has, the pattern, message and hint."""

    part: str
    pattern: re.Pattern[str]
    message: str
    hint: str


# A line that has no other value than one of a pattern.
_VALUE: Final = r"^[ -]*(?:[\w./\"'-]+: +)?[\"']?{}[\"']?\s*$"
# Marks of expressions of other languages, around a path of the request.
_MARKS: Final = (("<%=", "%>"), ("<%", "%>"), ("[[", "]]"), ("$(", ")"), ("#{", "}"), ("$", ""))
_PATH: Final = r" *[.$]?(?:spec|xr|observed)[.\[][^{}\"' ]* *"
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
    Leftover(
        part="${",
        pattern=re.compile(_VALUE.format(r"\$\{\{? *(?:spec|xr|observed)[.\[][^{}\"']*\}\}?")),
        message="${ } is no expression here: the text stays as it is",
        hint="write the value as this language writes it, without ${ }",
    ),
    *(
        Leftover(
            part=begin,
            pattern=re.compile(_VALUE.format(re.escape(begin) + _PATH + re.escape(end))),
            message=f"{mark} is no expression here: the text stays as it is",
            hint=f"write the value as this language writes it, without {mark}",
        )
        for begin, end in _MARKS
        for mark in (f"{begin} {end}".rstrip(),)
    ),
)
# A whole value of data, or a part of it, that no program means.
_OF_VALUES: Final = (
    Leftover(
        part="<no value>",
        pattern=re.compile("<no value>"),
        message='"<no value>" is what Go templates write for a value that is missing',
        hint="read the value itself, with a default where it may be missing",
    ),
    Leftover(
        part="undefined",
        pattern=re.compile("^undefined$"),
        message='"undefined" is what JavaScript writes for a value that is missing',
        hint="read the value itself, with a default where it may be missing",
    ),
    Leftover(
        part="{{",
        pattern=re.compile(
            r"\{\{-? *(?:[$.]?(?:observed|desired)\.(?:composite|resources)\b"
            r"|getCompos(?:ite|ed)Resource\b|getResourceCondition\b)"
        ),
        message="an expression of a template is a text here: nothing replaces it",
        hint="read the value, without {{ }}",
    ),
)
# Braces, brackets and "$" are in all data: texts with them are left to `of_line`.
_ONLY_OF_LINES: Final = frozenset({"{", *(begin for begin, _ in _MARKS)})
_FOR_VALUES: Final = (
    *(each for each in _LEFTOVERS if each.part not in _ONLY_OF_LINES),
    *_OF_VALUES,
)
NONE: Final = Leftover(
    part="None",
    pattern=re.compile(r"(?<![A-Za-z0-9])None(?![A-Za-z0-9])"),
    message='"None" was written for a value that is missing',
    hint="test the value first, or give it a default: get(value, path, default)",
)
"""The text that a script writes for None. A program or a request may also mean this word."""
LIST: Final = Leftover(
    part="[",
    pattern=re.compile(r"^[ -]*(?:[\w./\"'-]+: +)?\[.* .*\]\s*$"),
    message="a list was written as Go prints it, without commas: to YAML it is one text",
    hint="write it with toYaml and nindent, or with toJson",
)
"""The text of a list. Only the run knows that it was printed: an author may also write it."""


def _sign(part: str) -> str:
    """Return a character of a leftover that most data lacks; without one, the whole leftover."""
    return next((each for each in part if not each.islower() and each not in "{ "), part)


# Most texts lack the signs, which are found in a fraction of the time.
_LINE_SIGNS: Final = tuple((_sign(each.part), each) for each in _LEFTOVERS)
_VALUE_SIGNS: Final = tuple((_sign(each.part), each.part) for each in (*_FOR_VALUES, NONE))


def find(text: str) -> Iterator[tuple[Leftover, int]]:
    """Yield leftovers in a rendered stream with the numbers of their lines."""
    candidates = [each for sign, each in _LINE_SIGNS if sign in text and each.part in text]
    if not candidates:
        return
    for number, line in enumerate(text.split("\n"), 1):
        for leftover in candidates:
            # To YAML, "#{" begins a comment.
            value = line if leftover.part == "#{" else line.partition(" #")[0]
            if leftover.part in line and leftover.pattern.search(value):
                yield leftover, number


def of_line(line: str) -> Leftover | None:
    """Return the leftover that a rendered line has; None if it has none."""
    return next((leftover for leftover, _ in find(line)), None)


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
