"""The data of a template, its dot: the request as protobuf JSON, built lazily.

Field names are lowerCamelCase, empty fields are absent, bytes are base64. Messages that were sent
empty are there: Crossplane calls the first step with an empty context and an empty desired state.
In templates of our own kind all parts are there, also empty ones. A template that changes its data
gets copies, because the scope's values are shared.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, TypeGuard

from function_script.engines.gotemplate.values import Missing, NilMap, TypedMap
from function_script.request.lazy import Lazy
from function_script.request.program import Scope

if TYPE_CHECKING:
    from _collections_abc import dict_items, dict_keys, dict_values

Builder: TypeAlias = Callable[[], object]
# The result of a builder for a key that turns out to be absent.
ABSENT: Final = Missing()
# The mark of an entry that is not built yet.
PENDING: Final = Missing()


class LazyDict(dict[str, object]):
    """A dict of values that ``builders`` make on first read, in the order of the keys.

    Functions need not know of it. Reading more than one key builds all of them.
    """

    __slots__ = ("_builders",)

    def __init__(self, builders: Mapping[str, Builder]) -> None:
        super().__init__(dict.fromkeys(builders, PENDING))
        self._builders = builders

    def _build(self, key: str) -> None:
        value = self._builders[key]()
        if value is ABSENT:
            super().__delitem__(key)
        else:
            super().__setitem__(key, value)

    def _build_all(self) -> None:
        pending = [key for key, value in super().items() if value is PENDING]
        for key in pending:
            self._build(key)

    def __getitem__(self, key: str) -> object:
        value = super().__getitem__(key)
        if value is not PENDING:
            return value
        self._build(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        # Only its builder knows whether the key is there.
        if isinstance(key, str) and super().get(key) is PENDING:
            self._build(key)
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        self._build_all()
        return super().__iter__()

    def __len__(self) -> int:
        self._build_all()
        return super().__len__()

    def __eq__(self, other: object) -> bool:
        self._build_all()
        return super().__eq__(other)

    __hash__ = None

    def get(self, key: str, default: object = None, /) -> object:
        """Return dict.get."""
        if key not in self:
            return default
        return self[key]

    def keys(self) -> dict_keys[str, object]:
        """Return dict.keys."""
        self._build_all()
        return super().keys()

    def values(self) -> dict_values[str, object]:
        """Return dict.values."""
        self._build_all()
        return super().values()

    def items(self) -> dict_items[str, object]:
        """Return dict.items."""
        self._build_all()
        return super().items()


# The dot

# Converts a value of the scope to a value for the template.
Convert: TypeAlias = Callable[[object], object]
# Returns the value of an empty part of the request, by its path: an object or ABSENT.
EmptyPart: TypeAlias = Callable[[str], object]


def template_data(scope: Scope, *, mutates: bool, is_own: bool) -> LazyDict:
    """Return the dot of a run; ``mutates``: the template may change it.

    ``is_own``: the step is of our own kind. Its dot has ``.params`` and also the empty parts of the
    request, so that a loop over resources that do not exist yet differs from a misspelt path.
    """
    request = scope.request
    convert: Convert = copy_tree if mutates else lambda value: value

    def empty(part: str) -> object:
        return {} if is_own or part in scope.sent else ABSENT

    group = partial(_group, convert=convert, empty=empty)
    schema = partial(_schema, convert=convert)
    # Two keys have this value, which is built once.
    required: list[object] = []

    def build_required() -> object:
        if not required:
            entries = request["required_resources"]
            required.append(_entries("required_resources", entries, group, empty))
        return required[0]

    builders: dict[str, Builder] = {
        "meta": lambda: convert(request["meta"]) if is_own else _non_empty(request["meta"]),
        "observed": lambda: _state("observed", request, convert, empty) or empty("observed"),
        "desired": lambda: _state("desired", request, convert, empty) or empty("desired"),
        "input": lambda: convert(request["input"]) or empty("input"),
        "context": lambda: convert(request["context"]) or empty("context"),
        "requiredResources": build_required,
        # Required resources have their old name, too: templates of both ages find them.
        "extraResources": lambda: (
            _entries("required_resources", request["extra_resources"], group, empty)
            if request["extra_resources"]
            else build_required()
        ),
        "requiredSchemas": lambda: _entries(
            "required_schemas", request["required_schemas"], schema, empty
        ),
        "credentials": lambda: _entries("credentials", request["credentials"], _credential, empty),
    }
    if is_own:
        builders["params"] = lambda: convert(scope.params)
    return LazyDict(builders)


def find_at(value: object, *path: str) -> object:
    """Return the value at a path of keys; None where a part of it is missing."""
    for key in path:
        # Parts of the request that nothing changes are no dicts.
        value = value.get(key) if isinstance(value, (dict, Mapping)) else None
    return value


def copy_tree(value: object) -> object:
    """Return a copy that shares no map and no list with ``value``; typed ones keep their type."""
    if isinstance(value, list):
        return type(value)(map(copy_tree, value))
    if isinstance(value, Mapping):
        copied = {key: copy_tree(item) for key, item in value.items()}
        return type(value)(copied) if isinstance(value, (TypedMap, NilMap)) else copied
    return value


def _non_empty(meta: object) -> object:
    """Return the request's meta without empty fields, as in protobuf JSON."""
    fields = meta.items() if isinstance(meta, Mapping) else ()
    return {key: value for key, value in fields if value} or ABSENT


