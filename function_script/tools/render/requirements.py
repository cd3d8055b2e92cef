"""Resolve a step's requirements: look them up, and call the function until they are stable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, Protocol, Self, TypeAlias

from function_script import wire
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.program import Blocked
from function_script.request.values import Object, Value
from function_script.texts import spelling
from function_script.texts.diagnostics import Code, Diagnostic
from function_script.texts.errors import InputError, ProgramError
from function_script.tools import manifests
from function_script.tools.render import messages
from function_script.tools.render.messages import fatal_messages
from function_script.tools.render.steps import Step

MAX_CALLS: Final = 6
_NO_OBJECTS: Final = (
    "; no such objects are there: render reads required.yaml or --required-resources, "
    "a case its own required.yaml or key required"
)
_GVKS: Final = "x-kubernetes-group-version-kind"
_REF: Final = "#/components/schemas/"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResponse:
    """A function's response.

    ``diagnostics`` are the problems behind a FATAL result, if they are known; ``missing`` are
    notes about required resources that do not exist. ``blocked`` are the resources that wait, if
    the function is ours.
    """

    response: fnv1.RunFunctionResponse
    diagnostics: tuple[Diagnostic, ...] = ()
    missing: tuple[str, ...] = ()
    blocked: tuple[Blocked, ...] = ()

    def required(self) -> dict[str, wire.Selector]:
        """Return the selectors of what the function requires, by name."""
        return _read_selectors(self.response.requirements)


class StepCall(NamedTuple):
    """One call of a step's function, which may take so long."""

    step: Step
    request: fnv1.RunFunctionRequest
    timeout_seconds: float


# Calls a step's function once; raises FatalError if there is no response.
Runner: TypeAlias = Callable[[Step, fnv1.RunFunctionRequest], StepResponse]


class Cluster(Protocol):
    """The objects of a cluster, in the place of its API server."""

    def find(self, api_version: str, kind: str, namespace: str, name: str) -> Object | None:
        """Return the object of this type, namespace ("" for none) and name, or None."""

    def find_all(
        self, api_version: str, kind: str, namespace: str, labels: Mapping[str, str]
    ) -> list[Object]:
        """Return objects of a type by labels; namespace "" means all."""


class Store:
    """The objects that functions may require, in place of a cluster's API server.

    Of two with one apiVersion, kind, namespace and name the last counts, and those of ``below``
    come first.
    """

    def __init__(self, items: Iterable[Object], below: Cluster | None = None) -> None:
        self._below = below
        # By type, so that a selector by labels does not look at all objects of a cluster.
        self._objects: dict[tuple[str, str], dict[tuple[str, str], Object]] = {}
        for manifest in items:
            type_ = objects.api_version_and_kind(manifest)
            self._objects.setdefault(type_, {})[_place(manifest)] = manifest

    def find(self, api_version: str, kind: str, namespace: str, name: str) -> Object | None:
        """Return the object of this type, namespace ("" for none) and name, or None."""
        match = self._objects.get((api_version, kind), {}).get((namespace, name))
        if match is None and self._below is not None:
            return self._below.find(api_version, kind, namespace, name)
        return match

    def find_all(
        self, api_version: str, kind: str, namespace: str, labels: Mapping[str, str]
    ) -> list[Object]:
        """Return objects of a type by labels, in order of namespace and name.

        Namespace "" means all.
        """
        own = self._objects.get((api_version, kind), {})
        matches = [
            manifest
            for place, manifest in own.items()
            if namespace in {"", place[0]} and labels.items() <= manifests.labels(manifest).items()
        ]
        if self._below is not None:
            others = self._below.find_all(api_version, kind, namespace, labels)
            matches += (manifest for manifest in others if _place(manifest) not in own)
        # The API server lists objects in the order of their keys in etcd.
        return sorted(
            matches, key=lambda item: f"{manifests.namespace(item)}/{manifests.name(item)}"
        )

    def find_near(self, selector: wire.Selector) -> str | None:
        """Return the difference of an object at hand from a selector that selects nothing.

        None unless it is certainly the object that is meant: it has the name and another namespace,
        or name or labels but for a slip. Objects of a whole cluster are not asked.
        """
        own = self._objects.get((selector.api_version, selector.kind), {})
        if selector.match_name is not None:
            places = {namespace for namespace, name in own if name == selector.match_name}
            if not places:
                names = [name for namespace, name in own if namespace == (selector.namespace or "")]
                near = spelling.nearest(selector.match_name, names)
                return f'there is "{near}": both names must be the same' if near else None
            if "" in places or len(places) > 1:
                return None
            other = (
                f'not in "{selector.namespace}"' if selector.namespace else "the selector has none"
            )
            return f'the one at hand is in namespace "{places.pop()}", {other}'
        labels = [manifests.labels(manifest) for manifest in own.values()]
        for key, value in (selector.match_labels or {}).items():
            values = {each[key] for each in labels if key in each}
            near_key = spelling.find_slip(key, {name for each in labels for name in each})
            near_value = spelling.find_slip(value, values)
            if not values and near_key:
                return f'those at hand have the label "{near_key}", not "{key}"'
            if value not in values and near_value:
                return f"one at hand has {key}={near_value}, not {key}={value}"
        return None

    def find_versions(self, selector: wire.Selector) -> list[str]:
        """Return the other apiVersions of its group that have the object of a selector by name."""
        place = (selector.namespace or "", selector.match_name or "")
        group = manifests.group(selector.api_version)
        return [
            api_version
            for (api_version, kind), own in sorted(self._objects.items())
            if kind == selector.kind and manifests.group(api_version) == group and place in own
        ]


