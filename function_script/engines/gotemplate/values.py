"""Go's values as Python objects: the model that the engine, its builtins and sprig share.

A value's Python type *is* its Go type (table below), so data from the request needs no conversion.
Every value made for a template is of these classes. The module knows nothing of templates, printing
or the request.
"""

# Go                           Python                    made by
# string                       str                       (invalid UTF-8: surrogateescape, to_bytes)
# int64, float64, bool         int, float, bool          the request, integer functions
# int                          Int                       literals, len, atoi, until, fromYaml
# uint8, uint64, ...           Sized subclasses          index of a string, semver
# named integer type           NamedNumber subclasses    months, days of the week, durations
# []interface {}               list                      the request, list, append, ...
# []string, []int, ...         Strings, Ints, ...        splitList, until, ...
# []uint8                      bytes                     getCredentialData
# map[string]interface {}      dict                      the request, dict, ...
# map[string]string, ...       StringMap, ...            split
# nil map, nil slice           NilMap(), NilList(), ...  getters that find nothing, rest of []
# struct or pointer            Struct subclasses         getResourceCondition, toDate, semver
# nil inside a container       None
# no value at all              MISSING                   absent key; nil at the end of a pipeline
#
# Truth is Python's own: zero, empty, nil and MISSING are false, a struct is always true.
# Functions never see MISSING unless a parameter's type is `value`: it arrives as None. They may
# return None for a nil interface, and NilMap()/NilList() for a typed nil. Check `type(x) is int`
# where Go wants exactly int64; `isinstance(x, int)` is true for int, bool and every sized kind.

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import ClassVar, Final, NoReturn

from function_script.engines.gotemplate.errors import NoValueError
from function_script.request.values import LONE_SURROGATE

MIN_INT64: Final = -(1 << 63)
MAX_INT64: Final = (1 << 63) - 1
MAX_UINT64: Final = (1 << 64) - 1


class Missing:
    """The type of MISSING; false like Go's invalid reflect.Value."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing()


class Poison:
    """The value of a variable that could not be computed: even to test it is an error."""

    __slots__ = ()

    def _refuse(self, *_: object) -> NoReturn:
        raise NoValueError

    __bool__ = __getitem__ = __eq__ = get = _refuse
    __hash__ = None  # type: ignore[assignment] # nothing may look it up


POISON: Final = Poison()


class Sized(int):
    """An integer of a kind other than int64; ``go_type`` names it. Arithmetic gives int64."""

    __slots__ = ()
    go_type: ClassVar[str]


class Int(Sized):
    """Go's int."""

    __slots__ = ()
    go_type = "int"


class Uint8(Sized):
    """Go's uint8 (a byte)."""

    __slots__ = ()
    go_type = "uint8"


class Uint64(Sized):
    """Go's uint64."""

    __slots__ = ()
    go_type = "uint64"


class NamedNumber(Sized):
    """A number of a named type, which prints as a text; ``kind`` is Go's kind of the type.

    ``names`` are the texts of its numbers.
    """

    __slots__ = ()
    kind: ClassVar[str] = "int"
    names: ClassVar[tuple[str, ...]] = ()

    def text(self) -> str:
        """Return the text of Go's String method."""
        return self.names[self]


class TypedList(list[object]):
    """A slice other than []interface {}."""

    __slots__ = ()
    go_type: ClassVar[str]


class Strings(TypedList):
    """[]string."""

    __slots__ = ()
    go_type = "[]string"


class NilStrings(Strings):
    """A nil []string: regexFindAll without a match."""

    __slots__ = ()


class Ints(TypedList):
    """[]int; the items are Int."""

    __slots__ = ()
    go_type = "[]int"


class NilList(list[object]):
    """A nil []interface {}: an empty list that JSON writes as null. Never append to it."""

    __slots__ = ()


class TypedMap(dict[object, object]):
    """A map other than map[string]interface {}; ``zero`` is the value of an absent key."""

    __slots__ = ()
    go_type: ClassVar[str]
    zero: ClassVar[object] = None


class StringMap(TypedMap):
    """map[string]string."""

    __slots__ = ()
    go_type = "map[string]string"
    zero = ""


class BytesMap(TypedMap):
    """map[string][]uint8; the values are bytes."""

    __slots__ = ()
    go_type = "map[string][]uint8"
    zero = b""


class AnyMap(TypedMap):
    """map[interface {}]interface {}: the value of YAML with keys that are not text."""

    __slots__ = ()
    go_type = "map[interface {}]interface {}"


class NilMap(dict[str, object]):
    """A nil map[string]interface {}: an empty map that JSON writes as null. Never set on it."""

    __slots__ = ()


class NilBytesMap(BytesMap):
    """A nil map[string][]uint8."""

    __slots__ = ()


class Struct:
    """A Go struct or a pointer to one; ``fields`` are the exported fields in Go's order.

    methods.py has the methods of all types.
    """

    __slots__ = ("fields",)
    go_type: ClassVar[str]
    pointer: ClassVar[bool] = False

    def __init__(self, fields: Mapping[str, object]) -> None:
        self.fields = fields

    def text(self) -> str | None:
        """Return the text of Go's String or Error method; None when the type has neither."""
        return None

    def json(self) -> object:
        """Return the value for toJson: plain data with lower-case keys in Go's order."""
        return dict(self.fields)

    def yaml(self) -> object:
        """Return the value for toYaml; yaml.v3 lower-cases the field names."""
        return {name.lower(): value for name, value in self.fields.items()}


