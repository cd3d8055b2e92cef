"""Go's rules for fields, calls of methods, checks of arguments, and the items of ``range``."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NoReturn, TypeAlias, cast

from function_script.engines.gotemplate import errors, printing, values
from function_script.engines.gotemplate.go_time import Duration
from function_script.engines.gotemplate.methods import Method, methods_of
from function_script.engines.gotemplate.values import MISSING, Int

# The value of a key that a map lacks: no value, the zero value, or an error. "checked" gives no
# value, also below a null, and an error where the value is used (compiler/values.py).
MissingKey: TypeAlias = Literal["default", "zero", "error", "checked"]

_UNTYPED: Final = "interface {}"


def walk(value: object, names: tuple[str, ...], missing: MissingKey) -> object:
    """Return the value at the end of a chain of fields, by Go's rules; raises EvalError."""
    for index, name in enumerate(names):
        if isinstance(value, dict):
            if name in value:
                following = value[name]
            elif missing == "error":
                keys = tuple(key for key in value if isinstance(key, str))
                text = f"map has no entry for key {printing.quote(name)}"
                raise errors.FieldError(text, name, index=index, kind="map", names=keys)
            elif missing == "zero":
                following = value.zero if isinstance(value, values.TypedMap) else None
            else:
                following = MISSING
        elif value is MISSING:
            following = _value_below_missing(name, index, missing)
        elif value is None and missing == "checked":
            following = MISSING
        elif value is None:
            text = f"nil pointer evaluating {_UNTYPED}.{name}"
            raise errors.FieldError(text, name, index=index, kind="null")
        else:
            following = _member(value, name, index)
        value = following
    return value


def _value_below_missing(name: str, index: int, missing: MissingKey) -> object:
    if missing == "error":
        text = f"nil data; no entry for key {printing.quote(name)}"
        raise errors.FieldError(text, name, index=index, kind="absent")
    return MISSING


def _member(value: object, name: str, index: int) -> object:
    """Return the result of a method or a field; only structs and named numbers have any."""
    own = methods_of(value)
    if name in own:
        return call_method(value, name, own[name], ())
    fields = value.fields if isinstance(value, values.Struct) else {}
    if name in fields:
        return fields[name]
    names = (*fields, *own)
    kind = "struct" if names else values.go_kind(value)
    text = f"can't evaluate field {name} in type {values.go_type(value)}"
    raise errors.FieldError(text, name, index=index, kind=kind, names=names)


def find_method(value: object, names: tuple[str, ...], missing: MissingKey) -> Method | None:
    """Find the method that a field with arguments calls; None when there is no receiver.

    ``names`` is the chain of fields that ends with the method; ``value`` has the last one.
    """
    index, name = len(names) - 1, names[-1]
    method = methods_of(value).get(name)
    if method is not None:
        return method
    if value is MISSING:
        _value_below_missing(name, index, missing)
        return None
    # A field that no value of this type has is the same error with arguments as without.
    if not isinstance(value, dict):
        try:
            walk(value, (name,), missing)
        except errors.FieldError as error:
            error.index, error.code = index, errors.Code.NOT_A_METHOD
            raise
    text = f"{name} is not a method but has arguments"
    raise errors.EvalError(text, errors.Code.NOT_A_METHOD)


def call_method(receiver: object, name: str, method: Method, arguments: Sequence[object]) -> object:
    """Call a method; the types of the arguments are known only now."""
    types = method.parameters
    if len(arguments) != len(types):
        counts = f"want {len(types)} got {len(arguments)}"
        text = f"wrong number of args for {name}: {counts}"
        raise errors.EvalError(text, errors.Code.WRONG_COUNT, name)
    return method.call(receiver, *map(_method_argument, arguments, types))


def _method_argument(value: object, type_name: str) -> object:
    # Go takes a constant for a duration, and no variable of another integer type.
    is_duration = type_name == Duration.go_type and type(value) is Int
    return Duration(cast("int", value)) if is_duration else check_argument(value, type_name)


def check_argument(value: object, type_name: str) -> object:
    """Convert ``value`` for a map or for a parameter of exactly one type; raises EvalError."""
    if type_name != "map":
        return value if values.go_type(value) == type_name else refuse(value, type_name)
    if isinstance(value, dict) and not isinstance(value, values.TypedMap):
        return value
    # No value is a nil map.
    nil = values.NilMap()
    return nil if value is MISSING else refuse(value, values.go_type(nil))


def refuse(value: object, type_name: str) -> NoReturn:
    """Raise EvalError for an argument that is not of a parameter's type."""
    if value is MISSING:
        text = f"invalid value; expected {type_name}"
        raise errors.EvalError(text, errors.Code.NOTHING_AS_ARGUMENT)
    actual = _UNTYPED if value is None else values.go_type(value)
    code = errors.Code.WRONG_TYPE
    if value is None:
        code = errors.Code.NULL_AS_ARGUMENT
    elif type_name == "string" and isinstance(value, (int, float, bytes)):
        code = errors.Code.NOT_A_STRING
    elif type_name == "int" and isinstance(value, (int, float, str)):
        # The function int makes 0 of other texts.
        is_number = not isinstance(value, (bool, str)) or str(value).lstrip("-").isdecimal()
        code = errors.Code.NOT_AN_INTEGER if is_number else code
    text = f"wrong type for value; expected {type_name}; got {actual}"
    raise errors.EvalError(text, code, values.go_kind(value))


# The items of ``range``: lists, maps in the order of their keys, numbers


def elements(value: object) -> Iterable[object]:
    """Return the elements of a list or a map, the numbers below an integer; EvalError otherwise."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return [item for _, item in printing.sorted_items(value)]
    if isinstance(value, int) and not isinstance(value, (bool, values.NamedNumber)):
        numbers = range(value)
        # An iterator is true, also where it has no numbers.
        return map(type(value), numbers) if numbers and type(value) is not int else numbers
    return _bytes(value)


def pairs(value: object) -> Iterable[tuple[object, object]]:
    """Return the same with the index or key of each."""
    if isinstance(value, dict):
        return printing.sorted_items(value)
    if isinstance(value, int) and not isinstance(value, bool):
        raise errors.EvalError(f"can't use {value} to iterate over more than one variable")
    items = value if isinstance(value, list) else _bytes(value)
    return list(zip(map(Int, range(len(items))), items, strict=True))


def _bytes(value: object) -> list[object]:
    if value is None or value is MISSING:
        return []
    if isinstance(value, bytes):
        return list(map(values.Uint8, value))
    text = f"range can't iterate over {printing.to_text(value)}"
    raise errors.EvalError(text, errors.Code.VALUE_TO_RANGE)
