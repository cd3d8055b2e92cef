"""RunFunctionRequest bytes to a Request: where everything is, with no Struct decoded.

Called once per request, so its time is the floor of every answer's.
"""

from __future__ import annotations

from typing import Final

from function_script.wire.decode import read_entry
from function_script.wire.fields import LENGTH, VARINT, Fields, read_varint, to_int32
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


def index_request(data: bytes) -> Request:
    """The request's parts. Raises WireError when ``data`` is no RunFunctionRequest."""
    single: dict[int, bytes] = {}
    maps: dict[int, dict[str, bytes]] = {
        _EXTRA_RESOURCES: {},
        _CREDENTIALS: {},
        _REQUIRED_RESOURCES: {},
        _REQUIRED_SCHEMAS: {},
    }
    fields = Fields(data, 0, len(data))
    while fields.next():
        number = fields.number
        if fields.wire_type != LENGTH:
            continue
        if number in maps:
            key, value = read_entry(data, fields.start, fields.end)
            maps[number][key] = value
        elif number <= _CONTEXT:
            # Given twice, a message is merged, and concatenation is protobuf's merge.
            single[number] = single.get(number, b"") + fields.payload()
    tag, capabilities = _meta(single.get(_META, b""))
    return Request(
        tag,
        capabilities,
        _state(single.get(_OBSERVED)),
        _state(single.get(_DESIRED)),
        single.get(_INPUT),
        single.get(_CONTEXT),
        {key: _items(value) for key, value in maps[_EXTRA_RESOURCES].items()},
        {key: _items(value) for key, value in maps[_REQUIRED_RESOURCES].items()},
        {key: _credentials(value) for key, value in maps[_CREDENTIALS].items()},
        {key: message_field(value, 1) for key, value in maps[_REQUIRED_SCHEMAS].items()},
    )


def read_resource(payload: bytes) -> Resource:
    """The parts of a Resource message. Raises WireError."""
    struct: bytes | None = None
    details: dict[str, bytes] = {}
    ready = 0
    fields = Fields(payload, 0, len(payload))
    while fields.next():
        if fields.is_field(1, LENGTH):
            struct = fields.payload() if struct is None else struct + fields.payload()
        elif fields.is_field(2, LENGTH):
            key, value = _bytes_entry(payload, fields.start, fields.end)
            details[key] = value
        elif fields.is_field(3, VARINT):
            ready = to_int32(fields.integer())
    return Resource(payload, struct, details, ready)


def message_field(payload: bytes, number: int) -> bytes | None:
    """The message in field ``number``, merged when given several times; None when absent."""
    found: bytes | None = None
    fields = Fields(payload, 0, len(payload))
    while fields.next():
        if fields.is_field(number, LENGTH):
            found = fields.payload() if found is None else found + fields.payload()
    return found


def _meta(payload: bytes) -> tuple[str, list[int]]:
    tag = ""
    capabilities: list[int] = []
    fields = Fields(payload, 0, len(payload))
    while fields.next():
        if fields.is_field(1, LENGTH):
            tag = fields.text()
        elif fields.is_field(2, VARINT):
            capabilities.append(to_int32(fields.integer()))
        elif fields.is_field(2, LENGTH):
            position = fields.start
            while position < fields.end:
                number, position = read_varint(payload, position, fields.end)
                capabilities.append(to_int32(number))
    return tag, capabilities


def _state(payload: bytes | None) -> State | None:
    if payload is None:
        return None
    composite: bytes | None = None
    resources: dict[str, Resource] = {}
    fields = Fields(payload, 0, len(payload))
    while fields.next():
        if fields.is_field(1, LENGTH):
            composite = fields.payload() if composite is None else composite + fields.payload()
        elif fields.is_field(2, LENGTH):
            name, value = read_entry(payload, fields.start, fields.end)
            resources[name] = read_resource(value)
    return State(payload, None if composite is None else read_resource(composite), resources)


def _items(payload: bytes) -> list[Resource]:
    items: list[Resource] = []
    fields = Fields(payload, 0, len(payload))
    while fields.next():
        if fields.is_field(1, LENGTH):
            items.append(read_resource(fields.payload()))
    return items


def _credentials(payload: bytes) -> dict[str, bytes]:
    data = message_field(payload, 1) or b""
    credentials: dict[str, bytes] = {}
    fields = Fields(data, 0, len(data))
    while fields.next():
        if fields.is_field(1, LENGTH):
            key, value = _bytes_entry(data, fields.start, fields.end)
            credentials[key] = value
    return credentials


def _bytes_entry(data: bytes, start: int, end: int) -> tuple[str, bytes]:
    """Key and value of a ``map<string, bytes>`` entry: bytes given twice replace each other."""
    key = ""
    value = b""
    fields = Fields(data, start, end)
    while fields.next():
        if fields.is_field(1, LENGTH):
            key = fields.text()
        elif fields.is_field(2, LENGTH):
            value = fields.payload()
    return key, value
