"""Constants as arguments."""

from typing import Final, TypeAlias

from function_script.engines.gotemplate import values
from function_script.engines.gotemplate.compiler.values import Value, certain
from function_script.engines.gotemplate.operations.expressions import Constant as Literal
from function_script.engines.gotemplate.operations.expressions import NewNil
from function_script.engines.gotemplate.syntax import nodes

Constant: TypeAlias = nodes.Nil | nodes.Bool | nodes.Number | nodes.String

_GO_NAMES: Final = {"map": "map[string]interface {}", "list": "[]interface {}"}
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


def constant_value(word: Constant, type_name: str) -> Value:
    """Return a constant as an argument for a parameter of a type; raises UnsuitableError."""
    if isinstance(word, nodes.Nil):
        return _nil(type_name)
    if type_name in {"any", "value"}:
        return _untyped(word)
    if isinstance(word, nodes.Number):
        number = _number(word, type_name)
        if number is not None:
            return certain(Literal(number), type_name)
    elif type_name == ("string" if isinstance(word, nodes.String) else "bool"):
        return certain(Literal(word.value), type_name)
    expected = _EXPECTED.get(type_name)
    if expected is None:
        name = _GO_NAMES.get(type_name, type_name)
        raise UnsuitableError(f"can't handle {nodes.to_source(word)} for arg of type {name}")
    raise UnsuitableError(f"expected {expected}; found {nodes.to_source(word)}")


def _nil(type_name: str) -> Value:
    if type_name == "map":
        return certain(NewNil(values.NilMap))
    if type_name == "list":
        return certain(NewNil(values.NilList))
    if type_name in {"any", "value"}:
        return certain(Literal(None if type_name == "any" else values.MISSING))
    raise UnsuitableError(f"cannot assign nil to {type_name}")


def _untyped(word: nodes.Bool | nodes.Number | nodes.String) -> Value:
    """Return a constant by its own spelling."""
    if isinstance(word, nodes.String):
        return certain(Literal(word.value), "string")
    if isinstance(word, nodes.Bool):
        return certain(Literal(word.value), "bool")
    text = word.text
    is_hexadecimal = text[:2].lower() == "0x" and len(text) > len("0x") and "p" not in text.lower()
    # Go takes an ambiguous number for a float64.
    looks_real = not (is_hexadecimal or text[0] == "'") and not set(text).isdisjoint(".eEpP")
    if word.real is not None and looks_real:
        return certain(Literal(word.real), "float64")
    if word.integer is None:
        raise UnsuitableError(f"{text} overflows int")
    return certain(Literal(values.Int(word.integer)), "int")


def _number(word: nodes.Number, type_name: str) -> object:
    """Return a number of a type; None if it has none of it."""
    if type_name == "int" and word.integer is not None:
        return values.Int(word.integer)
    if type_name == "int64":
        return word.integer
    if type_name == "float64":
        return word.real
    return word.unsigned if type_name == "uint32" else None
