"""CEL for Kubernetes on top of cel-python: its values, its names, and some of its functions.

Only the process that evaluates rules imports it.
"""

import inspect
from functools import cache
from typing import Final, cast

from celpy import Environment, Runner, celtypes
from celpy.adapter import json_to_cel
from celpy.celparser import CELParseError
from celpy.evaluation import CELEvalError, CELFunction, base_functions

from function_script.tools import structural_schema
from function_script.tools.validate import cel_errors
from function_script.tools.validate.cel_functions import FUNCTIONS
from function_script.tools.validate.evaluator import RuleError, UnsupportedError
from function_script.values import Object, Value

# Kubernetes escapes field names that CEL cannot read.
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
# The grammar's names for calls, and the macros, which are not functions.
_CALLS: Final = ("ident_arg", "dot_ident_arg", "member_dot_arg")
_MACROS: Final = ("has", "all", "exists", "exists_one", "map", "filter", "dyn")
_MISSING: Final = "no such member in mapping: "
# cel-python's text for every ValueError of a conversion; the cause follows in its arguments.
_OVERFLOW: Final = "return error for overflow"
_OPERATORS: Final = {
    "_&&_": cel_errors.both,
    "_||_": cel_errors.either,
    "_?_:_": cel_errors.choose,
}


def evaluate(expression: str, value: Value, schema: Object) -> bool | str:
    """Evaluate a rule or a message's expression for ``value``, described by ``schema``.

    Raises RuleError or UnsupportedError.
    """
    try:
        result = _compile(expression).evaluate({"self": _to_cel(value, schema)})
    except CELEvalError as error:
        raise _to_rule_error(error) from error
    if isinstance(result, (bool, celtypes.BoolType)):
        return bool(result)
    if isinstance(result, str):
        return str(result)
    raise RuleError("it gives no boolean")


@cache
def _environment() -> Environment:
    return Environment(runner_class=cel_errors.FaultRunner)


@cache
def _functions() -> dict[str, CELFunction]:
    functions = cast(
        "dict[str, cel_errors.Function]", {**base_functions, **FUNCTIONS, "_[_]": cel_errors.item}
    )
    strict_functions = {
        # Classes are types as well, as in `type(self) == int`.
        name: function if inspect.isclass(function) else cel_errors.strict(function)
        for name, function in functions.items()
    }
    return cast("dict[str, CELFunction]", {**strict_functions, **_OPERATORS})


@cache
def _compile(expression: str) -> Runner:
    try:
        parsed = _environment().compile(expression)
    except CELParseError as error:
        raise UnsupportedError("cannot parse it") from error
    names = {*base_functions, *FUNCTIONS, *_MACROS}
    for tree in parsed.iter_subtrees():
        if tree.data in _CALLS:
            name = next(str(child) for child in tree.children if isinstance(child, str))
            if name not in names:
                raise UnsupportedError(f'there is no function "{name}" here')
    return _environment().program(parsed, functions=_functions())


def _to_rule_error(error: CELEvalError) -> RuleError | UnsupportedError:
    text = str(error.args[0]) if error.args else str(error)
    if isinstance(error, cel_errors.RuntimeFaultError):
        return RuleError(text)
    if text.startswith(_MISSING):
        name = text.removeprefix(_MISSING).strip("'")
        return RuleError(f"no such key: {name}")
    if text == _OVERFLOW:
        return RuleError(str(error.args[-1][0]) if error.args[-1] else "it is out of range")
    if "overload" in text:
        return UnsupportedError("the types of its operands do not go together")
    return UnsupportedError(text.partition(" (in activation")[0].partition("\n")[0])


def _to_cel(value: Value, schema: Object) -> celtypes.Value:
    """Convert a value; the schema separates integers from doubles, and times from strings."""
    if isinstance(value, dict):
        return _to_map(value, schema)
    if isinstance(value, list):
        below = structural_schema.items(schema) or {}
        return celtypes.ListType([_to_cel(item, below) for item in value])
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        is_double = schema.get("type") == "number"
        return celtypes.DoubleType(value) if is_double else celtypes.IntType(int(value))
    if isinstance(value, str):
        return _to_text(value, schema)
    return json_to_cel(value)


def _to_map(value: Object, schema: Object) -> celtypes.Value:
    fields, others = structural_schema.properties(schema), structural_schema.additional(schema)
    return celtypes.MapType(
        {
            celtypes.StringType(_escape_name(key) if key in fields else key): _to_cel(
                part, fields.get(key, others or {})
            )
            for key, part in value.items()
            if part is not None or key not in fields  # a null field is an absent one
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


def _escape_name(name: str) -> str:
    if name in _RESERVED:
        return f"__{name}__"
    for text, escape in _ESCAPES:
        name = name.replace(text, escape)
    return name
