"""Plain values to Struct bytes; see the encoding in `wire`.

The bytes are deterministic: keys are sorted, and fields are written in the order of their numbers.
"""

import math
import struct
from typing import Final, cast

from function_script.request.values import MAX_SAFE_INTEGER, Object
from function_script.wire.fields import varint

MAX_DEPTH: Final = 100
# Aliases of YAML make small documents whose written form is huge; these limits stop it.
MAX_NODES: Final = 200_000
MAX_BYTES: Final = 64 << 20

_NULL: Final = b"\x08\x00"
_TRUE: Final = b"\x20\x01"
_FALSE: Final = b"\x20\x00"
_DOUBLE: Final = struct.Struct("<cd")  # the tag and the number
_SMALL: Final = 1024
_NUMBERS: Final = [_DOUBLE.pack(b"\x11", number) for number in range(_SMALL)]


_TEXT_TAG: Final = b"\x1a"
_STRUCT_TAG: Final = b"\x2a"


def _head(tag: bytes, length: int) -> bytes:
    """Encode what precedes a value's content behind its key: the Value's size, tag and size."""
    size = varint(length)
    return varint(1 + len(size) + length) + tag + size


_TEXT_HEADS: Final = [_head(_TEXT_TAG, length) for length in range(_SMALL)]
_STRUCT_HEADS: Final = [_head(_STRUCT_TAG, length) for length in range(_SMALL)]
_ENTRY_HEADS: Final = [b"\x0a" + varint(length) for length in range(_SMALL)]

# Manifests share a few hundred keys. Cleared when full, which bounds it.
_MAX_KEYS: Final = 4096
_MAX_KEY_LENGTH: Final = 64
_keys: Final[dict[str, bytes]] = {}


class _Entries:
    """Encoded entries by key and text: most texts of a new document are those of others.

    Only short texts in ASCII, which have as many bytes as characters. Cleared when full.
    """

    def __init__(self) -> None:
        self.by_key: dict[str, dict[str, bytes]] = {}
        self.count: int = 0

    def add(self, key: str, text: str, entry: bytes) -> None:
        """Add the entry of a key with a text."""
        if self.count >= _MAX_ENTRIES:
            self.by_key.clear()
            self.count = 0
        self.by_key.setdefault(key, {})[text] = entry
        self.count += 1


_MAX_ENTRIES: Final = 2048
_MAX_ENTRY_TEXT: Final = 64
_entries: Final = _Entries()


class EncodeError(ValueError):
    """A value that a Struct cannot hold, with its ``path`` and the ``cause``."""

    def __init__(self, path: str, cause: str) -> None:
        super().__init__(path, cause)
        self.path: str = path
        self.cause: str = cause

    def __str__(self) -> str:
        return f"{self.path.removeprefix('.') or 'the object'} {self.cause}"


class _Budget:
    """The nodes, and the bytes of keys and texts, of one value so far; and its ``drop_nulls``."""

    def __init__(self, *, drop_nulls: bool) -> None:
        self.drop_nulls: bool = drop_nulls
        self.nodes: int = 0
        self.size: int = 0

    def take(self, nodes: int, size: int) -> None:
        """Count nodes and bytes. Raises EncodeError beyond the limits."""
        self.nodes += nodes
        self.size += size
        if self.nodes > MAX_NODES:
            raise EncodeError("", f"goes past {MAX_NODES} values, the most that fit")
        if self.size > MAX_BYTES:
            raise EncodeError("", f"goes past {MAX_BYTES >> 20} MiB, the most that fit")


def encode_struct(value: Object, *, drop_nulls: bool = False) -> bytes:
    """Encode a dict as a Struct. Raises EncodeError, a ValueError, with the path.

    ``drop_nulls`` omits fields that are null, at any depth; nulls in lists stay.
    Errors are NaN and infinities, integers that a double cannot hold exactly, keys and values of
    other types, more than 100 nested containers, 200,000 nodes, or 64 MiB.
    """
    # Programs may return other types than the declared ones, so every value is checked.
    return _object(cast("dict[object, object]", value), _Budget(drop_nulls=drop_nulls), 1)


