"""Merge of a contribution into desired state.

The result is the request's own bytes with the changed entries spliced in, so all other entries
stay byte for byte, with fields of a newer Crossplane.
"""

from collections.abc import Callable, Mapping
from typing import cast

from function_script import wire
from function_script.contribution import Composite, Contribution, DesiredResource
from function_script.request import objects
from function_script.request.request import NO_RESOURCE
from function_script.request.values import Object
from function_script.texts.errors import DocumentError


def merge(
    request: wire.Request,
    contribution: Contribution,
    on_change: Callable[[Mapping[str, bytes]], None] | None = None,
) -> bytes | None:
    """Return the payload of desired State; None if there is none and nothing to add.

    ``on_change`` is called with the encoding of each part that the step adds, by name: b"" for a
    resource that it removes, "" for the XR.
    """
    state = request.desired
    payload = state.payload if state is not None else None
    earlier = state.resources if state is not None else {}
    removals = {name for name, entry in contribution.composed.items() if entry.resource is None}
    payloads = {
        name: _encode_composed(name, entry, entry.resource, earlier.get(name))
        for name, entry in contribution.composed.items()
        if entry.resource is not None
    }
    composite = _encode_composite(request, contribution.composite)
    if on_change is not None:
        on_change({**dict.fromkeys(removals, b""), **payloads, "": composite or b""})
    if not payloads and composite is None and not removals & earlier.keys():
        return payload
    return wire.splice_state(payload or b"", composite, payloads, removals)


def _encode_composed(
    name: str, entry: DesiredResource, resource: Object, earlier: wire.Resource | None
) -> bytes:
    if earlier is None or earlier.struct is None:
        return _encode_new(name, entry, resource)
    if not resource and not entry.replace:
        # Only its readiness is stated.
        ready = earlier.ready if entry.ready is None else entry.ready
        judged = wire.encode_resource(earlier.struct, earlier.connection_details, ready)
        return wire.splice_resource(earlier.payload, judged)
    before = wire.decode_struct(earlier.struct)
    keeps_nulls = entry.keeps_nulls and entry.replace
    if not keeps_nulls:
        resource = cast("Object", objects.without_nulls(resource))
    ready, details = entry.ready or 0, {}
    if not entry.replace:
        merged: Object = {}
        objects.merge(merged, before)
        objects.merge(merged, resource)
        resource = merged
        ready = earlier.ready if entry.ready is None else entry.ready
        details = earlier.connection_details
    # Python takes true for 1, which is told apart where all else is equal.
    if resource == before and ready == earlier.ready and objects.is_same(resource, before):
        # Unchanged: keep the bytes, with the fields that this version does not know.
        return earlier.payload
    return _encode_entry(name, resource, ready, details, drop_nulls=not keeps_nulls)


def _encode_new(name: str, entry: DesiredResource, resource: Object) -> bytes:
    """Encode a resource that no earlier step has, once for all requests that share the entry."""
    payload = entry.payload
    if payload is None:
        drop_nulls = not entry.keeps_nulls
        payload = _encode_entry(name, resource, entry.ready or 0, {}, drop_nulls=drop_nulls)
        entry.payload = payload
    return payload


def _encode_entry(
    name: str, resource: Object, ready: int, details: dict[str, bytes], *, drop_nulls: bool
) -> bytes:
    for field in ("apiVersion", "kind"):
        if not isinstance(resource.get(field), str) or not resource[field]:
            raise DocumentError.of(
                f'cannot compose resource "{name}": {field} must be a non-empty string'
            )
    struct = _encode_struct(resource, f'resource "{name}"', drop_nulls=drop_nulls)
    return wire.encode_resource(struct, details, ready)


def _encode_composite(request: wire.Request, composite: Composite) -> bytes | None:
    """Encode an earlier step's composite with the status merged; None if it is unchanged."""
    earlier = request.desired.composite if request.desired is not None else None
    earlier = earlier or NO_RESOURCE
    is_empty = (
        composite.status is None and composite.ready is None and not composite.connection_details
    )
    # function-go-templating sends the XR also where nothing of it changes.
    if is_empty and (not _is_always_desired(composite, request) or earlier.struct is not None):
        return None
    resource = wire.decode_struct(earlier.struct) if earlier.struct is not None else {}
    if composite.status is not None and composite.is_verbatim:
        objects.merge(resource, {"status": composite.status})
    elif composite.status is not None:
        _set_type(resource, request)
        objects.merge(resource, {"status": objects.without_nulls(composite.status)})
    has_resource = resource or _is_always_desired(composite, request)
    return wire.encode_resource(
        _encode_struct(resource, "the XR", drop_nulls=not composite.is_verbatim)
        if has_resource
        else earlier.struct,
        {**earlier.connection_details, **composite.connection_details},
        earlier.ready if composite.ready is None else composite.ready,
    )


def _is_always_desired(composite: Composite, request: wire.Request) -> bool:
    """Report whether the XR is desired even if it is empty; Operations have none."""
    observed = request.observed.composite if request.observed is not None else None
    return composite.is_verbatim and observed is not None


def _set_type(resource: Object, request: wire.Request) -> None:
    """Set the XR's apiVersion and kind, as every SDK does."""
    observed = request.observed.composite if request.observed is not None else None
    struct = None if observed is None else observed.struct
    if struct is None:
        return
    for key in ("apiVersion", "kind"):
        if key not in resource and (value := wire.decode_field(struct, key)) is not None:
            resource[key] = value


def _encode_struct(resource: Object, subject: str, *, drop_nulls: bool) -> bytes:
    try:
        return wire.encode_struct(resource, drop_nulls=drop_nulls)
    except ValueError as error:
        raise DocumentError.of(f"cannot compose {subject}: {error}") from error
