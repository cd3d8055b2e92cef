"""Changes of entries of an encoded message that preserve every other byte.

A map is encoded as a sequence of entries, so a changed message is the old bytes without the entries
that change, followed by the new ones. Nothing is decoded, and fields of a newer protocol survive.
"""

from typing import Final

from function_script.request.values import Object
from function_script.wire.encode import encode_struct
from function_script.wire.fields import LENGTH, Fields, read_entry
from function_script.wire.write import entry_header, length_field

_NONE: Final = 0
_STATE_COMPOSITE: Final = 1
_STATE_RESOURCES: Final = 2
_STRUCT_FIELDS: Final = 1
_LAST_RESOURCE_FIELD: Final = 3


def splice_state(
    state: bytes, composite: bytes | None, resources: dict[str, bytes], removed: set[str]
) -> bytes:
    """Replace ``composite`` and ``resources`` (Resource messages) of a State.

    None keeps the composite. New entries follow the old ones, sorted by name; ``removed`` may have
    names that do not exist. Raises WireError.
    """
    # A reader would merge two composites in one State, so the old one is removed.
    single = _NONE if composite is None else _STATE_COMPOSITE
    pieces = _without(state, _STATE_RESOURCES, removed | set(resources), single)
    if composite is not None:
        pieces.append(length_field(_STATE_COMPOSITE, composite))
    for name in sorted(resources):
        resource = resources[name]
        pieces.append(entry_header(_STATE_RESOURCES, name, resource))
        pieces.append(resource)
    return b"".join(pieces)


def splice_struct(struct: bytes, changed: Object) -> bytes:
    """Replace or append the top-level keys of ``changed``, sorted, in a Struct.

    Raises WireError for ``struct`` and EncodeError for ``changed``.
    """
    pieces = _without(struct, _STRUCT_FIELDS, set(changed), _NONE)
    pieces.append(encode_struct(changed))
    return b"".join(pieces)


def splice_resource(resource: bytes, replacement: bytes) -> bytes:
    """Return ``replacement`` (see `encode_resource`) with the unknown fields of ``resource``."""
    pieces = [replacement]
    fields = Fields(resource, 0, len(resource))
    start = 0
    while fields.next():
        if fields.number > _LAST_RESOURCE_FIELD:
            pieces.append(resource[start : fields.end])
        start = fields.end
    return b"".join(pieces)


def _without(message: bytes, entries: int, keys: set[str], single: int) -> list[bytes | memoryview]:
    """Return ``message`` without the field ``single`` and the ``entries`` with one of ``keys``.

    The pieces share its memory, so that the caller joins them with its own in one copy.
    """
    pieces: list[bytes | memoryview] = []
    view = memoryview(message)
    piece_start = 0
    start = 0
    fields = Fields(message, 0, len(message))
    while fields.next():
        is_removed = fields.is_field(single, LENGTH)
        if fields.is_field(entries, LENGTH):
            is_removed = read_entry(message, fields.start, fields.end)[0] in keys
        if is_removed:
            pieces.append(view[piece_start:start])
            piece_start = fields.end
        start = fields.end
    pieces.append(view[piece_start:])
    return pieces
