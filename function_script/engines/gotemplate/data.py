"""The data of a template, its dot: the request as protobuf JSON, built where it is touched.

Field names are lowerCamelCase, empty fields are absent, bytes are base64. Messages that were sent
empty are there: Crossplane calls the first step with an empty context and an empty desired state.
A template that changes its data gets copies, for others may still want what the scope holds.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from function_script.engines.gotemplate.shelf import ABSENT, Shelf
from function_script.engines.gotemplate.values import TypedMap
from function_script.program import Lazy

if TYPE_CHECKING:
    from function_script.engines.gotemplate.shelf import Builder
    from function_script.program import Scope

# Takes a value of the scope and gives one that the template may have.
Take: TypeAlias = Callable[[object], object]


def template_data(scope: Scope, *, mutates: bool, params: bool) -> Shelf:
    """The dot of a run; ``mutates``: the template may change it; ``params``: it has ``.params``."""
    request = scope.request
    take: Take = copy_tree if mutates else _same
    empty = partial(_empty, scope.sent)
    required = _Once(lambda: _groups(request["required_resources"], take))
    builders: dict[str, Builder] = {
        "meta": lambda: take(request["meta"]) if params else _stated(request["meta"]),
        "observed": lambda: _state(request["observed"], take) or empty("observed"),
        "desired": lambda: _state(request["desired"], take, empty) or empty("desired"),
        "input": lambda: take(request["input"]) or empty("input"),
        "context": lambda: take(request["context"]) or empty("context"),
        "requiredResources": required,
        # Fetched resources by their old name, too: templates of both ages find them.
        "extraResources": lambda: _groups(request["extra_resources"], take, instead=required),
        "requiredSchemas": lambda: _schemas(request["required_schemas"], take),
        "credentials": lambda: _credentials(request["credentials"]),
    }
    if params:
        builders["params"] = lambda: take(scope.params)
    return Shelf(builders)


class _Once:
    """A builder whose value is the same one for several keys."""

    def __init__(self, build: Builder) -> None:
        self._build: Builder | None = build
        self._value: object = ABSENT

    def __call__(self) -> object:
        if self._build is not None:
            self._value, self._build = self._build(), None
        return self._value


def copy_tree(value: object) -> object:
    """A copy that shares no map and no list with ``value``."""
    if isinstance(value, list):
        return [copy_tree(item) for item in value]
    if isinstance(value, Mapping) and not isinstance(value, TypedMap):
        return {key: copy_tree(item) for key, item in value.items()}
    return value


def _same(value: object) -> object:
    return value


def _stated(meta: object) -> object:
    """What the request says of itself; nothing of it that is empty, as in protobuf JSON."""
    fields = meta.items() if isinstance(meta, Mapping) else ()
    return {key: value for key, value in fields if value} or ABSENT


def _empty(sent: frozenset[str], field: str) -> object:
    return {} if field in sent else ABSENT


def _absent(_: str) -> object:
    return ABSENT


def _state(state: object, take: Take, empty: Callable[[str], object] = _absent) -> object:
    if not isinstance(state, Mapping):
        return None
    resources = state["resources"]
    builders: dict[str, Builder] = {
        "composite": lambda: _composite(state["composite"], take, empty("desired.composite"))
    }
    if isinstance(resources, Mapping) and resources:
        builders["resources"] = lambda: _each(resources, lambda entry: _resource(entry, take))
    return Shelf(builders)


def _composite(entry: object, take: Take, empty: object) -> object:
    """What there is, or an ``empty`` object that was sent."""
    found = _resource(entry, take)
    if empty is not ABSENT:
        found.setdefault("resource", empty)
    return found or ABSENT


def _each(entries: Mapping[str, object], make: Take) -> Shelf:
    return Shelf({name: partial(_entry, entries, name, make) for name in entries})


def _entry(entries: Mapping[str, object], name: str, make: Take) -> object:
    return make(entries[name])


def _resource(entry: object, take: Take) -> dict[str, object]:
    if not isinstance(entry, Mapping):
        return {}
    made: dict[str, object] = {}
    resource = entry.get("resource")
    if resource:
        lazily = isinstance(resource, Lazy)
        made["resource"] = _parts(resource, take) if lazily else take(resource)
    if entry.get("connection_details"):
        made["connectionDetails"] = _to_base64(entry["connection_details"])
    if "ready" in entry:
        made["ready"] = entry["ready"]
    return made


def _parts(resource: Lazy, take: Take) -> Shelf:
    return Shelf({name: partial(_part, resource, name, take) for name in resource})


def _part(resource: Lazy, name: str, take: Take) -> object:
    return take(resource.plain(name))


def _groups(groups: object, take: Take, *, instead: Builder = lambda: ABSENT) -> object:
    if not isinstance(groups, Mapping) or not groups:
        return instead()
    return _each(groups, lambda group: _group(group, take))


def _group(group: object, take: Take) -> object:
    """Resources that match a requirement; none of them is an empty object."""
    items = group.get("items") if isinstance(group, Mapping) else None
    return {"items": [_resource(item, take) for item in items]} if items else {}


def _schemas(schemas: object, take: Take) -> object:
    if not isinstance(schemas, Mapping) or not schemas:
        return ABSENT
    return _each(schemas, lambda schema: _schema(schema, take))


def _schema(schema: object, take: Take) -> object:
    found = schema.get("openapi_v3") if isinstance(schema, Mapping) else None
    return {"openapiV3": take(found)} if found else {}


def _credentials(credentials: object) -> object:
    if not isinstance(credentials, Mapping) or not credentials:
        return ABSENT
    return _each(credentials, _credential)


def _credential(credential: object) -> object:
    data = credential.get("data") if isinstance(credential, Mapping) else None
    return {"credentialData": {"data": _to_base64(data)} if data else {}}


def _to_base64(details: object) -> dict[str, object]:
    """The scope has bytes as text, or as ``{"base64": ...}`` where they are not UTF-8."""
    if not isinstance(details, Mapping):
        return {}
    return {
        key: base64.b64encode(value.encode()).decode()
        if isinstance(value, str)
        else value["base64"]
        for key, value in details.items()
    }