def _place(manifest: Object) -> tuple[str, str]:
    """Return the namespace and name of an object."""
    return manifests.namespace(manifest), manifests.name(manifest)


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineInputs:
    """The inputs that Compositions and Operations share: the objects of the cluster.

    ``schemas`` are OpenAPI documents. ``is_prepared``: the official command has checked the
    manifests and filled in defaults before it called its engine; what a real engine accepts is
    accepted, such as two steps of one name. ``cluster`` has more objects, for many renderings.
    """

    required: Sequence[Object] = ()
    cluster: Cluster | None = None
    credentials: Sequence[Object] = ()
    schemas: Sequence[Object] = ()
    context: Object = field(default_factory=dict)
    is_prepared: bool = False


def find_schema(documents: Iterable[Object], api_version: str, kind: str) -> Object | None:
    """Return the OpenAPI schema of a kind with its references resolved; None if it is not known.

    ``documents`` are as the API server publishes them. The first one that has the group and version
    provides its schemas.
    """
    for document in documents:
        schemas = manifests.object_at(document, "components", "schemas")
        types = {
            name: [*map(_type, manifests.objects_at(schemas, name, _GVKS))] for name in schemas
        }
        # Those of several kinds are of no object, such as that of DeleteOptions.
        for name in (name for name in types if types[name] == [(api_version, kind)]):
            return _resolve_schema(schemas[name], schemas, frozenset({name}))
        if any(version == api_version for each in types.values() for version, _ in each):
            return None
    return None


def _type(gvk: Object) -> tuple[str, str]:
    group, version = manifests.text_at(gvk, "group"), manifests.text_at(gvk, "version")
    return f"{group}/{version}" if group else version, manifests.text_at(gvk, "kind")


def _resolve_schema(schema: Value, schemas: Object, above: frozenset[str]) -> Object:
    """Copy a schema without references; one inside itself becomes just an object."""
    if not isinstance(schema, dict):
        return {}
    name = _reference(schema)
    if name:
        if name in above:
            return {"type": "object"}
        if name not in schemas:
            raise InputError.of(f'cannot resolve the schema reference "{name}": it is not there')
        return _resolve_schema(schemas[name], schemas, above | {name})
    resolved = dict(schema)
    properties = manifests.object_at(schema, "properties")
    if properties:
        resolved["properties"] = {
            key: _resolve_schema(below, schemas, above) for key, below in properties.items()
        }
    for key in ("additionalProperties", "items"):
        if isinstance(schema.get(key), dict):
            resolved[key] = _resolve_schema(schema[key], schemas, above)
    return resolved


