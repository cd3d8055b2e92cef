"""RunFunctionRequest bytes to a Request: an index of its parts, without decoding Structs.

It does not copy large parts: in a worker that has just answered, new memory costs more than reading
the bytes.
"""

from contextlib import suppress
from typing import Final

from function_script.wire.decode import decode_struct
from function_script.wire.fields import (
    LENGTH,
    VARINT,
    Fields,
    Part,
    WireError,
    read_bytes_entry,
    read_entry,
    read_varint,
    to_int32,
    varint,
)
from function_script.wire.messages import Request, Resource, State

# RunFunctionRequest
_META: Final = 1
_OBSERVED: Final = 2
_DESIRED: Final = 3
_INPUT: Final = 4
_CONTEXT: Final = 5
_EXTRA_RESOURCES: Final = 6
_CREDENTIALS: Final = 7
_REQUIRED_RESOURCES: Final = 8
_REQUIRED_SCHEMAS: Final = 9
# A field of our own: the server's in front of a request, a client's elsewhere, and not read there.
REMOTE_TEXTS: Final = 1000
REMOTE_TAG: Final = varint(REMOTE_TEXTS << 3 | LENGTH)
IGNORED_FIELD: Final = b"\x08\0"
"""A number as the field ``meta``, which is a message: no reader takes it."""
# The most that the server itself reads, while all its calls wait: fields of a message, and bytes of
# a request whose parts come in pieces. No sound client sends more.
_MAX_FIELDS: Final = 10_000
_MAX_BYTES_IN_PIECES: Final = 256 * 1024
# Of credentials together. A Secret has as much at most.
_MAX_CREDENTIALS_BYTES: Final = 1024 * 1024


def index_request(data: bytes) -> Request:
    """Index a request. Raises WireError if ``data`` is not a RunFunctionRequest."""
    single: dict[int, Part] = {}
    maps: dict[int, dict[str, Part]] = {
        _EXTRA_RESOURCES: {},
        _CREDENTIALS: {},
        _REQUIRED_RESOURCES: {},
        _REQUIRED_SCHEMAS: {},
    }
    remote_texts: dict[str, bytes] = {}
    fields = Fields(data, 0, len(data))
    while data.startswith(REMOTE_TAG, fields.end) and fields.next():
        key, texts = read_bytes_entry(data, fields.start, fields.end)
        remote_texts[key] = texts
    while fields.next():
        number = fields.number
        if fields.wire_type != LENGTH:
            continue
        if number in maps:
            key, value = read_entry(data, fields.start, fields.end)
            entries = maps[number]
            if key in entries:
                _check_replaced(number, entries[key])
            entries[key] = value
        # Fields 1 to 5 are messages that occur once.
        elif number <= _CONTEXT:
            single[number] = fields.merged(single.get(number))
    tag, capabilities = _meta(single.get(_META))
    return Request(
        tag,
        capabilities,
        _state(single.get(_OBSERVED)),
        _state(single.get(_DESIRED)),
        _to_bytes(single.get(_INPUT)),
        _to_bytes(single.get(_CONTEXT)),
        {key: _items(value) for key, value in maps[_EXTRA_RESOURCES].items()},
        {key: _items(value) for key, value in maps[_REQUIRED_RESOURCES].items()},
        {key: _credentials(value) for key, value in maps[_CREDENTIALS].items()},
        {key: _to_bytes(_message(value)) for key, value in maps[_REQUIRED_SCHEMAS].items()},
        remote_texts,
    )


def index_tag(data: bytes) -> Request:
    """Index only the tag, as far as ``data`` can be read; never raises.

    Other parts are skipped by their size, so an error inside one of them does not matter.
    """
    tag = ""
    fields = Fields(data, 0, len(data))
    meta = Fields(data, 0, 0)
    with suppress(WireError):
        for _ in range(_MAX_FIELDS):
            if meta.next():
                if meta.is_field(1, LENGTH):
                    tag = meta.text()
            elif not fields.next():
                break
            elif fields.is_field(_META, LENGTH):
                meta = fields.part().fields()
    return index_request(b"")._replace(tag=tag)


def index_passed(data: bytes) -> Request:
    """Index only the parts that a response passes on: the tag, desired state, the context.

    Maps and messages in them are not read, so desired state has no resources, and the number of
    resources hardly matters. Raises WireError, also for what takes too long to read.
    """
    single: dict[int, Part] = {}
    fields = Fields(data, 0, len(data))
    for _ in range(_MAX_FIELDS):
        if not fields.next():
            break
        if fields.is_field(_DESIRED, LENGTH) or fields.is_field(_CONTEXT, LENGTH):
            if fields.number in single and len(data) > _MAX_BYTES_IN_PIECES:
                raise WireError(f"field {fields.number} comes in pieces")
            single[fields.number] = fields.merged(single.get(fields.number))
    else:
        raise WireError(f"more than {_MAX_FIELDS:,} fields")
    desired = single.get(_DESIRED)
    return index_tag(data)._replace(
        desired=None if desired is None else State(desired, None, {}),
        context=_to_bytes(single.get(_CONTEXT)),
    )


