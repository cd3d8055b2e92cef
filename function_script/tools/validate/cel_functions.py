"""Functions that Kubernetes adds to CEL, as far as rules of CRDs use them.

A rule that calls any other is reported as not evaluated. CEL's values are subclasses of
Python's, so the functions take those.
"""

from __future__ import annotations

import string
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from celpy.celtypes import BoolType, DoubleType, IntType, ListType, StringType

from function_script.engines.library import regex

if TYPE_CHECKING:
    from collections.abc import Iterable

Number = int | float

_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_UPPER: Final = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)


def _char_at(text: str, index: int) -> StringType:
    return StringType(text[index : index + 1])


def _find(text: str, pattern: str) -> StringType:
    found = regex.compiled(str(pattern)).search(str(text))
    return StringType(found.group() or "") if found is not None else StringType("")


def _find_all(text: str, pattern: str) -> ListType:
    return _texts(found.group() or "" for found in regex.compiled(str(pattern)).finditer(str(text)))


def _index_of(of: str | list[object], part: object) -> IntType:
    if isinstance(of, str):
        return IntType(of.find(str(part)))
    return IntType(next((index for index, item in enumerate(of) if item == part), -1))


def _is_sorted(items: list[Number] | list[str]) -> BoolType:
    return BoolType(all(a <= b for a, b in pairwise(items)))  # type: ignore[operator] # of one type


def _join(texts: list[str], separator: str = "") -> StringType:
    return StringType(separator.join(texts))


def _last_index_of(of: str | list[object], part: object) -> IntType:
    if isinstance(of, str):
        return IntType(of.rfind(str(part)))
    return IntType(max((index for index, item in enumerate(of) if item == part), default=-1))


def _lower(text: str) -> StringType:
    return StringType(text.translate(_LOWER))


def _replace(text: str, old: str, new: str) -> StringType:
    return StringType(text.replace(old, new))


def _split(text: str, separator: str) -> ListType:
    return _texts(text.split(separator) if separator else text)


def _substring(text: str, start: int, end: int | None = None) -> StringType:
    return StringType(text[start:end])


def _sum(items: list[Number]) -> IntType | DoubleType:
    total = sum(items)
    return DoubleType(total) if isinstance(total, float) else IntType(total)


def _trim(text: str) -> StringType:
    return StringType(text.strip())


def _upper(text: str) -> StringType:
    return StringType(text.translate(_UPPER))


def _texts(found: Iterable[str]) -> ListType:
    return ListType([StringType(item) for item in found])


FUNCTIONS: Final = {
    "charAt": _char_at,
    "find": _find,
    "findAll": _find_all,
    "indexOf": _index_of,
    "isSorted": _is_sorted,
    "join": _join,
    "lastIndexOf": _last_index_of,
    "lowerAscii": _lower,
    "max": max,
    "min": min,
    "replace": _replace,
    "split": _split,
    "substring": _substring,
    "sum": _sum,
    "trim": _trim,
    "upperAscii": _upper,
}
