"""What Crossplane applied last of an object in the cluster, read from its managed fields.

Called to keep a resource as it is while its document cannot be rendered: to leave a field out
would take it away, and to state one that a controller or a default has set would seize it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, cast

from function_script.objects import deep_copy, find_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.values import Object, Readable, Value

_MANAGER: Final = "apiextensions.crossplane.io/composed/"
# Crossplane states these by itself, whatever a function says.
_STATED_BY_CROSSPLANE: Final = {
    "metadata": ("name", "namespace", "generateName", "ownerReferences"),
    "labels": (
        "crossplane.io/composite",
        "crossplane.io/claim-name",
        "crossplane.io/claim-namespace",
    ),
    "annotations": ("crossplane.io/composition-resource-name",),
}


def applied_configuration(resource: Mapping[str, Readable]) -> Object | None:
    """The object with the fields that Crossplane owns; None when that cannot be told."""
    owned = _owned_fields(resource)
    if owned is None:
        return None
    whole = cast("Object", deep_copy(resource))
    found = cast("Object", _owned(whole, owned))
    found.pop("status", None)
    metadata = found.get("metadata")
    if isinstance(metadata, dict):
        _clean(found, metadata)
    return {"apiVersion": whole["apiVersion"], "kind": whole["kind"]} | found


def _owned_fields(resource: Mapping[str, Readable]) -> Object | None:
    entries = find_path(resource, ("metadata", "managedFields"))
    found = [
        entry["fieldsV1"]
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict)
        and str(entry.get("manager", "")).startswith(_MANAGER)
        and entry.get("operation") == "Apply"
        and entry.get("apiVersion") == resource.get("apiVersion")
        and isinstance(entry.get("fieldsV1"), dict)
    ]
    # Two composite resources have applied it: which of them is this one is not for us to say.
    return cast("Object", found[0]) if len(found) == 1 else None


def _clean(found: Object, metadata: Object) -> None:
    for name in _STATED_BY_CROSSPLANE["metadata"]:
        metadata.pop(name, None)
    for part in ("labels", "annotations"):
        texts = metadata.get(part)
        if isinstance(texts, dict):
            for name in _STATED_BY_CROSSPLANE[part]:
                texts.pop(name, None)
            if not texts:
                del metadata[part]
    if not metadata:
        del found["metadata"]


def _owned(value: Value, fields: Object) -> Value:
    """The parts of ``value`` that a set of fields names; all of it where the set goes no deeper.

    A set is an object: ``f:NAME`` is a field, ``k:KEYS`` an item of a list by its key fields,
    ``v:VALUE`` an item by its value, ``i:INDEX`` one by its place, ``.`` the value itself.
    """
    deeper = {key: below for key, below in fields.items() if key != "."}
    if isinstance(value, dict) and (deeper or "." in fields):
        return _owned_members(value, deeper)
    if isinstance(value, list) and (deeper or "." in fields):
        picked = [_owned_item(item, index, deeper) for index, item in enumerate(value)]
        return [item for item in picked if item is not None]
    return value


def _owned_members(value: Object, fields: Object) -> Object:
    found: Object = {}
    for key, below in fields.items():
        name = key.removeprefix("f:")
        if name != key and name in value and isinstance(below, dict):
            found[name] = _owned(value[name], below)
    return found


def _owned_item(item: Value, index: int, fields: Object) -> Value:
    for key, below in fields.items():
        kind, _, text = key.partition(":")
        if _is_named(item, index, kind, text):
            return _owned(item, below) if isinstance(below, dict) else item
    return None


def _is_named(item: Value, index: int, kind: str, text: str) -> bool:
    if kind == "k":
        keys = json.loads(text)
        return isinstance(item, dict) and all(item.get(key) == keys[key] for key in keys)
    if kind == "v":
        return bool(item == json.loads(text))
    return kind == "i" and text == str(index)