def read_credentials(data: bytes, names: frozenset[str]) -> dict[str, dict[str, bytes]]:
    """Return the credentials with these names that a request has, and read nothing else of it.

    Raises WireError, also for what takes too long to read.
    """
    credentials: dict[str, dict[str, bytes]] = {}
    size = 0
    fields = Fields(data, 0, len(data))
    for _ in range(_MAX_FIELDS):
        if not fields.next():
            return credentials
        if not fields.is_field(_CREDENTIALS, LENGTH):
            continue
        entry = fields.part().fields()
        # Every library writes the key first. The rest of an entry may be long.
        if entry.next() and entry.is_field(1, LENGTH) and entry.text() not in names:
            continue
        size += fields.end - fields.start
        if size > _MAX_CREDENTIALS_BYTES:
            raise WireError(f"they have more than {_MAX_CREDENTIALS_BYTES >> 20} MiB together")
        name, value = read_entry(data, fields.start, fields.end)
        credentials[name] = _credentials(value)
    raise WireError(f"more than {_MAX_FIELDS:,} fields")


def index_resource(payload: bytes) -> Resource:
    """Index a Resource message. Raises WireError."""
    return _resource(Part(payload, 0, len(payload)))


def _meta(message: Part | None) -> tuple[str, list[int]]:
    tag = ""
    capabilities: list[int] = []
    if message is None:
        return tag, capabilities
    fields = message.fields()
    while fields.next():
        if fields.is_field(1, LENGTH):
            tag = fields.text()
        elif fields.is_field(2, VARINT):
            capabilities.append(to_int32(fields.integer()))
        elif fields.is_field(2, LENGTH):
            # Readers must accept a repeated enum packed and unpacked.
            position = fields.start
            while position < fields.end:
                number, position = read_varint(fields.data, position, fields.end)
                capabilities.append(to_int32(number))
    return tag, capabilities


def _state(message: Part | None) -> State | None:
    if message is None:
        return None
    composite: Part | None = None
    resources: dict[str, Resource] = {}
    fields = message.fields()
    while fields.next():
        if fields.is_field(2, LENGTH):
            name, value = read_entry(fields.data, fields.start, fields.end)
            if name in resources:
                _check_resource(resources[name])
            resources[name] = _resource(value)
        elif fields.is_field(1, LENGTH):
            composite = fields.merged(composite)
    return State(message, None if composite is None else _resource(composite), resources)


def _resource(message: Part) -> Resource:
    struct: Part | None = None
    details: dict[str, bytes] = {}
    ready = 0
    fields = message.fields()
    while fields.next():
        if fields.is_field(1, LENGTH):
            struct = fields.merged(struct)
        elif fields.is_field(2, LENGTH):
            key, value = read_bytes_entry(fields.data, fields.start, fields.end)
            details[key] = value
        elif fields.is_field(3, VARINT):
            ready = to_int32(fields.integer())
    return Resource(message, struct, details, ready)


def _items(message: Part) -> list[Resource]:
    items: list[Resource] = []
    fields = message.fields()
    while fields.next():
        if fields.is_field(1, LENGTH):
            items.append(_resource(fields.part()))
    return items


def _credentials(message: Part) -> dict[str, bytes]:
    credentials: dict[str, bytes] = {}
    data = _message(message)
    if data is None:
        return credentials
    fields = data.fields()
    while fields.next():
        if fields.is_field(1, LENGTH):
            key, value = read_bytes_entry(fields.data, fields.start, fields.end)
            credentials[key] = value
    return credentials


def _message(outer: Part) -> Part | None:
    """Return the message in field 1, the only field of some messages."""
    message: Part | None = None
    fields = outer.fields()
    while fields.next():
        if fields.is_field(1, LENGTH):
            message = fields.merged(message)
    return message


def _check_replaced(number: int, message: Part) -> None:
    """Validate the value of an entry that a later entry replaces, as protobuf does."""
    if number == _CREDENTIALS:
        _credentials(message)
    elif number == _REQUIRED_SCHEMAS:
        schema = _message(message)
        if schema is not None:
            decode_struct(schema.to_bytes())
    else:
        for resource in _items(message):
            _check_resource(resource)


def _check_resource(resource: Resource) -> None:
    """Validate the object of a resource that is replaced."""
    struct = resource.struct
    if struct is not None:
        decode_struct(struct)


def _to_bytes(part: Part | None) -> bytes | None:
    return None if part is None else part.to_bytes()
