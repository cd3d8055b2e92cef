"""Constants and frequent functions as Python expressions.

A function's shortcut covers some types of arguments; for others the expression calls the function.
"""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Final, TypeAlias

from function_script.engines.gotemplate import values
from function_script.engines.gotemplate.compiler.code import Code, Value
from function_script.engines.gotemplate.syntax import nodes
from function_script.engines.tables import Table

# Constants, for any type or for a parameter's type

Constant: TypeAlias = nodes.Nil | nodes.Bool | nodes.Number | nodes.String

_GO_NAMES: Final = {"map": "map[string]interface {}", "list": "[]interface {}"}
_NILS: Final = {"any": "None", "value": "MISSING", "map": "NilMap()", "list": "NilList()"}
_EXPECTED: Final = {
    "string": "string",
    "bool": "bool",
    "int": "integer",
    "int64": "integer",
    "float64": "float",
    "uint32": "unsigned integer",
}


class UnsuitableError(Exception):
    """A constant does not suit its parameter; the text is Go's."""


def constant_value(word: Constant, type_name: str, code: Code) -> Value:
    """Return a constant as an argument for a parameter of a type; raises UnsuitableError."""
    if isinstance(word, nodes.Nil):
        if type_name not in _NILS:
            raise UnsuitableError(f"cannot assign nil to {_GO_NAMES.get(type_name, type_name)}")
        return Value(_NILS[type_name], nil=False, null=False)
    if type_name in {"any", "value"}:
        return _compile_untyped(word, code)
    if isinstance(word, nodes.Number):
        number = _number(word, type_name)
        if number is not None:
            return Value(code.constant(number), type_name, nil=False, null=False)
    elif type_name == ("string" if isinstance(word, nodes.String) else "bool"):
        return _literal(repr(word.value), type_name)
    expected = _EXPECTED.get(type_name)
    if expected is None:
        name = _GO_NAMES.get(type_name, type_name)
        raise UnsuitableError(f"can't handle {nodes.to_source(word)} for arg of type {name}")
    raise UnsuitableError(f"expected {expected}; found {nodes.to_source(word)}")


def _compile_untyped(word: nodes.Bool | nodes.Number | nodes.String, code: Code) -> Value:
    """Return a constant by its own spelling."""
    if isinstance(word, nodes.String):
        return _literal(repr(word.value), "string")
    if isinstance(word, nodes.Bool):
        return _literal(repr(word.value), "bool")
    if word.pair is not None:
        return Value(code.constant(word.pair), nil=False, null=False)
    text = word.text
    is_hexadecimal = text[:2].lower() == "0x" and len(text) > len("0x") and "p" not in text.lower()
    # Go takes an ambiguous number for a float64.
    looks_real = not (is_hexadecimal or text[0] == "'") and not set(text).isdisjoint(".eEpP")
    if word.real is not None and looks_real:
        return _literal(repr(word.real), "float64")
    if word.integer is None:
        raise UnsuitableError(f"{text} overflows int")
    return Value(code.constant(values.Int(word.integer)), "int", nil=False, null=False)


def _literal(text: str, type_name: str) -> Value:
    return Value(text, type_name, nil=False, null=False)


def _number(word: nodes.Number, type_name: str) -> object | None:
    if type_name == "int" and word.integer is not None:
        return values.Int(word.integer)
    if type_name == "int64":
        return word.integer
    if type_name == "float64":
        return word.real
    return word.unsigned if type_name == "uint32" else None


# Shortcuts of functions

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


def shorten(name: str, arguments: list[Value], call: str) -> Value | None:
    """Return the value of a call as an expression; None without a shortcut.

    ``call`` is the code of the call, for arguments that are not covered at run time.
    """
    if name in _OPERATORS and len(arguments) == 2:  # noqa: PLR2004 # eq may compare with more
        return _shorten_comparison(_OPERATORS[name], arguments, call)
    if name in _GUARDED:
        return _GUARDED[name](arguments, call)
    return _TOTAL[name](arguments) if name in _TOTAL else None


def any_code(value: Value) -> str:
    """Return a value for a parameter of type ``any``: None for nil."""
    return f"(None if {value.code} is MISSING else {value.code})" if value.nil else value.code


