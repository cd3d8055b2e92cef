"""The data of a template, its dot: the request as protobuf JSON, built where it is touched.

Field names are lowerCamelCase, empty fields are absent, bytes are base64. Messages that were sent
empty are there: Crossplane calls the first step with an empty context and an empty desired state.
In templates of our own kind all parts are there, be they empty.
A template that changes its data gets copies, for others may still want what the scope holds.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from function_script.engines.gotemplate.lazy_dict import ABSENT, LazyDict
from function_script.engines.gotemplate.values import TypedMap
from function_script.program import Lazy

if TYPE_CHECKING:
    from function_script.engines.gotemplate.lazy_dict import Builder
    from function_script.program import Scope

# Takes a value of the scope and gives one that the template may have.
Take: TypeAlias = Callable[[object], object]
# What there is of an empty part of the request, by its path: an object or ABSENT.
Empty: TypeAlias = Callable[[str], object]


def template_data(scope: Scope, *, mutates: bool, own: bool) -> LazyDict:
    """The dot of a run; ``mutates``: the template may change it.

    ``own``: the step is of our own kind. It has ``.params``, and of the request what is empty, too:
    a loop over resources that are not there yet is none over a path that is misspelt.
    """
    request = scope.request
    take: Take = copy_tree if mutates else _same
    empty: Empty = _always if own else partial(_empty, scope.sent)
    required = _Once(lambda: _groups(request["required_resources"], take, empty))
    builders: dict[str, Builder] = {
        "meta": lambda: take(request["meta"]) if own else _stated(request["meta"]),
        "observed": lambda: _state("observed", request, take, empty) or empty("observed"),
        "desired": lambda: _state("desired", request, take, empty) or empty("desired"),
        "input": lambda: take(request["input"]) or empty("input"),
        "context": lambda: take(request["context"]) or empty("context"),
        "requiredResources": required,
        # Fetched resources by their old name, too: templates of both ages find them.
        "extraResources": lambda: (
            _groups(request["extra_resources"], take, empty)
            if request["extra_resources"]
            else required()
        ),
        "requiredSchemas": lambda: _schemas(request["required_schemas"], take, empty),
        "credentials": lambda: _credentials(request["credentials"], empty),
    }
    if own:
        builders["params"] = lambda: take(scope.params)
    return LazyDict(builders)


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


def _empty(sent: frozenset[str], part: str) -> object:
    return {} if part in sent else ABSENT


def _always(_: str) -> object:
    return {}


def _state(part: str, request: Mapping[str, object], take: Take, empty: Empty) -> object:
    state = request[part]
    if not isinstance(state, Mapping):
        return None
    resources = state["resources"]
    builders: dict[str, Builder] = {
        "composite": lambda: _composite(state["composite"], take, empty(f"{part}.composite")),
        "resources": lambda: (
            _each(resources, lambda entry: _resource(entry, take))
            if isinstance(resources, Mapping) and resources
            else empty(f"{part}.resources")
        ),
    }
    return LazyDict(builders)


def _composite(entry: object, take: Take, empty: object) -> object:
    """What there is, or an ``empty`` object that was sent."""
    found = _resource(entry, take)
    if empty is not ABSENT:
        found.setdefault("resource", empty)
    return found or ABSENT


def _each(entries: Mapping[str, object], make: Take) -> LazyDict:
    return LazyDict({name: partial(_entry, entries, name, make) for name in entries})


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


def _parts(resource: Lazy, take: Take) -> LazyDict:
    return LazyDict({name: partial(_part, resource, name, take) for name in resource})


def _part(resource: Lazy, name: str, take: Take) -> object:
    return take(resource.plain(name))


def _groups(groups: object, take: Take, empty: Empty) -> object:
    if not isinstance(groups, Mapping) or not groups:
        return empty("required_resources")
    return _each(groups, lambda group: _group(group, take, empty))


def _group(group: object, take: Take, empty: Empty) -> object:
    """Resources that match a requirement; none of them is an empty object, or an empty list."""
    items = group.get("items") if isinstance(group, Mapping) else None
    if not items and empty("required_resources.items") is ABSENT:
        return {}
    return {"items": [_resource(item, take) for item in items or ()]}


def _schemas(schemas: object, take: Take, empty: Empty) -> object:
    if not isinstance(schemas, Mapping) or not schemas:
        return empty("required_schemas")
    return _each(schemas, lambda schema: _schema(schema, take))


def _schema(schema: object, take: Take) -> object:
    found = schema.get("openapi_v3") if isinstance(schema, Mapping) else None
    return {"openapiV3": take(found)} if found else {}


def _credentials(credentials: object, empty: Empty) -> object:
    if not isinstance(credentials, Mapping) or not credentials:
        return empty("credentials")
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
