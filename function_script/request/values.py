"""The shapes of plain data: what JSON, a protobuf Struct and every engine agree on."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

Scalar: TypeAlias = str | int | float | bool | None
Value: TypeAlias = Scalar | list["Value"] | dict[str, "Value"]
Object: TypeAlias = dict[str, Value]
# The values that a program may read: containers need not be built yet (see lazy.Lazy).
Readable: TypeAlias = Scalar | Sequence["Readable"] | Mapping[str, "Readable"]

if TYPE_CHECKING:
    ReadableMapping: TypeAlias = Mapping[str, "Readable"]
else:
    # The base of a compiled class that registers itself: below an abstract class, mypyc makes one
    # that shares the answers of `isinstance` with its base, so that a dict would be an instance.
    ReadableMapping = object

# Doubles hold every integer up to here exactly; a Struct carries nothing but doubles.
MAX_SAFE_INTEGER = 2**53
# In a str it is half of a pair, which UTF-8 cannot hold.
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def type_name(value: object) -> str:
    """Name a value's type as YAML and JSON authors say it: ``type_name([]) == "list"``."""
    for types, name in _TYPE_NAMES:
        if isinstance(value, types):
            return name
    return type(value).__name__


def type_phrase(value: object) -> str:
    """The same with its article, for sentences: ``type_phrase({}) == "an object"``."""
    return with_article(type_name(value))


def with_article(name: str) -> str:
    """Return a type's name with its article: ``an object``, and ``null``."""
    if name == "null":
        return name
    return f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"


def text_hint(value: object) -> str | None:
    """Return the hint for a value where a text is needed; an object belongs elsewhere."""
    if value is None:
        return "leave the key out, or give it a text"
    if isinstance(value, list):
        return None if any(isinstance(each, dict) for each in value) else "make one text of it"
    return None if isinstance(value, dict) else "quote it in YAML, or make it a text in a script"


def to_integer(value: float) -> int | float:
    """Return an integral number as an int, as far as doubles hold every integer."""
    is_integral = abs(value) <= MAX_SAFE_INTEGER and value == int(value)
    return int(value) if is_integral else value


def is_encodable(value: Value) -> bool:
    """Report whether UTF-8 can hold all texts in a value: none has half of a surrogate pair."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


_TYPE_NAMES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (type(None), "null"),
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (Mapping, "object"),
    ((list, tuple), "list"),
)
