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
NO_RESOURCE = wire.index_resource(b"")


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
    composite = partial(
        wire.decode_struct, drop_managed_fields=not keep_managed_fields, sort_keys=sort_keys
    )
    unread = "" if keep_managed_fields else "managedFields"
    resource = partial(_resource, read=partial(_parts, unread=unread, sort_keys=sort_keys))
    parts: dict[str, Callable[[], Readable]] = {
        "meta": lambda: _meta(request),
        "observed": lambda: _state(request.observed, composite, resource),
        "desired": lambda: _state(request.desired, composite, resource),
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


def _state(
    state: wire.State | None,
    read_composite: Callable[[bytes], Object],
    resource: Callable[[wire.Resource], Lazy],
) -> Readable:
    composite = state.composite if state is not None else None
    resources = state.resources if state is not None else {}
    return Lazy(
        {
            "composite": lambda: _resource(composite or NO_RESOURCE, read=read_composite),
            "resources": lambda: _each(resources, resource),
        }
    )


def _each(
    resources: Mapping[str, wire.Resource], resource: Callable[[wire.Resource], Lazy]
) -> Lazy:
    return Lazy({name: partial(resource, resources[name]) for name in sorted(resources)})


def _resource(indexed: wire.Resource, *, read: Callable[[bytes], Readable]) -> Lazy:
    struct, details = indexed.struct, indexed.connection_details
    found: dict[str, Callable[[], Readable]] = {
        "resource": lambda: read(struct) if struct is not None else {}
    }
    if details:
        found["connection_details"] = lambda: to_texts(details)
    if indexed.ready in READY:
        found["ready"] = lambda: READY[indexed.ready]
    return Lazy(found)


def _parts(struct: bytes, *, unread: str, sort_keys: bool) -> Lazy:
    """An object whose parts, such as ``spec``, are decoded one by one."""
    parts = wire.index_struct(struct)
    return Lazy(
        {
            key: partial(
                wire.decode_part,
                parts[key],
                without=unread if key == "metadata" else "",
                sort_keys=sort_keys,
            )
            for key in (sorted(parts) if sort_keys else parts)
        }
    )


def _resources(
    groups: Mapping[str, list[wire.Resource]], resource: Callable[[wire.Resource], Lazy]
) -> Lazy:
    def items(name: str) -> Lazy:
        return Lazy({"items": lambda: [resource(item) for item in groups[name]]})

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
