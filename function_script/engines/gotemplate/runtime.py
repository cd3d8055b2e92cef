"""Go's rules for fields, methods, checks of arguments, and the items of ``range``."""

from collections.abc import Collection, Iterator
from typing import Final, Literal, NoReturn, TypeAlias

from function_script.engines.gotemplate import errors, printing, values
from function_script.engines.gotemplate.function import Function
from function_script.engines.gotemplate.values import MISSING

# The value of a key that a map lacks: no value, the zero value, or an error. "checked" gives no
# value, also below a null, and an error where the value is used (compiler/checking.py).
MissingKey: TypeAlias = Literal["default", "zero", "error", "checked"]

_UNTYPED: Final = "interface {}"


def walk(value: object, names: tuple[str, ...], missing: MissingKey) -> object:
    """Return the value at the end of a chain of fields, by Go's rules; raises EvalError."""
    static = None
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
            following = _member(value, name, index, static)
        static = value.element if isinstance(value, values.TypedMap) else _UNTYPED
        value = following
    return value


def _value_below_missing(name: str, index: int, missing: MissingKey) -> object:
    if missing == "error":
        text = f"nil data; no entry for key {printing.quote(name)}"
        raise errors.FieldError(text, name, index=index, kind="absent")
    return MISSING


def _member(value: object, name: str, index: int, static: str | None) -> object:
    """Return a field or a method of a struct; nothing else has any."""
    if not isinstance(value, values.Struct):
        is_static_type = static is None or static == "string"
        type_name = values.go_type(value) if is_static_type else _UNTYPED
        raise errors.TypeFieldError(name, type_name, index=index, kind=values.go_kind(value))
    if name in value.fields:
        return value.fields[name]
    method = value.method(name)
    if method is not None:
        return call_method(method, ())
    text = f"can't evaluate field {name} in type {values.go_type(value)}"
    raise errors.FieldError(text, name, index=index, kind="struct", names=tuple(value.fields))


def find_method(value: object, name: str, missing: MissingKey) -> Function | None:
    """Find the method that a field with arguments calls; None when there is no receiver."""
    if isinstance(value, values.Struct):
        method = value.method(name)
        if method is not None:
            return method
        if name in value.fields:
            raise errors.EvalError(f"{name} has arguments but cannot be invoked as function")
    elif isinstance(value, dict):
        raise errors.EvalError(f"{name} is not a method but has arguments")
    elif value is MISSING:
        _value_below_missing(name, 0, missing)
        return None
    walk(value, (name,), missing)
    raise errors.EvalError(f"{name} is not a method but has arguments")


def call_method(method: Function, arguments: tuple[object, ...]) -> object:
    """Call a method; the types of the arguments are known only now."""
    types = method.parameter_types
    if len(arguments) != len(types) and not method.variadic:
        counts = f"want {len(types)} got {len(arguments)}"
        raise errors.EvalError(f"wrong number of args for {method.name}: {counts}")
    checked = [
        check_argument(argument, types[min(index, len(types) - 1)])
        for index, argument in enumerate(arguments)
    ]
    return method.call(*checked) if callable(method.call) else MISSING


def check_argument(value: object, type_name: str) -> object:
    """Convert ``value`` for a parameter of a type (see function.Function); raises EvalError."""
    if type_name == "value":
        return value
    if type_name == "any":
        return None if value is MISSING else value
    if type_name == "map":
        return to_map(value)
    if type_name == "list":
        return to_list(value)
    return value if values.go_type(value) == type_name else refuse(value, type_name)


def to_map(value: object) -> object:
    """Return a map[string]interface {}: nil when there is no value."""
    if isinstance(value, dict) and not isinstance(value, values.TypedMap):
        return value
    return values.NilMap() if value is MISSING else refuse(value, "map[string]interface {}")


def to_list(value: object) -> object:
    """Return a []interface {}: nil when there is no value."""
    if isinstance(value, list) and not isinstance(value, values.TypedList):
        return value
    return values.NilList() if value is MISSING else refuse(value, "[]interface {}")


def refuse(value: object, type_name: str) -> NoReturn:
    """Raise EvalError for an argument that is not of a parameter's type."""
    if value is MISSING:
        raise errors.EvalError(f"invalid value; expected {type_name}")
    actual = _UNTYPED if value is None else values.go_type(value)
    raise errors.EvalError(f"wrong type for value; expected {type_name}; got {actual}")


# The items of ``range``: lists, maps in the order of their keys, numbers

_INDEXES: Final = tuple(map(values.Int, range(256)))


def elements(value: object) -> Collection[object]:
    """Return the elements of a list or a map, the numbers below an integer; EvalError otherwise."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return [item for _, item in printing.sorted_items(value)]
    if isinstance(value, int) and not isinstance(value, bool):
        return _Numbers(value) if isinstance(value, values.Sized) else range(value)
    return _bytes(value)


def pairs(value: object) -> Collection[tuple[object, object]]:
    """Return the same with the index or key of each."""
    if isinstance(value, dict):
        return printing.sorted_items(value)
    if isinstance(value, int) and not isinstance(value, bool):
        raise errors.EvalError(f"can't use {value} to iterate over more than one variable")
    items = value if isinstance(value, list) else _bytes(value)
    indexes = _INDEXES if len(items) <= len(_INDEXES) else map(values.Int, range(len(items)))
    return list(zip(indexes, items, strict=False))


def _bytes(value: object) -> list[object]:
    if value is None or value is MISSING:
        return []
    if isinstance(value, bytes):
        return list(map(values.Uint8, value))
    raise errors.EvalError(f"range can't iterate over {printing.to_text(value)}")


class _Numbers(Collection[object]):
    """The integers from 0 to below a sized one, each of its type."""

    def __init__(self, end: values.Sized) -> None:
        self._numbers = range(end)
        self._kind = type(end)

    def __contains__(self, number: object) -> bool:
        return number in self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[object]:
        return map(self._kind, self._numbers)
