"""The compiler's facts about a value, and constants as arguments."""

from typing import Final, TypeAlias, cast

from function_script.engines.gotemplate import values
from function_script.engines.gotemplate.errors import Code, EvalError
from function_script.engines.gotemplate.operations.expressions import Constant as Literal
from function_script.engines.gotemplate.operations.expressions import Origin, Slot
from function_script.engines.gotemplate.run import Expression
from function_script.engines.gotemplate.syntax import nodes


class Value:
    """The expression of a value, and what is certain about the value.

    ``type`` is its Go type if that is known. ``nil``: it may be MISSING or None; ``null``: it may
    be None. ``from_pipeline``: None means no value, as at the end of a pipeline, and not a null.
    ``origin`` is set for values that were read by a chain of fields and may be absent.
    """

    def __init__(  # noqa: PLR0913 - facts by name
        self,
        expression: Expression,
        type: str = "any",  # noqa: A002 # Go's word
        *,
        nil: bool = True,
        null: bool = True,
        from_pipeline: bool = False,
        origin: Origin | None = None,
    ) -> None:
        self.expression: Expression = expression
        self.type: str = type
        self.nil: bool = nil
        self.null: bool = null
        self.from_pipeline: bool = from_pipeline
        self.origin: Origin | None = origin

    def copy(self, expression: Expression | None = None) -> "Value":
        """Return a copy, of another expression."""
        return Value(
            expression or self.expression,
            self.type,
            nil=self.nil,
            null=self.null,
            from_pipeline=self.from_pipeline,
            origin=self.origin,
        )

    def lasting_origin(self) -> Origin | None:
        """Return the origin if it has the same value later, when an error reads it again."""
        start = None if self.origin is None else self.origin.start
        return None if isinstance(start, Slot) and start.changes else self.origin


def certain(expression: Expression, type_name: str = "any") -> Value:
    """Return a value that is not nil."""
    return Value(expression, type_name, nil=False, null=False)


def slot_of(variable: Value) -> int:
    """Return the slot of a variable."""
    return cast("Slot", variable.expression).index


Constant: TypeAlias = nodes.Nil | nodes.Bool | nodes.Number | nodes.String

_EXPECTED: Final = {
    "string": "string",
    "bool": "bool",
    "int": "integer",
    "float64": "float",
}


def constant_value(word: Constant, type_name: str) -> Value:
    """Return a constant as an argument for a parameter of a type; raises EvalError."""
    if isinstance(word, nodes.Nil):
        return _nil(type_name)
    if type_name in {"any", "value"}:
        return _untyped(word)
    if isinstance(word, nodes.Number):
        if type_name == "int" and word.integer is not None:
            return certain(Literal(values.Int(word.integer)), type_name)
        if type_name == "float64" and word.real is not None:
            return certain(Literal(word.real), type_name)
    elif type_name == ("string" if isinstance(word, nodes.String) else "bool"):
        return certain(Literal(word.value), type_name)
    expected = _EXPECTED.get(type_name)
    if expected is None:
        name = "map[string]interface {}" if type_name == "map" else type_name
        raise EvalError(f"can't handle {nodes.to_source(word)} for arg of type {name}")
    text = f"expected {expected}; found {nodes.to_source(word)}"
    # What the author meant is certain: a number in quotes, or a text without any.
    if isinstance(word, nodes.String) and expected == "integer" and word.value.isdecimal():
        raise EvalError(text, Code.CONSTANT_QUOTED, word.value)
    if isinstance(word, nodes.Number) and expected == "string" and word.text.isdecimal():
        raise EvalError(text, Code.CONSTANT_QUOTED, f'"{word.text}"')
    raise EvalError(text)


def _nil(type_name: str) -> Value:
    if type_name == "map":
        return certain(Literal(values.NilMap()))
    if type_name in {"any", "value"}:
        return certain(Literal(None if type_name == "any" else values.MISSING))
    raise EvalError(f"cannot assign nil to {type_name}")


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
        raise EvalError(f"{text} overflows int")
    return certain(Literal(values.Int(word.integer)), "int")
