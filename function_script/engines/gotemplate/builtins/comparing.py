"""``eq ne lt le gt ge`` with Go's rules: no comparison across kinds, nil equals nil."""

from typing import Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import FunctionTable
from function_script.engines.gotemplate.printf.verbs import Flags, format_argument
from function_script.engines.gotemplate.printing import to_text
from function_script.engines.gotemplate.values import (
    MISSING,
    Int,
    NamedString,
    Sized,
    Struct,
    Uint8,
    Uint32,
    Uint64,
    go_kind,
    go_type,
    is_nil,
    is_small,
)

FUNCTIONS: Final = FunctionTable()

_KINDS: Final[dict[type, str]] = {
    str: "string",
    int: "integer",
    Int: "integer",
    float: "float",
    bool: "bool",
    complex: "complex",
    # Unsigned integers compare with signed ones.
    Uint8: "integer",
    Uint32: "integer",
    Uint64: "integer",
}
# Errors do not show values of more nodes: they may be endless.
_MAX_NODES: Final = 1000
_INVALID: Final = "invalid type for comparison"


def _kind(value: object) -> str:
    """Return the basic kind of a value; empty for a value without an order."""
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    if isinstance(value, NamedString):
        return "string"
    return "integer" if isinstance(value, Sized) else ""


@FUNCTIONS.add("eq", parameters="value value...", returns="bool")
def equal(first: object, *others: object) -> bool:
    """The first value equals one of the others.

    Stop at the first one that does.
    """
    if not others:
        raise CallError("missing argument for comparison")
    return any(_equals(first, other) for other in others)


@FUNCTIONS.add("ne", parameters="value value", returns="bool")
def differ(left: object, right: object) -> bool:
    """The values differ."""
    return not _equals(left, right)


def _equals(left: object, right: object) -> bool:
    kind = _kind(left)
    if kind != _kind(right):
        if left in _NOTHING or right in _NOTHING:
            return False
        raise CallError(_incompatible(left, right))
    if kind:
        return bool(left == right)
    _check_kinds(left, right)
    if is_nil(left) or is_nil(right):
        return is_nil(left) == is_nil(right)
    if not isinstance(right, Struct):
        raise CallError(f"non-comparable type {_format_operand(right)}: {go_type(right)}")
    return isinstance(left, Struct) and left.fields == right.fields


def _check_kinds(left: object, right: object) -> None:
    kinds = {go_kind(left), go_kind(right)}
    if len(kinds) > 1 and "invalid" not in kinds:
        right_text = to_text(right) if is_small(right, _MAX_NODES) else "…"
        types = f"{_format_operand(left)}: {go_type(left)}, {go_type(right)}: {right_text}"
        raise CallError(f"non-comparable types {types}")


_NOTHING: Final = (None, MISSING)


def _format_operand(value: object) -> str:
    return format_argument(value, "s", Flags()) if is_small(value, _MAX_NODES) else "…"


def _incompatible(left: object, right: object) -> str:
    return f"incompatible types for comparison: {go_type(left)} and {go_type(right)}"


@FUNCTIONS.add("lt", parameters="value value", returns="bool")
def less(left: object, right: object) -> bool:
    """The first value is less than the second."""
    kind, other = _kind(left), _kind(right)
    if not kind or not other:
        raise CallError(_INVALID)
    if kind != other:
        raise CallError(_incompatible(left, right))
    if kind in {"bool", "complex"}:
        raise CallError(_INVALID)
    return bool(left < right)  # type: ignore[operator] # both are of the same ordered kind


@FUNCTIONS.add("le", parameters="value value", returns="bool")
def less_or_equal(left: object, right: object) -> bool:
    """The first value is less than the second, or equal."""
    return less(left, right) or _equals(left, right)


@FUNCTIONS.add("gt", parameters="value value", returns="bool")
def greater(left: object, right: object) -> bool:
    """The first value is greater than the second."""
    return not less_or_equal(left, right)


@FUNCTIONS.add("ge", parameters="value value", returns="bool")
def greater_or_equal(left: object, right: object) -> bool:
    """The first value is greater than the second, or equal."""
    return not less(left, right)