def _object(value: dict[object, object], budget: _Budget, depth: int) -> bytes:
    _enter(budget, len(value), depth)
    keys = _sorted_keys(value)
    pieces: list[bytes] = []
    entries = _entries.by_key
    key = ""
    try:
        for key in keys:
            item = value[key]
            if item is None and budget.drop_nulls:
                continue
            if isinstance(item, str):
                # Most values are texts, and most texts are short.
                texts = entries.get(key)
                entry = None if texts is None else texts.get(item)
                if entry is None:
                    entry = _text_entry(key, item, budget)
                else:
                    # A text that was encoded before counts like any other.
                    budget.take(0, len(item))
                pieces.append(entry)
                continue
            prefix = _keys.get(key)
            if prefix is None:
                prefix = _key(key, budget)
            if isinstance(item, dict):
                content = _object(item, budget, depth + 1)
                length = len(content)
                head = _STRUCT_HEADS[length] if length < _SMALL else _head(_STRUCT_TAG, length)
            else:
                content = _value(item, budget, depth + 1)
                head = varint(len(content))
            length = len(prefix) + len(head) + len(content)
            pieces.append(_ENTRY_HEADS[length] if length < _SMALL else b"\x0a" + varint(length))
            pieces.append(prefix)
            pieces.append(head)
            pieces.append(content)
    except EncodeError as error:
        raise EncodeError(_step(key) + error.path, error.cause) from None
    return b"".join(pieces)


def _text_entry(key: str, text: str, budget: _Budget) -> bytes:
    """Encode a map entry with a text."""
    prefix = _keys.get(key)
    if prefix is None:
        prefix = _key(key, budget)
    content = _text(text, budget)
    size = len(content)
    head = _TEXT_HEADS[size] if size < _SMALL else _head(_TEXT_TAG, size)
    length = len(prefix) + len(head) + size
    start = _ENTRY_HEADS[length] if length < _SMALL else b"\x0a" + varint(length)
    entry = b"".join([start, prefix, head, content])
    if size <= _MAX_ENTRY_TEXT and size == len(text) and len(key) <= _MAX_KEY_LENGTH:
        _entries.add(key, text, entry)
    return entry


def _list(value: list[object], budget: _Budget, depth: int) -> bytes:
    _enter(budget, len(value), depth)
    pieces: list[bytes] = []
    index = 0
    try:
        for item in value:
            encoded = _value(item, budget, depth + 1)
            pieces.append(b"\x0a")
            pieces.append(varint(len(encoded)))
            pieces.append(encoded)
            index += 1
    except EncodeError as error:
        raise EncodeError(f"[{index}]{error.path}", error.cause) from None
    return b"".join(pieces)


def _value(value: object, budget: _Budget, depth: int) -> bytes:
    if isinstance(value, str):
        text = _text(value, budget)
        return b"\x1a" + varint(len(text)) + text
    if value is None:
        return _NULL
    if isinstance(value, bool):
        return _TRUE if value else _FALSE
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, dict):
        payload = _object(value, budget, depth)
        return b"\x2a" + varint(len(payload)) + payload
    if isinstance(value, list):
        payload = _list(value, budget, depth)
        return b"\x32" + varint(len(payload)) + payload
    if isinstance(value, float):
        return _float(value)
    raise EncodeError("", f"has a type JSON does not know: {type(value).__name__}")


def _enter(budget: _Budget, nodes: int, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise EncodeError("", f"is nested more than {MAX_DEPTH} levels deep")
    budget.take(nodes, 0)


def _sorted_keys(value: dict[object, object]) -> list[str]:
    keys: list[str] = []
    for key in value:
        if not isinstance(key, str):
            raise EncodeError("", f"has the key {key!r}, which is no string")
        keys.append(key)
    keys.sort()
    return keys


def _key(key: str, budget: _Budget) -> bytes:
    """Return a map entry up to its value's length: the key's field and the value's tag."""
    text = _text(key, budget)
    prefix = b"\x0a" + varint(len(text)) + text + b"\x12"
    if len(text) <= _MAX_KEY_LENGTH:
        if len(_keys) >= _MAX_KEYS:
            _keys.clear()
        _keys[key] = prefix
    return prefix


def _text(value: str, budget: _Budget) -> bytes:
    try:
        text = value.encode()
    except UnicodeEncodeError:
        raise EncodeError("", "has half of a surrogate pair, which UTF-8 cannot hold") from None
    budget.take(0, len(text))
    return text


def _integer(value: int) -> bytes:
    if 0 <= value < _SMALL:
        return _NUMBERS[value]
    if not (-MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER or _is_double(value)):
        raise EncodeError("", "is an integer beyond 2**53 that a double cannot hold exactly")
    return _DOUBLE.pack(b"\x11", value)


def _is_double(value: int) -> bool:
    try:
        return int(float(value)) == value
    except OverflowError:
        return False


def _float(value: float) -> bytes:
    if not math.isfinite(value):
        raise EncodeError("", f"is {value}, which JSON cannot hold")
    return _DOUBLE.pack(b"\x11", value)


def _step(key: str) -> str:
    """Return a key as part of a path: ``.spec``, or ``["a.b/c"]`` for other characters."""
    return f".{key}" if key.replace("_", "").replace("-", "").isalnum() else f'["{key}"]'