def go_type(value: object) -> str:
    """Return Go's name of a value's type, as ``%T`` and ``typeOf`` print it; ``<nil>`` for nil."""
    name = _TYPE_NAMES.get(type(value))
    if name is not None:
        return name
    if isinstance(value, (Sized, TypedList, TypedMap)):
        return value.go_type
    if isinstance(value, Struct):
        return f"*{value.go_type}" if value.pointer else value.go_type
    return _TYPE_NAMES[dict] if isinstance(value, dict) else _TYPE_NAMES[list]


_TYPE_NAMES: Final[Mapping[type, str]] = {
    str: "string",
    int: "int64",
    float: "float64",
    bool: "bool",
    Int: "int",
    dict: "map[string]interface {}",
    NilMap: "map[string]interface {}",
    list: "[]interface {}",
    NilList: "[]interface {}",
    bytes: "[]uint8",
    type(None): "<nil>",
    Missing: "<nil>",
}


def go_kind(value: object) -> str:
    """Return Go's reflect.Kind of a value, as ``kindOf`` prints it; ``invalid`` for nil."""
    if value is None or value is MISSING:
        return "invalid"
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict):
        return "map"
    if isinstance(value, (list, bytes)):
        return "slice"
    if isinstance(value, Struct):
        return "ptr" if value.pointer else "struct"
    return value.kind if isinstance(value, NamedNumber) else go_type(value)


def is_nil(value: object) -> bool:
    """Report whether Go would call a value nil: nil itself, a nil map or a nil slice."""
    return value is None or value is MISSING or isinstance(value, _NIL_TYPES)


_NIL_TYPES: Final = (NilMap, NilList, NilStrings, NilBytesMap)


def deep_key(value: object) -> object:
    """Return a hashable form of a value: equal where reflect.DeepEqual says so.

    An int64 3 is not an int 3. The time grows with the size once written out: measure what
    templates built.
    """
    kind = go_type(value)
    if isinstance(value, dict):
        pairs = frozenset((key, deep_key(item)) for key, item in value.items())
        # A nil map and an empty one differ.
        return kind, is_nil(value), pairs
    if isinstance(value, list):
        return kind, is_nil(value), tuple(map(deep_key, value))
    if isinstance(value, Struct):
        # A time and a version have no exported fields, and all that they are in their text.
        text = value.text()
        return kind, tuple(map(deep_key, value.fields.values())) if text is None else text
    # NaN equals nothing, not even itself.
    return object() if value != value else (kind, value)  # noqa: PLR0124 # how to know NaN


def to_bytes(text: str) -> bytes:
    """Return the bytes of a Go string."""
    return text.encode("utf-8", "surrogateescape")


def to_string(data: bytes) -> str:
    """Return a Go string of these bytes; what is not UTF-8 survives as lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


def is_broken(text: str) -> bool:
    """Report whether a Go string has bytes that are not UTF-8 (or that became so by joining)."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def whole(text: str) -> str:
    """Return the text with U+FFFD for each byte that belongs to no character."""
    if not is_broken(text):
        return text
    # Halves of a character that were joined are whole again after a turn through bytes.
    return LONE_SURROGATE.sub("\ufffd", to_string(to_bytes(text)))


def byte_length(text: str) -> int:
    """Return ``len`` of a Go string: bytes, not characters."""
    return len(text) if text.isascii() else len(to_bytes(text))


def to_narrow(text: str) -> str:
    """Return a text with one character for each byte."""
    return text if text.isascii() else to_bytes(text).decode("latin-1")


def to_wide(text: str) -> str:
    """Return the text whose bytes these characters are."""
    return text if text.isascii() else to_string(text.encode("latin-1"))


def is_code_point(number: int) -> bool:
    """Report whether a number is that of a Unicode character, surrogates apart."""
    return 0 <= number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF  # noqa: PLR2004 # Unicode's bounds


def wrap_int64(number: int) -> int:
    """Return a number as int64 arithmetic leaves it: wrapped around at 64 bits."""
    return (number - MIN_INT64) % (MAX_UINT64 + 1) + MIN_INT64


def read_integer(text: str) -> int | None:
    """Return the number of a literal, of any size: ``42``, ``0x2a``, ``052``, ``1_000``."""
    if not text.isascii() or text != text.strip():
        return None
    octal = _OLD_OCTAL.fullmatch(text)
    # Python wants another form of octal numbers.
    try:
        return int(text, 0) if octal is None else int(f"{octal[1]}0{octal[2]}", 8)
    except ValueError:
        return None


_OLD_OCTAL: Final = re.compile(r"([+-]?)0([0-9_]+)")


def read_float(text: str) -> float | None:
    """Return strconv.ParseFloat; None if it fails, also for a number that is too large."""
    if _FLOAT.fullmatch(text) is not None:
        number = float(text)
        return None if math.isinf(number) and "n" not in text.lower() else number
    if _HEX_FLOAT.fullmatch(text) is None:
        return None
    try:
        return float.fromhex(text.replace("_", ""))
    except OverflowError:
        return None


_DIGITS: Final = "[0-9](?:_?[0-9])*+"
_FLOAT: Final = re.compile(
    rf"[+-]?(?:(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:e[+-]?{_DIGITS})?|inf(?:inity)?)|nan",
    re.IGNORECASE,
)
_HEX_DIGITS: Final = "[0-9a-f](?:_?[0-9a-f])*+"
_HEX_FLOAT: Final = re.compile(
    rf"[+-]?0x(?:_?{_HEX_DIGITS}\.?(?:{_HEX_DIGITS})?|\.{_HEX_DIGITS})p[+-]?{_DIGITS}",
    re.IGNORECASE,
)
