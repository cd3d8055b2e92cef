"""Merge a contribution into desired state, and nothing else.

The result is the request's own bytes with the changed entries spliced in, so what the step does
not mention comes out byte for byte, fields of a newer Crossplane included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from function_script import objects, wire
from function_script.cache import ByteLruCache
from function_script.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Hashable

    from function_script.contribution import Composite, Contribution, DesiredResource
    from function_script.values import Object

_NOTHING = wire.index_resource(b"")

# Encoded resources by the document they were read from. The key is shared with other memos.
_MEMO_BYTES = 4 << 20
_ENTRY_BYTES = 300
_memo: ByteLruCache[Hashable, bytes] = ByteLruCache(
    _MEMO_BYTES, admit_on_second_miss=True, is_counted=True
)


def merge(request: wire.Request, wanted: Contribution) -> bytes | None:
    """The response's desired State payload; None when there is none and none is wanted."""
    state = request.desired
    payload = state.payload if state is not None else None
    earlier = state.resources if state is not None else {}
    removed = {name for name, entry in wanted.composed.items() if entry.resource is None}
    changed = {
        name: _composed(name, entry, entry.resource, earlier.get(name))
        for name, entry in wanted.composed.items()
        if entry.resource is not None
    }
    composite = _composite(request, wanted.composite)
    if not changed and composite is None and not removed & earlier.keys():
        return payload
    return wire.splice_state(payload or b"", composite, changed, removed)


def _composed(
    name: str, entry: DesiredResource, resource: Object, earlier: wire.Resource | None
) -> bytes:
    if earlier is None or earlier.struct is None:
        return _encode_new(name, entry, resource)
    if not resource and not entry.replace:
        # Nothing is said but its readiness.
        ready = earlier.ready if entry.ready is None else entry.ready
        judged = wire.encode_resource(earlier.struct, earlier.connection_details, ready)
        return wire.splice_resource(earlier.payload, judged)
    before = wire.decode_struct(earlier.struct)
    keeps_nulls = entry.keeps_nulls and entry.replace
    if not keeps_nulls:
        resource = cast("Object", objects.without_nulls(resource))
    ready, details = entry.ready or 0, {}
    if not entry.replace:
        resource = _encode_merged(before, resource)
        ready = earlier.ready if entry.ready is None else entry.ready
        details = earlier.connection_details
    if resource == before and ready == earlier.ready:
        # Echoed as it was: keep the very bytes, with whatever they hold that we do not know.
        return earlier.payload
    return _encode_entry(name, resource, ready, details, drop_nulls=not keeps_nulls)


def _encode_new(name: str, entry: DesiredResource, resource: Object) -> bytes:
    """A resource that no earlier step has: the same bytes for the same document."""
    payload = _memo.get(entry.key) if entry.key is not None else None
    if payload is None:
        drop_nulls = not entry.keeps_nulls
        payload = _encode_entry(name, resource, entry.ready or 0, {}, drop_nulls=drop_nulls)
        if entry.key is not None:
            _memo.put(entry.key, payload, size_bytes=len(payload) + _ENTRY_BYTES)
    return payload


def _encode_merged(before: Object, resource: Object) -> Object:
    merged: Object = {}
    objects.merge(merged, before)
    objects.merge(merged, resource)
    return merged


def _encode_entry(
    name: str, resource: Object, ready: int, details: dict[str, bytes], *, drop_nulls: bool
) -> bytes:
    for field in ("apiVersion", "kind"):
        if not isinstance(resource.get(field), str) or not resource[field]:
            raise DocumentError.of(
                f'cannot compose resource "{name}": {field} must be a non-empty string'
            )
    struct = _encoded(resource, f'resource "{name}"', drop_nulls=drop_nulls)
    return wire.encode_resource(struct, details, ready)


def _composite(request: wire.Request, wanted: Composite) -> bytes | None:
    """The whole desired composite: an earlier step's, with status merged; None if unchanged."""
    earlier = request.desired.composite if request.desired is not None else None
    earlier = earlier or _NOTHING
    is_silent = wanted.status is None and wanted.ready is None and not wanted.connection_details
    if is_silent and (not _is_made(wanted, request) or earlier.struct is not None):
        return None
    resource = wire.decode_struct(earlier.struct) if earlier.struct is not None else {}
    if wanted.status is not None and wanted.is_verbatim:
        objects.merge(resource, {"status": wanted.status})
    elif wanted.status is not None:
        _identify(resource, request)
        objects.merge(resource, {"status": objects.without_nulls(wanted.status)})
    is_there = resource or _is_made(wanted, request)
    return wire.encode_resource(
        _encoded(resource, "the XR", drop_nulls=not wanted.is_verbatim)
        if is_there
        else earlier.struct,
        {**earlier.connection_details, **wanted.connection_details},
        earlier.ready if wanted.ready is None else wanted.ready,
    )


def _is_made(wanted: Composite, request: wire.Request) -> bool:
    """Whether there is a desired XR in any case; Operations have none."""
    observed = request.observed.composite if request.observed is not None else None
    return wanted.is_verbatim and observed is not None


def _identify(resource: Object, request: wire.Request) -> None:
    """Say of which type the status is, as every SDK does."""
    observed = request.observed.composite if request.observed is not None else None
    if observed is None or observed.struct is None:
        return
    fields = wire.decode_struct_fields(observed.struct)
    for key in ("apiVersion", "kind"):
        if key in fields:
            resource.setdefault(key, wire.decode_value(fields[key]))


def _encoded(resource: Object, subject: str, *, drop_nulls: bool) -> bytes:
    try:
        return wire.encode_struct(resource, drop_nulls=drop_nulls)
    except ValueError as error:
        raise DocumentError.of(f"cannot compose {subject}: {error}") from error