def _state(part: str, request: Mapping[str, object], convert: Convert, empty: EmptyPart) -> object:
    state = request[part]
    if not _is_mapping(state):
        return None
    resources = state["resources"]
    builders: dict[str, Builder] = {
        "composite": lambda: _composite(state["composite"], convert, empty(f"{part}.composite")),
        "resources": lambda: _entries(
            f"{part}.resources", resources, lambda entry: _resource(entry, convert), empty
        ),
    }
    return LazyDict(builders)


def _composite(entry: object, convert: Convert, empty: object) -> object:
    """Return the composite, or an ``empty`` object if one was sent."""
    composite = _resource(entry, convert)
    if empty is not ABSENT:
        composite.setdefault("resource", empty)
    return composite or ABSENT


def _entries(part: str, entries: object, make: Convert, empty: EmptyPart) -> object:
    """Return a part of the request that is a map, its entries converted; or the empty part."""
    if not _is_mapping(entries) or not entries:
        return empty(part)
    return LazyDict({name: partial(_entry, entries, name, make) for name in entries})


def _is_mapping(value: object) -> TypeGuard[Mapping[str, object]]:
    """Report whether a value is an object; the classes of nearly all are compared first."""
    return isinstance(value, (Lazy, dict, Mapping))


def _entry(entries: Mapping[str, object], name: str, make: Convert) -> object:
    return make(entries[name])


def _resource(entry: object, convert: Convert) -> dict[str, object]:
    if not _is_mapping(entry):
        return {}
    converted: dict[str, object] = {}
    resource = entry.get("resource")
    if resource:
        converted["resource"] = (
            LazyDict({name: partial(_part, resource, name, convert) for name in resource})
            if isinstance(resource, Lazy)
            else convert(resource)
        )
    if entry.get("connection_details"):
        converted["connectionDetails"] = _to_base64(entry["connection_details"])
    if "ready" in entry:
        converted["ready"] = entry["ready"]
    return converted


def _part(resource: Lazy, name: str, convert: Convert) -> object:
    return convert(resource.plain(name))


def _group(group: object, convert: Convert, empty: EmptyPart) -> object:
    """Convert the resources of a requirement; without a match an empty object or an empty list."""
    items = group.get("items") if isinstance(group, Mapping) else None
    if not items and empty("required_resources.items") is ABSENT:
        return {}
    return {"items": [_resource(item, convert) for item in items or ()]}


def _schema(schema: object, convert: Convert) -> object:
    document = schema.get("openapi_v3") if isinstance(schema, Mapping) else None
    return {"openapiV3": convert(document)} if document else {}


def _credential(credential: object) -> object:
    data = credential.get("data") if isinstance(credential, Mapping) else None
    return {"credentialData": {"data": _to_base64(data)} if data else {}}


def _to_base64(details: object) -> dict[str, object]:
    """Encode connection details.

    The scope has bytes as text, or as ``{"base64": ...}`` where they are not UTF-8.
    """
    if not isinstance(details, Mapping):
        return {}
    return {
        key: base64.b64encode(value.encode()).decode()
        if isinstance(value, str)
        else value["base64"]
        for key, value in details.items()
    }
