"""Frequent functions as Python expressions instead of calls.

A shortcut covers some types of arguments; for others the expression calls the function.
"""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Final

from function_script.engines.gotemplate.compiler.code import Value
from function_script.engines.tables import Table

_OPERATORS: Final = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
# A text of more pieces than this is measured before it is built.
_MAX_PIECES: Final = 8
_SIMPLE_VERBS: Final = re.compile(r"%[svd%]")
# Tests of Python types, by the verb that writes them as Python's own %s does.
_TESTS: Final = {
    "s": "type({}) is str",
    "d": "type({}) in INTEGERS",
    "v": "type({}) in PLAIN",
}
# Shortcuts that test the types of their arguments, and call the function for others.
_GUARDED: Final = Table[str, Callable[[list[Value], str], Value | None]]()
# Shortcuts for all types of arguments.
_TOTAL: Final = Table[str, Callable[[list[Value]], Value | None]]()
_COVERED: Final = {"s": ("string",), "d": ("int", "int64"), "v": ("string", "int", "int64")}


def shorten(name: str, values: list[Value], call: str) -> Value | None:
    """Return the value of a call as an expression; None without a shortcut.

    ``call`` is the code of the call, for arguments that are not covered at run time.
    """
    if name in _OPERATORS and len(values) == 2:  # noqa: PLR2004 # eq may compare with more
        return _shorten_comparison(_OPERATORS[name], values, call)
    if name in _GUARDED:
        return _GUARDED[name](values, call)
    return _TOTAL[name](values) if name in _TOTAL else None


def any_code(value: Value) -> str:
    """Return a value for a parameter of type ``any``: None for nil."""
    return f"(None if {value.code} is MISSING else {value.code})" if value.nil else value.code


def _is_text(value: Value) -> bool:
    return value.type == "string"


def _is_integer(value: Value) -> bool:
    return value.type in {"int", "int64"}


def _shorten_comparison(operator: str, values: list[Value], call: str) -> Value | None:
    first, second = values
    if second.code == "MISSING" and operator in {"==", "!="}:
        negation = "not " if operator == "!=" else ""
        return Value(f"({negation}is_nil({first.code}))", "bool", nil=False, null=False)
    expression = f"{first.code} {operator} {second.code}"
    if _is_text(first) and _is_text(second):
        return Value(f"({expression})", "bool", nil=False, null=False)
    if _is_integer(first) and _is_integer(second):
        return Value(f"({expression})", "bool", nil=False, null=False)
    if _is_text(first) or _is_text(second):
        test = f"type({first.code if _is_text(second) else second.code}) is str"
    elif _is_integer(first) or _is_integer(second):
        test = f"type({first.code if _is_integer(second) else second.code}) in INTEGERS"
    else:
        test = f"type({first.code}) is str is type({second.code})"
        if first.type != "any" or second.type != "any":
            return None
    return Value(f"{expression} if {test} else {call}", "bool", nil=False, null=False)


@_GUARDED.add("printf")
def _shorten_printf(values: list[Value], call: str) -> Value | None:
    template = values[0]
    if not _is_literal(template) or len(values) > _MAX_PIECES:
        return None
    text = template.code[1:-1]
    verbs = [match[1] for match in _SIMPLE_VERBS.findall(text) if match != "%%"]
    if len(verbs) != len(values) - 1 or "%" in _SIMPLE_VERBS.sub("", text) or not verbs:
        return None
    tests = [
        _TESTS[verb].format(value.code)
        for verb, value in zip(verbs, values[1:], strict=True)
        if value.type not in _COVERED[verb]
    ]
    python = _SIMPLE_VERBS.sub(lambda match: "%%" if match[0] == "%%" else "%s", template.code)
    arguments = "".join(f"{value.code}, " for value in values[1:])
    expression = f"{python} % ({arguments})"
    if tests:
        expression = f"{expression} if {' and '.join(tests)} else {call}"
    return Value(expression, "string", nil=False, null=False)


@_GUARDED.add("print")
def _shorten_print(values: list[Value], call: str) -> Value | None:
    """Compile ``print``, which puts a blank only between two values that are not strings."""
    if len(values) > _MAX_PIECES or not any(map(_is_text, values)):
        return None
    unknown = [value.code for value in values if not _is_text(value)]
    is_joined = all(_is_text(left) or _is_text(right) for left, right in pairwise(values))
    test = "type({}) in PLAIN" if is_joined else "type({}) is str"
    arguments = "".join(f"{value.code}, " for value in values)
    expression = f"{'%s' * len(values)!r} % ({arguments})"
    if unknown:
        expression = f"{expression} if {' and '.join(map(test.format, unknown))} else {call}"
    return Value(expression, "string", nil=False, null=False)


@_GUARDED.add("quote")
def _shorten_quote(values: list[Value], call: str) -> Value | None:
    if len(values) != 1:
        return None
    code = values[0].code
    expression = f"quoted({code})"
    if not _is_text(values[0]):
        number = f"'\"%d\"' % {code} if type({code}) in INTEGERS else {call}"
        expression = f"{expression} if type({code}) is str else {number}"
    return Value(expression, "string", nil=False, null=False)


def _is_literal(value: Value) -> bool:
    return value.type == "string" and value.code[0] in "'\""


@_TOTAL.add("default")
def _shorten_default(values: list[Value]) -> Value | None:
    if len(values) != 2:  # noqa: PLR2004 # a default and what is given
        return None
    fallback, value = values
    return Value(f"{value.code} or {any_code(fallback)}", nil=fallback.nil, null=fallback.nil)


@_TOTAL.add("empty", "not")
def _shorten_empty(values: list[Value]) -> Value:
    return Value(f"(not {values[0].code})", "bool", nil=False, null=False)


@_TOTAL.add("list", "tuple")
def _shorten_list(values: list[Value]) -> Value:
    return Value(f"[{', '.join(map(any_code, values))}]", nil=False, null=False)


@_TOTAL.add("dict")
def _shorten_dict(values: list[Value]) -> Value | None:
    keys = values[::2]
    if len(values) % 2 or not all(map(_is_literal, keys)):
        return None
    pairs = zip(keys, values[1::2], strict=True)
    entries = ", ".join(f"{key.code}: {any_code(value)}" for key, value in pairs)
    return Value(f"{{{entries}}}", nil=False, null=False)


@_TOTAL.add("hasKey")
def _shorten_has_key(values: list[Value]) -> Value:
    return Value(f"{values[1].code} in {values[0].code}", "bool", nil=False, null=False)
