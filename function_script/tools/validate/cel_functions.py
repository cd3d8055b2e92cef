"""Functions that Kubernetes adds to CEL, as far as rules of CRDs use them.

A rule that calls any other function is reported as not evaluated. CEL's values are subclasses of
Python's, so the functions take Python values, and return them.
"""

import re
import string
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from math import isinf
from typing import Final

from celpy import celtypes

from function_script.engines.regular_expressions import compiled

Function = Callable[..., object]  # type: ignore[explicit-any] # of any arguments

_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_MAX_QUOTED: Final = 50
_UPPER: Final = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)


def char_at(text: str, index: int) -> str:
    """Return the character at an index; an empty text at the end."""
    _check_index(text, index)
    return text[index : index + 1]


def _check_index(text: str, index: int) -> None:
    """Raise IndexError unless ``index`` is in the text or at its end."""
    if not 0 <= index <= len(text):
        raise IndexError


def find_all(text: str, pattern: str) -> list[str]:
    """Return all matches of a pattern."""
    return [match.group() or "" for match in compiled(str(pattern)).finditer(str(text))]


def index_of(of: str | list[object], part: object, start: int = 0) -> int:
    """Return the index of a part of a text or an item of a list, or -1."""
    if isinstance(of, str):
        _check_index(of, start)
        return of.find(str(part), start)
    return next((index for index, item in enumerate(of) if item == part), -1)


def last_index_of(of: str | list[object], part: object, start: int | None = None) -> int:
    """Return the last index of a part of a text or an item of a list, or -1."""
    if isinstance(of, str):
        if start is None:
            return of.rfind(str(part))
        _check_index(of, start)
        return of.rfind(str(part), 0, start + len(str(part)))
    return max((index for index, item in enumerate(of) if item == part), default=-1)


def split(text: str, separator: str, count: int = -1) -> list[str]:
    """Split a text into at most ``count`` parts."""
    parts = text.split(separator) if separator else list(text)
    if 0 <= count < len(parts):
        whole = parts[: max(count - 1, 0)]
        parts = [*whole, separator.join(parts[len(whole) :])][:count]
    return parts


def substring(text: str, start: int, end: int | None = None) -> str:
    """Return the text from ``start`` to before ``end``."""
    _check_index(text, start)
    if end is not None:
        _check_index(text, end)
        if start > end:
            raise IndexError
    return text[start:end]


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
FUNCTIONS: Final[dict[str, Function]] = {
    "charAt": char_at,
    "find": lambda text, pattern: next(iter(find_all(text, pattern)), ""),
    "findAll": find_all,
    "indexOf": index_of,
    "isSorted": lambda items: all(one <= other for one, other in pairwise(items)),
    "join": lambda texts, separator="": separator.join(texts),
    "lastIndexOf": last_index_of,
    "lowerAscii": lambda text: text.translate(_LOWER),
    "matches": lambda text, pattern: compiled(str(pattern)).search(str(text)) is not None,
    "max": max,
    "min": min,
    "replace": lambda text, old, new, count=-1: text.replace(old, new, count),
    "split": split,
    "substring": substring,
    "sum": sum,
    "trim": lambda text: text.strip(),
    "upperAscii": lambda text: text.translate(_UPPER),
}
"""The functions by their names in CEL; results are plain values, or values of the arguments."""
