"""CEL for Kubernetes on top of cel-python: its values, its names, and some of its functions.

Imported only when there is a rule to evaluate.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, cast

from celpy import Environment, Runner, celtypes
from celpy.adapter import json_to_cel
from celpy.celparser import CELParseError
from celpy.evaluation import CELEvalError

from function_script.tools import schemas
from function_script.tools.validate.cel_functions import FUNCTIONS

if TYPE_CHECKING:
    from celpy.evaluation import CELFunction

    from function_script.values import Object, Value

# How Kubernetes spells field names that CEL could not read.
_ESCAPES: Final = (
    ("__", "__underscores__"),
    (".", "__dot__"),
    ("-", "__dash__"),
    ("/", "__slash__"),
)
_RESERVED: Final = frozenset(
    [
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for"),
        *("function", "if", "import", "let", "loop", "package", "namespace", "return", "var"),
        *("void", "while"),
    ]
)
_MISSING: Final = "no such member in mapping"


class RuleError(Exception):
    """The rule failed in itself, as for a field that is not there: the object is invalid."""


class UnsupportedError(Exception):
    """The rule uses what this evaluator does not have."""


def evaluate(rule: str, value: Value, schema: Object) -> bool:
    """Whether ``value``, described by ``schema``, keeps the rule."""
    try:
        result = _program(rule).evaluate({"self": _to_cel(value, schema)})
    except CELEvalError as error:
        text = str(error.args[0]) if error.args else str(error)
        if text.startswith(_MISSING):
            raise RuleError(text.replace(_MISSING, "no such key")) from error
        raise UnsupportedError(_first_line(text)) from error
    if not isinstance(result, (bool, celtypes.BoolType)):
        raise UnsupportedError("the rule gives no boolean")
    return bool(result)


@cache
def _environment() -> Environment:
    return Environment()


@cache
def _program(rule: str) -> Runner:
    functions = cast("dict[str, CELFunction]", FUNCTIONS)
    try:
        return _environment().program(_environment().compile(rule), functions=functions)
    except CELParseError as error:
        raise UnsupportedError("cannot parse the rule") from error


def _first_line(text: str) -> str:
    return text.partition(" (in activation")[0].partition("\n")[0]


def _to_cel(value: Value, schema: Object) -> celtypes.Value:
    """CEL tells integers from doubles and times from strings; the schema knows which is which."""
    if isinstance(value, dict):
        return _to_map(value, schema)
    if isinstance(value, list):
        below = schemas.items(schema) or {}
        return celtypes.ListType([_to_cel(item, below) for item in value])
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        is_double = schema.get("type") == "number"
        return celtypes.DoubleType(value) if is_double else celtypes.IntType(int(value))
    if isinstance(value, str):
        return _to_text(value, schema)
    return json_to_cel(value)


def _to_map(value: Object, schema: Object) -> celtypes.Value:
    known, others = schemas.properties(schema), schemas.additional(schema)
    return celtypes.MapType(
        {
            celtypes.StringType(_escaped(key) if key in known else key): _to_cel(
                part, known.get(key, others or {})
            )
            for key, part in value.items()
        }
    )


def _to_text(value: str, schema: Object) -> celtypes.Value:
    match schema.get("format"):
        case "date-time" | "date":
            return celtypes.TimestampType(value)
        case "duration":
            return celtypes.DurationType(value)
        case _:
            return celtypes.StringType(value)


def _escaped(name: str) -> str:
    if name in _RESERVED:
        return f"__{name}__"
    for text, escape in _ESCAPES:
        name = name.replace(text, escape)
    return name
