"""Functions that Kubernetes adds to CEL, as far as rules of CRDs use them.

A rule that calls any other function is reported as not evaluated. CEL's values are subclasses of
Python's, so the functions take Python values.
"""

import re
import string
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import pairwise
from math import isinf
from typing import Final

from celpy import celtypes

from function_script.engines.regular_expressions import compiled

Number = int | float

_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_MAX_QUOTED: Final = 50
_UPPER: Final = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)


def char_at(text: str, index: int) -> celtypes.StringType:
    """Return the character at an index; an empty text at the end."""
    _check_index(text, index)
    return celtypes.StringType(text[index : index + 1])


def _check_index(text: str, index: int) -> None:
    """Raise IndexError unless ``index`` is in the text or at its end."""
    if not 0 <= index <= len(text):
        raise IndexError


def find(text: str, pattern: str) -> celtypes.StringType:
    """Return the first match of a pattern, or an empty text."""
    match = compiled(str(pattern)).search(str(text))
    return celtypes.StringType("" if match is None else match.group() or "")


def find_all(text: str, pattern: str) -> celtypes.ListType:
    """Return all matches of a pattern."""
    hits = compiled(str(pattern)).finditer(str(text))
    return _texts(match.group() or "" for match in hits)


def index_of(of: str | list[object], part: object, start: int = 0) -> celtypes.IntType:
    """Return the index of a part of a text or an item of a list, or -1."""
    if isinstance(of, str):
        _check_index(of, start)
        return celtypes.IntType(of.find(str(part), start))
    return celtypes.IntType(next((index for index, item in enumerate(of) if item == part), -1))


def is_sorted(items: list[Number] | list[str]) -> celtypes.BoolType:
    """Report whether the items are in ascending order."""
    return celtypes.BoolType(all(a <= b for a, b in pairwise(items)))  # type: ignore[operator] # of one type


def join(texts: list[str], separator: str = "") -> celtypes.StringType:
    """Join texts with a separator."""
    return celtypes.StringType(separator.join(texts))


def last_index_of(
    of: str | list[object], part: object, start: int | None = None
) -> celtypes.IntType:
    """Return the last index of a part of a text or an item of a list, or -1."""
    if isinstance(of, str):
        if start is None:
            return celtypes.IntType(of.rfind(str(part)))
        _check_index(of, start)
        return celtypes.IntType(of.rfind(str(part), 0, start + len(str(part))))
    return celtypes.IntType(
        max((index for index, item in enumerate(of) if item == part), default=-1)
    )


def lower_ascii(text: str) -> celtypes.StringType:
    """Return the text with its ASCII letters in lower case."""
    return celtypes.StringType(text.translate(_LOWER))


def matches(text: str, pattern: str) -> celtypes.BoolType:
    """Report whether a pattern matches anywhere in a text."""
    return celtypes.BoolType(compiled(str(pattern)).search(str(text)) is not None)


def replace(text: str, old: str, new: str, count: int = -1) -> celtypes.StringType:
    """Replace the first ``count`` parts of a text, or all."""
    return celtypes.StringType(text.replace(old, new, count))


def split(text: str, separator: str, count: int = -1) -> celtypes.ListType:
    """Split a text into at most ``count`` parts."""
    parts = text.split(separator) if separator else list(text)
    if 0 <= count < len(parts):
        whole = parts[: max(count - 1, 0)]
        parts = [*whole, separator.join(parts[len(whole) :])][:count]
    return _texts(parts)


def substring(text: str, start: int, end: int | None = None) -> celtypes.StringType:
    """Return the text from ``start`` to before ``end``."""
    _check_index(text, start)
    if end is not None:
        _check_index(text, end)
        if start > end:
            raise IndexError
    return celtypes.StringType(text[start:end])


def sum_of(items: list[Number]) -> celtypes.IntType | celtypes.DoubleType:
    """Return the sum of numbers."""
    total = sum(items)
    return celtypes.DoubleType(total) if isinstance(total, float) else celtypes.IntType(total)


def trim(text: str) -> celtypes.StringType:
    """Return the text without white space at both ends."""
    return celtypes.StringType(text.strip())


def upper_ascii(text: str) -> celtypes.StringType:
    """Return the text with its ASCII letters in upper case."""
    return celtypes.StringType(text.translate(_UPPER))


def _texts(texts: Iterable[str]) -> celtypes.ListType:
    return celtypes.ListType([celtypes.StringType(item) for item in texts])


def parse(kind: str, text: str) -> celtypes.Value:
    """Convert a text to one of the types `PARSED`; raises ValueError."""
    grammar, convert = PARSED[kind]
    # The types refuse what is out of their range.
    with suppress(ValueError):
        if grammar.fullmatch(text):
            return convert(text)
    raise ValueError(f'cannot convert "{text[:_MAX_QUOTED]}" to {kind}')


def _to_double(text: str) -> celtypes.DoubleType:
    if isinf(float(text)):
        raise ValueError
    return celtypes.DoubleType(float(text))


# Conversions of texts as in Go; cel-python also accepts some that only Python reads.
PARSED: Final[dict[str, tuple[re.Pattern[str], Callable[[str], celtypes.Value]]]] = {
    "bool": (
        re.compile("1|t|T|true|TRUE|True|0|f|F|false|FALSE|False"),
        lambda text: celtypes.BoolType(text[0] in "1tT"),
    ),
    "double": (
        re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"),
        _to_double,
    ),
    "duration": (
        re.compile(r"0|[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|ms|s|m|h))+"),
        lambda text: celtypes.DurationType("0s" if text == "0" else text),
    ),
    "int": (re.compile("[+-]?[0-9]{1,30}"), lambda text: celtypes.IntType(int(text))),
    "uint": (re.compile("[0-9]{1,30}"), lambda text: celtypes.UintType(int(text))),
}
FUNCTIONS: Final = {
    "charAt": char_at,
    "find": find,
    "findAll": find_all,
    "indexOf": index_of,
    "isSorted": is_sorted,
    "join": join,
    "lastIndexOf": last_index_of,
    "lowerAscii": lower_ascii,
    "matches": matches,
    "max": max,
    "min": min,
    "replace": replace,
    "split": split,
    "substring": substring,
    "sum": sum_of,
    "trim": trim,
    "upperAscii": upper_ascii,
}