def _is_text(value: Value) -> bool:
    return value.type == "string"


def _is_integer(value: Value) -> bool:
    return value.type in {"int", "int64"}


def _shorten_comparison(operator: str, arguments: list[Value], call: str) -> Value | None:
    first, second = arguments
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
def _shorten_printf(arguments: list[Value], call: str) -> Value | None:
    template = arguments[0]
    if not _is_literal(template) or len(arguments) > _MAX_PIECES:
        return None
    text = template.code[1:-1]
    verbs = [match[1] for match in _SIMPLE_VERBS.findall(text) if match != "%%"]
    if len(verbs) != len(arguments) - 1 or "%" in _SIMPLE_VERBS.sub("", text) or not verbs:
        return None
    tests = [
        _TESTS[verb].format(value.code)
        for verb, value in zip(verbs, arguments[1:], strict=True)
        if value.type not in _COVERED[verb]
    ]
    python = _SIMPLE_VERBS.sub(lambda match: "%%" if match[0] == "%%" else "%s", template.code)
    python_arguments = "".join(f"{value.code}, " for value in arguments[1:])
    expression = f"{python} % ({python_arguments})"
    if tests:
        expression = f"{expression} if {' and '.join(tests)} else {call}"
    return Value(expression, "string", nil=False, null=False)


@_GUARDED.add("print")
def _shorten_print(arguments: list[Value], call: str) -> Value | None:
    """Compile ``print``, which puts a blank only between two arguments that are not strings."""
    if len(arguments) > _MAX_PIECES or not any(map(_is_text, arguments)):
        return None
    unknown = [value.code for value in arguments if not _is_text(value)]
    is_joined = all(_is_text(left) or _is_text(right) for left, right in pairwise(arguments))
    test = "type({}) in PLAIN" if is_joined else "type({}) is str"
    python_arguments = "".join(f"{value.code}, " for value in arguments)
    expression = f"{'%s' * len(arguments)!r} % ({python_arguments})"
    if unknown:
        expression = f"{expression} if {' and '.join(map(test.format, unknown))} else {call}"
    return Value(expression, "string", nil=False, null=False)


@_GUARDED.add("quote")
def _shorten_quote(arguments: list[Value], call: str) -> Value | None:
    if len(arguments) != 1:
        return None
    code = arguments[0].code
    expression = f"quoted({code})"
    if not _is_text(arguments[0]):
        number = f"'\"%d\"' % {code} if type({code}) in INTEGERS else {call}"
        expression = f"{expression} if type({code}) is str else {number}"
    return Value(expression, "string", nil=False, null=False)


def _is_literal(value: Value) -> bool:
    return value.type == "string" and value.code[0] in "'\""


@_TOTAL.add("default")
def _shorten_default(arguments: list[Value]) -> Value | None:
    if len(arguments) != 2:  # noqa: PLR2004 # a default and what is given
        return None
    fallback, value = arguments
    return Value(f"{value.code} or {any_code(fallback)}", nil=fallback.nil, null=fallback.nil)


@_TOTAL.add("empty", "not")
def _shorten_empty(arguments: list[Value]) -> Value:
    return Value(f"(not {arguments[0].code})", "bool", nil=False, null=False)


@_TOTAL.add("list", "tuple")
def _shorten_list(arguments: list[Value]) -> Value:
    return Value(f"[{', '.join(map(any_code, arguments))}]", nil=False, null=False)


@_TOTAL.add("dict")
def _shorten_dict(arguments: list[Value]) -> Value | None:
    keys = arguments[::2]
    if len(arguments) % 2 or not all(map(_is_literal, keys)):
        return None
    pairs = zip(keys, arguments[1::2], strict=True)
    entries = ", ".join(f"{key.code}: {any_code(value)}" for key, value in pairs)
    return Value(f"{{{entries}}}", nil=False, null=False)


@_TOTAL.add("hasKey")
def _shorten_has_key(arguments: list[Value]) -> Value:
    return Value(f"{arguments[1].code} in {arguments[0].code}", "bool", nil=False, null=False)
