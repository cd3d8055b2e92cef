"""Lists that the API server merges item by item, as maps: so items compare by their keys.

A list of objects with key fields, or a set of values, has an owner for each item. Which lists are
such ones say the managedFields of an object, and the schema of its kind.
"""

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, cast

from function_script.request import objects
from function_script.request.objects import Path
from function_script.request.reader import format_path
from function_script.request.values import Object, Readable, Value
from function_script.tools import bounded, manifests, structural_schema
from function_script.tools.plan.dump import UnknownError

_ITEM: Final = ("k:", "v:")
_MANAGED: Final = ("metadata", "managedFields")
# The schemas of Kubernetes' own kinds have no defaults. This is that of their only key with one.
_DEFAULTS: Final = {"protocol": "TCP"}


class Lists:
    """The lists of one object that have items with owners.

    A map in place of a list has the items by their names in managedFields: ``k:`` and the key
    fields, or ``v:`` and the value.
    """

    def __init__(self, live: Object, schema: Object | None) -> None:
        entries = manifests.objects_at(live, *_MANAGED)
        self._sets = [manifests.object_at(each, "fieldsV1") for each in entries]
        self._schema = schema
        self._paths: dict[Path, bool] = {}  # False for lists that are replaced as a whole

    def to_maps(self, manifest: Object) -> Object:
        """Return an object with maps for lists; its managedFields name their items as fields."""
        value = cast("Object", self._to_maps(manifest, self._schema, self._sets, ()))
        if entries := manifests.objects_at(value, *_MANAGED):
            renamed: list[Value] = [
                # The entry of a status is often the largest, and nobody desires it.
                each
                if each.get("subresource") == "status"
                else {**each, "fieldsV1": self._rename(manifests.object_at(each, "fieldsV1"), ())}
                for each in entries
            ]
            value["metadata"] = {**manifests.object_at(value, "metadata"), _MANAGED[1]: renamed}
        return value

    def to_lists(self, value: Readable, path: Path = ()) -> Readable:
        """Return the lists of a value that `to_maps` has made maps of; ``path`` is its place."""
        if not isinstance(value, dict):
            return value
        items = {key: self.to_lists(item, (*path, key)) for key, item in value.items()}
        return [*items.values()] if path in self else items

    def to_indexes(self, path: Path, *manifests_: Object) -> Path:
        """Return a path with the index of each item, in the first object that has it."""
        indexes: list[str | int] = []
        for end, key in enumerate(path):
            above = path[:end]
            maps = [objects.find_path(each, above) for each in manifests_]
            names = next((each for each in maps if isinstance(each, dict) and key in each), None)
            is_item = names is not None and above in self
            indexes.append([*names].index(str(key)) if names and is_item else key)
        return tuple(indexes)

    def drop_empty(self, value: Value, live: Readable, path: Path = ()) -> Value:
        """Return a value without the lists that it leaves without items; None if it has no others.

        The API server removes such a list from ``live``, and a map that has no other field.
        """
        if not isinstance(value, dict) or not value:
            return None if live and value == {} and path in self else value
        parts = {
            key: self.drop_empty(
                item, live.get(key) if isinstance(live, dict) else live, (*path, key)
            )
            for key, item in value.items()
        }
        fields: Object = {
            key: part for key, part in parts.items() if part is not None or value[key] is None
        }
        return fields or None

    def __contains__(self, path: Path) -> bool:
        return self._paths.get(path, False)

    def _to_maps(
        self, value: Value, schema: Object | None, sets: Sequence[Object], path: Path
    ) -> Value:
        # Most parts of an object are nobody's, and without a schema.
        if not sets and schema is None:
            return value
        if isinstance(value, dict):
            fields = {} if schema is None else structural_schema.properties(schema)
            others = None if schema is None else structural_schema.additional(schema)
            return {
                key: self._to_maps(
                    item, fields.get(key, others), _find_fields(sets, f"f:{key}"), (*path, key)
                )
                for key, item in value.items()
            }
        if not isinstance(value, list):
            return value
        items_schema = None if schema is None else structural_schema.items(schema)
        names = _item_names(value, schema or {}, items_schema or {}, sets)
        if self._paths.setdefault(path, names is not None) != (names is not None):
            raise UnknownError(f'an item of "{format_path(path)}" has no key that is known')
        if names is None:
            return value
        return {
            name: self._to_maps(item, items_schema, _find_item(sets, name), (*path, name))
            for name, item in zip(names, value, strict=True)
        }

    def _rename(self, fields: Object, path: Path) -> Object:
        """Return a set of fields that has items of lists in maps as fields."""
        renamed: Object = {}
        for key, below in fields.items():
            name = _canonical(key)
            is_item = name.startswith(_ITEM) and path in self
            deeper = (*path, name if is_item else key.removeprefix("f:"))
            is_set = isinstance(below, dict)
            renamed[f"f:{name}" if is_item else key] = (
                self._rename(cast("Object", below), deeper) if is_set else below
            )
        return renamed


def _find_fields(sets: Iterable[Object], name: str) -> list[Object]:
    """Return what each set has of a field."""
    return [part for each in sets if isinstance(part := each.get(name), dict)]


def _find_item(sets: Iterable[Object], name: str) -> list[Object]:
    """Return what each set has of an item."""
    parts = (part for each in sets for key, part in each.items() if _canonical(key) == name)
    return [part for part in parts if isinstance(part, dict)]


def _item_names(
    items: Sequence[Value], schema: Object, items_schema: Object, sets: Sequence[Object]
) -> list[str] | None:
    """Return the names of the items; None for a list that is replaced as a whole."""
    owned = [_canonical(key) for each in sets for key in each if key.startswith(_ITEM)]
    kind = schema.get("x-kubernetes-list-type")
    if any(name.startswith("v:") for name in owned) or (not owned and kind == "set"):
        names: list[str | None] = [f"v:{_to_json(item)}" for item in items]
    elif owned or kind == "map":
        listed = json.loads(owned[0][2:]) if owned else schema.get("x-kubernetes-list-map-keys")
        keys = [*map(str, listed)] if isinstance(listed, (list, dict)) else []
        names = [_key_name(item, keys, items_schema) for item in items]
    else:
        return None
    unique = {name: None for name in names if name is not None}
    return [*unique] if len(unique) == len(items) else None


def _key_name(item: Value, keys: Sequence[str], schema: Object) -> str | None:
    """Return the name of an item by its key fields, of which one may have a default."""
    if not isinstance(item, dict):
        return None
    fields = structural_schema.properties(schema)
    defaults = {key: part.get("default", _DEFAULTS.get(key)) for key, part in fields.items()}
    values: Object = {key: item.get(key, defaults.get(key)) for key in keys}
    return None if None in values.values() else f"k:{_to_json(values)}"


@lru_cache(maxsize=4096)
def _canonical(key: str) -> str:
    """Return the name of an item in one form of JSON; another key as it is."""
    if not key.startswith(_ITEM):
        return key
    read = bounded.read_object if key.startswith("k") else bounded.read_json
    try:
        return f"{key[:2]}{_to_json(read(key[2:]))}"
    except ValueError as error:
        raise UnknownError(f'its managedFields have an item "{key[:64]}": {error}') from error


def _to_json(value: Value) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
