"""Constants of a template as Python code, for any type or for a parameter's type."""

from typing import Final, TypeAlias

from function_script.engines.gotemplate.compiler.code import Code, Value
from function_script.engines.gotemplate.syntax.nodes import Bool, Nil, Number, String, to_source
from function_script.engines.gotemplate.values import Int

Constant: TypeAlias = Nil | Bool | Number | String

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


def of_type(word: Constant, type_name: str, code: Code) -> Value:
    """Return a constant as an argument for a parameter of a type; raises UnsuitableError."""
    if isinstance(word, Nil):
        if type_name not in _NILS:
            raise UnsuitableError(f"cannot assign nil to {_GO_NAMES.get(type_name, type_name)}")
        return Value(_NILS[type_name], nil=False, null=False)
    if type_name in {"any", "value"}:
        return _of_any_type(word, code)
    if isinstance(word, Number):
        number = _number(word, type_name)
        if number is not None:
            return Value(code.constant(number), type_name, nil=False, null=False)
    elif type_name == ("string" if isinstance(word, String) else "bool"):
        return _literal(repr(word.value), type_name)
    expected = _EXPECTED.get(type_name)
    if expected is None:
        name = _GO_NAMES.get(type_name, type_name)
        raise UnsuitableError(f"can't handle {to_source(word)} for arg of type {name}")
    raise UnsuitableError(f"expected {expected}; found {to_source(word)}")


def _of_any_type(word: Bool | Number | String, code: Code) -> Value:
    """Return a constant by its own spelling."""
    if isinstance(word, String):
        return _literal(repr(word.value), "string")
    if isinstance(word, Bool):
        return _literal(repr(word.value), "bool")
    if word.pair is not None:
        return Value(code.constant(word.pair), nil=False, null=False)
    if word.real is not None and _looks_real(word.text):
        return _literal(repr(word.real), "float64")
    if word.integer is None:
        raise UnsuitableError(f"{word.text} overflows int")
    return Value(code.constant(Int(word.integer)), "int", nil=False, null=False)


def _literal(text: str, type_name: str) -> Value:
    return Value(text, type_name, nil=False, null=False)


def _looks_real(text: str) -> bool:
    """Report whether Go takes an ambiguous number for a float64."""
    is_hexadecimal = text[:2].lower() == "0x" and len(text) > len("0x") and "p" not in text.lower()
    return not (is_hexadecimal or text.startswith("'")) and not set(text).isdisjoint(".eEpP")


def _number(word: Number, type_name: str) -> object | None:
    if type_name == "int" and word.integer is not None:
        return Int(word.integer)
    if type_name == "int64":
        return word.integer
    if type_name == "float64":
        return word.real
    return word.unsigned if type_name == "uint32" else None
