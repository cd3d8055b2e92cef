"""Change entries of an encoded message and leave every other byte as it is.

A map on the wire is a row of entries, so a changed message is the old bytes without the entries
that change, followed by the new ones. Nothing is decoded, and fields of a newer protocol survive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.wire.encode import encode_struct
from function_script.wire.fields import LENGTH, Fields, read_entry
from function_script.wire.write import entry_field, length_field

if TYPE_CHECKING:
    from function_script.values import Object

_NONE: Final = 0
_STATE_COMPOSITE: Final = 1
_STATE_RESOURCES: Final = 2
_STRUCT_FIELDS: Final = 1
_LAST_RESOURCE_FIELD: Final = 3


def splice_state(
    state: bytes, composite: bytes | None, resources: dict[str, bytes], removed: set[str]
) -> bytes:
    """A State with ``composite`` and ``resources`` (Resource messages) in place of the old ones.

    None keeps the composite. Changed entries follow the kept ones, sorted by name; ``removed``
    may name what is not there. Raises WireError.
    """
    # Two composites in one State would be merged by its reader, so the old one has to go.
    single = _NONE if composite is None else _STATE_COMPOSITE
    pieces = _without(state, _STATE_RESOURCES, removed | set(resources), single)
    if composite is not None:
        pieces.append(length_field(_STATE_COMPOSITE, composite))
    for name in sorted(resources):
        pieces.append(entry_field(_STATE_RESOURCES, name, resources[name]))
    return b"".join(pieces)


def splice_struct(struct: bytes, changed: Object) -> bytes:
    """A Struct with the top-level keys of ``changed`` replaced or appended, sorted.

    Raises WireError for ``struct`` and EncodeError for ``changed``.
    """
    pieces = _without(struct, _STRUCT_FIELDS, set(changed), _NONE)
    pieces.append(encode_struct(changed))
    return b"".join(pieces)


def splice_resource(resource: bytes, replacement: bytes) -> bytes:
    """``replacement`` (see `encode_resource`) with the fields of ``resource`` we do not know."""
    pieces = [replacement]
    fields = Fields(resource, 0, len(resource))
    start = 0
    while fields.next():
        if fields.number > _LAST_RESOURCE_FIELD:
            pieces.append(resource[start : fields.end])
        start = fields.end
    return b"".join(pieces)


def _without(message: bytes, entries: int, keys: set[str], single: int) -> list[bytes | memoryview]:
    """``message`` without those ``entries`` of a map that have one of ``keys``, and ``single``.

    In pieces that share its memory: the caller joins them with what it adds, in one copy.
    """
    pieces: list[bytes | memoryview] = []
    view = memoryview(message)
    kept = 0
    start = 0
    fields = Fields(message, 0, len(message))
    while fields.next():
        dropped = fields.is_field(single, LENGTH)
        if fields.is_field(entries, LENGTH):
            dropped = read_entry(message, fields.start, fields.end)[0] in keys
        if dropped:
            pieces.append(view[kept:start])
            kept = fields.end
        start = fields.end
    pieces.append(view[kept:])
    return pieces
