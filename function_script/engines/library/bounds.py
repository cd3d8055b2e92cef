"""Types and sizes of library functions' arguments, checked before a function does any work.

Any function of the library handles arguments within these bounds in a fraction of a step's time and
memory.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from function_script.request.values import Object, Readable, Value, type_name, type_phrase

MAX_CHARACTERS = 1 << 20
MAX_ITEMS = 100_000
MAX_DEPTH = 100
MAX_INTEGER = 2**64

# Converts an argument to the type of the implementation's parameter, or raises ValueError.
Read: TypeAlias = Callable[[Readable], Readable]


def check_length(characters: int) -> None:
    """Raise ValueError when a text of this many characters is more than the library handles."""
    if characters > MAX_CHARACTERS:
        raise ValueError(f"{characters:,} characters are more than {MAX_CHARACTERS:,}")


def check_count(items: int) -> None:
    """Raise ValueError when this many items are more than the library handles."""
    if items > MAX_ITEMS:
        raise ValueError(f"more than {MAX_ITEMS:,} items")


def _text(value: Readable) -> str:
    if not isinstance(value, str):
        raise _type_error("a string", value)
    check_length(len(value))
    return value


def _integer(value: Readable) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _type_error("an integer", value)
    if abs(value) >= MAX_INTEGER:
        raise ValueError("an integer beyond 64 bits")
    return value


def _boolean(value: Readable) -> bool:
    if not isinstance(value, bool):
        raise _type_error("a boolean", value)
    return value


def _list_of(read: Callable[[Readable], Value], expected: str) -> Read:
    def read_items(value: Readable) -> list[Value]:
        if not isinstance(value, (list, tuple)):
            raise _type_error(expected, value)
        check_count(len(value))
        return [read(item) for item in value]

    return read_items


def _copy_of(kind: type[list[Value] | Object], expected: str) -> Read:
    def read(value: Readable) -> Value:
        whole = _whole(value)
        if not isinstance(whole, kind):
            raise _type_error(expected, value)
        return whole

    return read


def _path(value: Readable) -> str | list[str | int]:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (list, tuple)) and all(isinstance(part, (str, int)) for part in value):
        return [part for part in value if isinstance(part, (str, int))]
    raise _type_error("a path or a list of keys", value)


def _resource(value: Readable) -> Readable:
    if not (value is None or isinstance(value, (dict, Mapping))):
        raise _type_error("an object", value)
    return value


def _whole(value: Readable) -> Value:
    """Return a deep copy of ``value`` in bounded time, even if it shares parts with itself."""
    copy = _Copy()
    whole = copy.of(value, MAX_DEPTH)
    # A copy has the same texts, of which none is copied: their lengths may be added up first.
    check_length(copy.characters)
    return whole


class _Copy:
    """A deep copy that counts: a part that is shared counts each time that it occurs."""

    def __init__(self) -> None:
        self.items = 0
        self.characters = 0

    def of(self, value: Readable, depth: int) -> Value:
        if value is None or isinstance(value, (str, bool, int, float)):
            return self._scalar(value)
        if depth == 0:
            raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
        if isinstance(value, (dict, Mapping)):
            self._count(len(value))
            return {self._key(key): self.of(item, depth - 1) for key, item in value.items()}
        if isinstance(value, (list, tuple, Sequence)):
            self._count(len(value))
            return [self.of(item, depth - 1) for item in value]
        raise ValueError(f"a value of type {type_name(value)} is no data")

    def _count(self, items: int) -> None:
        self.items += items
        check_count(self.items)

    def _key(self, key: object) -> str:
        if not isinstance(key, str):
            raise _type_error("a string", key, subject=f"the key {key!r} ")
        self.characters += len(key)
        return key

    def _scalar(self, value: str | float | None) -> str | int | float | None:
        if isinstance(value, str):
            self.characters += len(value)
        elif isinstance(value, float):
            if not math.isfinite(value):
                raise ValueError(f"the number {value} has no place in JSON")
        elif isinstance(value, int) and abs(value) >= MAX_INTEGER:
            raise ValueError("an integer beyond 64 bits")
        return value


def _type_error(expected: str, value: object, *, subject: str = "") -> ValueError:
    return ValueError(f"{subject}must be {expected}, not {type_phrase(value)}")


# An object that a function only looks into: of any size, and null while nothing is observed.
Resource: TypeAlias = Mapping[str, Readable] | None


class Type(NamedTuple):
    """A type of parameters: its name in the reference, its JSON types (none for any), its reader.

    A function only looks into a value that ``is_view``, which may be of any size. It gets others
    as a copy.
    """

    name: str
    json_types: tuple[str, ...]
    read: Read
    is_view: bool = False


TYPES: Final[Mapping[object, Type]] = {
    str: Type("string", ("string",), _text),
    int: Type("integer", ("integer",), _integer),
    bool: Type("boolean", ("boolean",), _boolean),
    list[str]: Type("list of strings", ("list",), _list_of(_text, "a list of strings")),
    list[int]: Type("list of integers", ("list",), _list_of(_integer, "a list of integers")),
    list[Value]: Type("list", ("list",), _copy_of(list, "a list")),
    Object: Type("object", ("object",), _copy_of(dict, "an object")),
    Value: Type("any", (), _whole),
    Readable: Type("any", (), lambda value: value, is_view=True),
    Resource: Type("resource", ("object", "null"), _resource, is_view=True),
    str | Sequence[str | int]: Type("path", ("string", "list"), _path),
}
"""The types of parameters by an implementation's annotation."""
