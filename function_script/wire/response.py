"""A Response to RunFunctionResponse bytes, deterministically: fields by number, maps by key.

Fields with their default are omitted, as proto3 requires. A message is omitted if it is None, and
written if it is empty.

Desired state and the context are spliced: a map is encoded as a sequence of entries, so a changed
message is the old bytes without the entries that change, followed by the new ones. Nothing is
decoded, and fields of a newer protocol survive.
"""

from typing import Final

from function_script.request.values import Object
from function_script.wire.encode import encode_struct
from function_script.wire.fields import (
    LENGTH,
    Fields,
    entry_field,
    entry_header,
    length_field,
    length_header,
    read_entry,
    text_field,
    varint_field,
)
from function_script.wire.messages import (
    Condition,
    Requirements,
    Response,
    Result,
    Selector,
)

_NONE: Final = 0
_STATE_COMPOSITE: Final = 1
_STATE_RESOURCES: Final = 2
_STRUCT_FIELDS: Final = 1
_LAST_RESOURCE_FIELD: Final = 3


def encode_response(response: Response) -> bytes:
    """Encode a response.

    Empty requirements are omitted: Crossplane calls again if they differ from those of the call
    before, and present but empty differs from absent.
    """
    pieces = [length_field(1, _meta(response.tag, response.ttl_seconds))]
    if response.desired is not None:
        # By far the largest field: joining its payload saves a copy.
        pieces.append(length_header(2, response.desired))
        pieces.append(response.desired)
    pieces += [length_field(3, _result(result)) for result in response.results]
    if response.context is not None:
        pieces.append(length_field(4, response.context))
    requirements = _requirements(response.requirements)
    if requirements:
        pieces.append(length_field(5, requirements))
    pieces += [length_field(6, _condition(condition)) for condition in response.conditions]
    if response.output is not None:
        pieces.append(length_field(7, response.output))
    return b"".join(pieces)


def encode_resource(
    struct: bytes | None, connection_details: dict[str, bytes], ready: int
) -> bytes:
    """Encode a Resource; ``struct`` is its object as a Struct."""
    resource = length_field(1, struct) if struct is not None else b""
    if not connection_details:
        return resource + varint_field(3, ready) if ready else resource
    details = [entry_field(2, key, connection_details[key]) for key in sorted(connection_details)]
    return resource + b"".join(details) + varint_field(3, ready or None)


def _meta(tag: str, ttl_seconds: float | None) -> bytes:
    if ttl_seconds is None:
        return text_field(1, tag or None)
    # A google.protobuf.Duration has seconds and nanoseconds of the same sign.
    nanoseconds = round(ttl_seconds * 1_000_000_000)
    whole, rest = divmod(abs(nanoseconds), 1_000_000_000)
    sign = -1 if nanoseconds < 0 else 1
    ttl = varint_field(1, sign * whole or None) + varint_field(2, sign * rest or None)
    return text_field(1, tag or None) + length_field(2, ttl)


def _result(result: Result) -> bytes:
    return (
        varint_field(1, result.severity or None)
        + text_field(2, result.message or None)
        + text_field(3, result.reason)
        + varint_field(4, result.target)
    )


def _condition(condition: Condition) -> bytes:
    return (
        text_field(1, condition.type or None)
        + varint_field(2, condition.status or None)
        + text_field(3, condition.reason or None)
        + text_field(4, condition.message)
        + varint_field(5, condition.target)
    )


def _requirements(requirements: Requirements | None) -> bytes:
    if requirements is None:
        return b""
    extra = requirements.extra_resources
    resources = requirements.resources
    schemas = requirements.schemas
    return b"".join(
        [entry_field(1, name, _selector(extra[name])) for name in sorted(extra)]
        + [entry_field(2, name, _selector(resources[name])) for name in sorted(resources)]
        + [entry_field(3, name, _type(*schemas[name])) for name in sorted(schemas)]
    )


def _type(api_version: str, kind: str) -> bytes:
    return text_field(1, api_version or None) + text_field(2, kind or None)


def _selector(selector: Selector) -> bytes:
    match = text_field(3, selector.match_name)
    if selector.match_name is None and selector.match_labels is not None:
        labels = selector.match_labels
        entries = [entry_field(1, key, labels[key].encode()) for key in sorted(labels)]
        match = length_field(4, b"".join(entries))
    return _type(selector.api_version, selector.kind) + match + text_field(5, selector.namespace)


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
