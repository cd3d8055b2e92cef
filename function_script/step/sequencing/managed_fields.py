"""Crossplane's applied configuration of an object, read from its managed fields.

It keeps a resource as it is while its document cannot be rendered. Leaving out a field that
Crossplane owns would remove it; applying one that a controller or a default set would take
ownership of it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from function_script.request.objects import deep_copy, find_path
from function_script.request.values import Object, Readable, Value

_MANAGER: Final = "apiextensions.crossplane.io/composed/"
# Crossplane sets these itself and ignores a function's values.
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
    """Return the object with the fields that Crossplane owns; None when they are not known."""
    fields = _owned_fields(resource)
    if fields is None:
        return None
    # The status is often the largest part, and never applied.
    whole = cast("Object", {key: deep_copy(resource[key]) for key in resource if key != "status"})
    try:
        configuration = cast("Object", _select(whole, fields))
    except (ValueError, RecursionError):
        return None
    remove_crossplane_metadata(configuration)
    return {"apiVersion": whole["apiVersion"], "kind": whole["kind"]} | configuration


def parts_of_others(resource: Object, path: Sequence[str]) -> Iterator[Value]:
    """Yield what each other manager has of a field; the parts may share its containers.

    Who has more than the field, as a whole, holds nothing of it against an apply.
    """
    value = find_path(resource, path)
    keys = [f"f:{name}" for name in path]
    own = find_path(_owned_fields(resource), keys)
    for entry in _entries(resource):
        fields = find_path(entry.get("fieldsV1"), keys)
        if not str(entry.get("manager", "")).startswith(_MANAGER) and isinstance(fields, dict):
            yield _select(cast("Value", value), cast("Object", fields), own)


def _owned_fields(resource: Mapping[str, Readable]) -> Object | None:
    """Return the ``fieldsV1`` of Crossplane's one Apply entry."""
    field_sets = [
        entry["fieldsV1"]
        for entry in _entries(resource)
        if str(entry.get("manager", "")).startswith(_MANAGER)
        and entry.get("operation") == "Apply"
        # The fields of another version have other paths.
        and entry.get("apiVersion") == resource.get("apiVersion")
        and isinstance(entry.get("fieldsV1"), dict)
    ]
    # With two entries, two composite resources applied the object, and ours is not known.
    return cast("Object", field_sets[0]) if len(field_sets) == 1 else None


def _entries(resource: Mapping[str, Readable]) -> Iterator[Mapping[str, Readable]]:
    entries = find_path(resource, ("metadata", "managedFields"))
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            yield entry


def remove_crossplane_metadata(configuration: Object) -> None:
    """Remove what Crossplane sets itself from an object that a function desires."""
    metadata = configuration.get("metadata")
    if not isinstance(metadata, dict):
        return
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
        del configuration["metadata"]


def _select(value: Value, fields: Object, own: Readable = None) -> Value:
    """Return the parts of ``value`` that a set of fields names.

    A set is an object: ``f:NAME`` is a field, ``k:KEYS`` an item of a list by its key fields,
    ``v:VALUE`` an item by its value, ``i:INDEX`` one by its index, ``.`` the value itself. An
    empty set is the whole value, or a map without its fields if ``own`` has fields of it.
    """
    deeper = {key: below for key, below in fields.items() if key != "."}
    parts = own if isinstance(own, dict) else {}
    if isinstance(value, dict) and (deeper or "." in fields or parts):
        return {
            name: _select(value[name], below, parts.get(key))
            for key, below in deeper.items()
            if (name := key.removeprefix("f:")) != key and name in value and isinstance(below, dict)
        }
    if isinstance(value, list) and (deeper or "." in fields):
        items = [_select_item(item, index, deeper) for index, item in enumerate(value)]
        return [item for item in items if item is not None]
    return value


def _select_item(item: Value, index: int, fields: Object) -> Value:
    """Return the parts of a list's item that a set names, or None. Raises ValueError."""
    for key, below in fields.items():
        kind, _, text = key.partition(":")
        if kind == "k":
            keys = json.loads(text)
            if not isinstance(keys, dict):
                raise ValueError(f"{key} has no key fields")
            is_match = isinstance(item, dict) and all(item.get(name) == keys[name] for name in keys)
        elif kind == "v":
            is_match = bool(item == json.loads(text))
        else:
            is_match = kind == "i" and text == str(index)
        if is_match:
            return _select(item, below) if isinstance(below, dict) else item
    return None
