"""What a program may see of a request: protocol names, plain values, built when first touched.

Called by the main path with the indexed request. A resource is decoded when a program first
reads it and is an ordinary dict from then on. Bytes are text where they are UTF-8.
"""

from __future__ import annotations

import base64
from functools import partial
from typing import TYPE_CHECKING

from function_script import wire
from function_script.program import Lazy, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from function_script.values import Object, Readable, Value

CAPABILITIES = {
    1: "CAPABILITY_CAPABILITIES",
    2: "CAPABILITY_REQUIRED_RESOURCES",
    3: "CAPABILITY_CREDENTIALS",
    4: "CAPABILITY_CONDITIONS",
    5: "CAPABILITY_REQUIRED_SCHEMAS",
}
ENVIRONMENT = "apiextensions.crossplane.io/environment"
READY = {1: "READY_TRUE", 2: "READY_FALSE"}


def scope(
    request: wire.Request,
    params: Object,
    *,
    keep_managed_fields: bool = False,
    sort_keys: bool = True,
) -> Scope:
    """The scope of one run; ``params`` come from the step's input.

    ``sort_keys``: Crossplane sends maps in another order on every call, and a program that can
    see the order of keys must not give another result for it.
    """
    struct = partial(_struct, sort_keys=sort_keys)
    decode = partial(
        wire.decode_struct, drop_managed_fields=not keep_managed_fields, sort_keys=sort_keys
    )
    resource = partial(_resource, decode=decode)
    parts: dict[str, Callable[[], Readable]] = {
        "meta": lambda: _meta(request),
        "observed": lambda: _state(request.observed, resource),
        "desired": lambda: _state(request.desired, resource),
        "input": lambda: struct(request.input),
        "context": lambda: struct(request.context),
        "required_resources": lambda: _resources(request.required_resources, resource),
        "extra_resources": lambda: _resources(request.extra_resources, resource),
        "credentials": lambda: _credentials(request),
        "required_schemas": lambda: _schemas(request, struct),
    }
    return Scope(request=Lazy(parts), params=params, seed=_uid(request))


def environment(request: wire.Request) -> Object:
    """The environment object that function-environment-configs leaves in the context."""
    fields = {} if request.context is None else wire.decode_struct_fields(request.context)
    found = wire.decode_value(fields[ENVIRONMENT]) if ENVIRONMENT in fields else None
    return found if isinstance(found, dict) else {}


def _meta(request: wire.Request) -> Object:
    names: list[Value] = [
        CAPABILITIES[number] for number in sorted(request.capabilities) if number in CAPABILITIES
    ]
    return {"tag": request.tag, "capabilities": names}


def _uid(request: wire.Request) -> str:
    if request.observed is None or request.observed.composite is None:
        return ""
    struct = request.observed.composite.struct
    if struct is None:
        return ""
    metadata = wire.decode_struct_fields(struct).get("metadata")
    found = wire.decode_value(metadata) if metadata is not None else None
    uid = found.get("uid") if isinstance(found, dict) else None
    return uid if isinstance(uid, str) else ""


def _state(state: wire.State | None, resource: Callable[[wire.Resource], Object]) -> Readable:
    composite = state.composite if state is not None else None
    resources = state.resources if state is not None else {}
    return Lazy(
        {
            "composite": lambda: resource(composite) if composite else {"resource": {}},
            "resources": lambda: _each(resources, resource),
        }
    )


def _each(
    resources: Mapping[str, wire.Resource], resource: Callable[[wire.Resource], Object]
) -> Lazy:
    return Lazy({name: partial(resource, resources[name]) for name in sorted(resources)})


def _resource(indexed: wire.Resource, *, decode: Callable[[bytes], Object]) -> Object:
    found: Object = {"resource": decode(indexed.struct) if indexed.struct is not None else {}}
    if indexed.connection_details:
        found["connection_details"] = to_texts(indexed.connection_details)
    if indexed.ready in READY:
        found["ready"] = READY[indexed.ready]
    return found


def _resources(
    groups: Mapping[str, list[wire.Resource]], resource: Callable[[wire.Resource], Object]
) -> Lazy:
    def items(name: str) -> Object:
        return {"items": [resource(item) for item in groups[name]]}

    return Lazy({name: partial(items, name) for name in sorted(groups)})


def _struct(payload: bytes | None, *, sort_keys: bool) -> Object:
    return {} if payload is None else wire.decode_struct(payload, sort_keys=sort_keys)


def _credentials(request: wire.Request) -> Object:
    return {
        name: {"data": to_texts(request.credentials[name])} for name in sorted(request.credentials)
    }


def _schemas(request: wire.Request, struct: Callable[[bytes | None], Object]) -> Lazy:
    def schema(payload: bytes | None) -> Object:
        return {} if payload is None else {"openapi_v3": struct(payload)}

    schemas = request.required_schemas
    return Lazy({name: partial(schema, schemas[name]) for name in sorted(schemas)})


def to_texts(data: Mapping[str, bytes]) -> Object:
    """Bytes as programs see them: text, or ``{"base64": ...}`` where they are not UTF-8."""
    return {key: _to_text(data[key]) for key in sorted(data)}


def _to_text(data: bytes) -> Value:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}
