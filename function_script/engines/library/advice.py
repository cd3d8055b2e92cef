"""Hints for failed calls of library functions, by the functions' error messages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from function_script.engines.library.function import Function

_CALL: Final = re.compile(r"cannot call (?P<name>\w+): (?P<cause>.*)", re.DOTALL)
_ARITY: Final = re.compile(r"\w+ is (?:missing|given twice)$|\d+ arguments for|no parameter ")
_HINTS: Final = (
    ("pattern: missing )", r"close it with ), or write \( where the character itself is meant"),
    ("pattern: missing ]", r"close it with ], or write \[ where the character itself is meant"),
    ("pattern: ", r"write \ before a character that is meant as such, or use regex_escape"),
    ("the text is no ", "only what was encoded can be decoded; test it first if it may be plain"),
    ("is no quantity", "the units are k, M, G, T, P, E and Ki, Mi, Gi, Ti, Pi, Ei"),
    ("invalid duration", "the units are h, m, s, ms, us, ns, each after a number"),
)


def find(message: str, functions: Iterable[Function]) -> str | None:
    """Return a hint for the call that ``message`` is about; None when there is none."""
    call = _CALL.match(message)
    if call is None:
        return None
    if _ARITY.match(call["cause"]):
        signatures = (each.signature for each in functions if each.name == call["name"])
        return next((f"write {signature}" for signature in signatures), None)
    return next((hint for words, hint in _HINTS if words in call["cause"]), None)