def _reference(schema: Object) -> str:
    """Return the name of the referenced schema; a reference may be wrapped in allOf."""
    wrappers = manifests.objects_at(schema, "allOf")
    texts = [manifests.text_at(item, "$ref") for item in (schema, *wrappers)]
    return next((text.removeprefix(_REF) for text in texts if text), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementSource:
    """The objects and schemas that steps may require, and a record of what they required.

    ``schemas`` are OpenAPI documents.
    ``requested`` and ``requested_schemas`` are the selectors so far, in their order. ``advice``
    ends the note about an object that was not found.
    """

    store: Store
    schemas: Sequence[Object]
    advice: str = ""
    requested: list[wire.Selector] = field(default_factory=list)
    requested_schemas: list[wire.Selector] = field(default_factory=list)

    @classmethod
    def build(cls, inputs: PipelineInputs, observed: Iterable[Object]) -> Self:
        """Build a source of ``observed`` and of the objects in ``inputs``."""
        # Credentials may omit their type.
        secrets = ({"apiVersion": "v1", "kind": "Secret", **item} for item in inputs.credentials)
        store = Store([*observed, *inputs.required, *secrets], inputs.cluster)
        advice = "" if inputs.required or inputs.cluster is not None else _NO_OBJECTS
        return cls(store=store, schemas=inputs.schemas, advice=advice)

    def fetch(self, selector: wire.Selector) -> fnv1.Resources:
        """Record ``selector`` and return what it selects."""
        self.requested.append(selector)
        return self.select(selector)

    def fetch_schema(self, selector: wire.Selector) -> fnv1.Schema:
        """Record ``selector`` and return the schema of its kind; empty if it is not known."""
        self.requested_schemas.append(selector)
        message = fnv1.Schema()
        schema = find_schema(self.schemas, selector.api_version, selector.kind)
        if schema is not None:
            messages.write_struct(message.openapi_v3, schema)
        return message

    def select(self, selector: wire.Selector) -> fnv1.Resources:
        """Return the objects by name, by labels, or all of the kind; there may be none."""
        key = (selector.api_version, selector.kind, selector.namespace or "")
        if selector.match_name is None:
            matches = self.store.find_all(*key, selector.match_labels or {})
        else:
            match = self.store.find(*key, selector.match_name)
            matches = [] if match is None else [match]
        message = fnv1.Resources()
        for manifest in matches:
            messages.write_struct(message.items.add().resource, manifest)
        return message

    def advise(self, selector: wire.Selector) -> str:
        """Return what is there instead: the object in another version, or another object."""
        versions = self.store.find_versions(selector)
        near = f"there is one of {' and '.join(versions)}" if versions else None
        near = near or self.store.find_near(selector)
        return f"; {near}" if near else self.advice


def call_until_stable(
    step: Step, request: fnv1.RunFunctionRequest, source: RequirementSource, runner: Runner
) -> StepResponse:
    """Call the function until two calls have the same requirements. Changes ``request``.

    Raises ProgramError if the last of ``MAX_CALLS`` still has others.
    """
    # What the Composition requires is in every call, whatever the function asks for.
    bootstrap = fnv1.RunFunctionRequest(
        required_resources=request.required_resources, required_schemas=request.required_schemas
    )
    previous: fnv1.Requirements | None = None
    for call in range(MAX_CALLS):
        reply = runner(step, request)
        response = reply.response
        current = response.requirements if response.HasField("requirements") else None
        if fatal_messages(response) or current == previous:
            return replace(reply, missing=_unmet(step, current or previous, source))
        required = _resolve(bootstrap, current, source)
        # It requires nothing: what selects nothing would have its name here.
        if call == 0 and required == bootstrap:
            return replace(reply, missing=_unmet(step, None, source))
        previous = current
        # What the last call required and this one does not must go, which a merge would keep.
        for part in ("required_resources", "extra_resources", "required_schemas", "context"):
            request.ClearField(part)
        request.MergeFrom(required)
        if response.HasField("context"):
            request.context.CopyFrom(response.context)
    problem = Diagnostic(
        message=f'cannot run step "{step.name}": its requirements changed with each of '
        f"{MAX_CALLS} calls",
        hint="ask for the same requirements on every call, also when they are there already",
        field=step.name_field,
        code=Code("program"),
    )
    raise ProgramError(problem)


def _resolve(
    bootstrap: fnv1.RunFunctionRequest,
    requirements: fnv1.Requirements | None,
    source: RequirementSource,
) -> fnv1.RunFunctionRequest:
    """Return ``bootstrap`` with what ``requirements`` select."""
    request = fnv1.RunFunctionRequest()
    request.CopyFrom(bootstrap)
    if requirements is None:
        return request
    for selectors, required in (
        (requirements.extra_resources, request.extra_resources),
        (requirements.resources, request.required_resources),
    ):
        for name, selector in sorted(selectors.items()):
            required[name].CopyFrom(source.fetch(read_selector(selector)))
    for name, schema in sorted(requirements.schemas.items()):
        kind = wire.Selector(api_version=schema.api_version, kind=schema.kind)
        request.required_schemas[name].CopyFrom(source.fetch_schema(kind))
    return request


def _read_selectors(requirements: fnv1.Requirements) -> dict[str, wire.Selector]:
    selectors = {**requirements.extra_resources, **requirements.resources}
    return {name: read_selector(selector) for name, selector in selectors.items()}


def read_selector(selector: fnv1.ResourceSelector) -> wire.Selector:
    """Convert the message of a selector."""
    match = selector.WhichOneof("match")
    return wire.Selector(
        api_version=selector.api_version,
        kind=selector.kind,
        match_name=selector.match_name if match == "match_name" else None,
        match_labels=dict(selector.match_labels.labels) if match == "match_labels" else None,
        namespace=selector.namespace if selector.HasField("namespace") else None,
    )


def _unmet(
    step: Step, asked: fnv1.Requirements | None, source: RequirementSource
) -> tuple[str, ...]:
    selectors = {**step.resources, **_read_selectors(asked or fnv1.Requirements())}
    if not selectors:
        return ()
    from function_script.step.requirements import describe  # noqa: PLC0415 - slow to import

    return tuple(
        f'required resource "{name}" was not found: {describe(selector)}{source.advise(selector)}'
        for name, selector in sorted(selectors.items())
        if not source.select(selector).items
    )
