"""What a step needs before its program can run: who asks for it, and whether it is there.

Called by the main path. Decides from the request alone: what was asked for on an earlier call is
nobody's memory, so everything is asked for again on every call.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from function_script import objects, reader, request, wire
from function_script.errors import DocumentError, InputError
from function_script.problems import Problem
from function_script.wire import enums

if TYPE_CHECKING:
    from function_script.contribution import Contribution
    from function_script.inputs import Required, Requirements
    from function_script.program import Scope
    from function_script.values import Object


class ResolvedRequirements(NamedTuple):
    """What the input asks for, by requirement name; ``schemas``: (apiVersion, kind)."""

    resources: dict[str, wire.Selector]
    schemas: dict[str, tuple[str, str]]


_NOTHING = ResolvedRequirements({}, {})
# Every Crossplane may read Compositions, and none has this name.
_NO_COMPOSITION = wire.Selector(
    "apiextensions.crossplane.io/v1", "Composition", "probe.script.fn.crossplane.io"
)


def resolve(declared: Requirements, scope: Scope, given: wire.Request) -> ResolvedRequirements:
    """What an input declares, with the values that come from the XR. Raises InputError.

    A caller that does not say what it can do may be of before 2.0, which ignores requirements
    with a namespace. It is asked for one more object, without: its answer shows what it is.
    """
    if not declared:
        return _NOTHING
    resources = dict(declared.programs)
    for name, required in declared.resources.items():
        selector = _Resolver(name, required, scope).selector()
        if selector is not None:
            resources[name] = selector
    has_namespaces = all(each.namespace is not None for each in resources.values())
    if resources and has_namespaces and request.needs_probe(given):
        resources[request.PROBE] = _NO_COMPOSITION
    return ResolvedRequirements(resources, dict(declared.schemas))


def unresolved(asked: ResolvedRequirements, given: wire.Request) -> list[str]:
    """The names of what the caller has not looked for yet; what it did not find is not missing.

    Raises InputError when it never will look. What was fetched for another selector under the
    same name, such as an earlier reconcile's, is no answer.
    """
    if asked is _NOTHING:
        return []
    missing = [
        name
        for name, selector in asked.resources.items()
        if name != request.PROBE and request.find_required(given, name, selector) is None
    ]
    schemas = [name for name in asked.schemas if name not in given.required_schemas]
    check_capabilities(given, missing, schemas)
    if schemas and enums.CAPABILITY_CAPABILITIES not in given.capabilities:
        # Callers learnt to give schemas and to say so at the same time.
        raise _incapable(schemas[0], "schemas", "REQUIRED_SCHEMAS")
    for name in missing:
        if request.knows_old_field_only(given) and asked.resources[name].namespace is not None:
            raise _incapable(name, "resources of a namespace", "REQUIRED_RESOURCES")
    return [*missing, *schemas]


def check_capabilities(given: wire.Request, resources: list[str], schemas: list[str]) -> None:
    """Raise InputError when a caller that says what it can do cannot give what is asked for."""
    if enums.CAPABILITY_CAPABILITIES not in given.capabilities:
        return
    if resources and enums.CAPABILITY_REQUIRED_RESOURCES not in given.capabilities:
        raise _incapable(resources[0], "resources", "REQUIRED_RESOURCES")
    if schemas and enums.CAPABILITY_REQUIRED_SCHEMAS not in given.capabilities:
        raise _incapable(schemas[0], "schemas", "REQUIRED_SCHEMAS")


def merge(wanted: Contribution, asked: ResolvedRequirements, given: wire.Request) -> Contribution:
    """What the program wants with what its input declares. Raises DocumentError, InputError."""
    if wanted.resources or wanted.schemas:
        check_capabilities(given, sorted(wanted.resources), sorted(wanted.schemas))
    if asked is _NOTHING:
        return wanted
    for name, selector in wanted.resources.items():
        if asked.resources.get(name, selector) != selector:
            declared = describe(asked.resources[name])
            raise _conflicts(name, declared, describe(selector))
    for name, kind in wanted.schemas.items():
        if asked.schemas.get(name, kind) != kind:
            raise _conflicts(name, " ".join(asked.schemas[name]), " ".join(kind))
    return replace(
        wanted,
        resources={**asked.resources, **wanted.resources},
        schemas={**asked.schemas, **wanted.schemas},
    )


class _Resolver:
    """One required resource, with the XR its values may come from."""

    def __init__(self, name: str, required: Required, scope: Scope) -> None:
        self._path = reader.child("input.requirements.resources", name) + ".fromFieldPath"
        self._required = required
        self._scope = scope
        self._lacks = False

    def selector(self) -> wire.Selector | None:
        """None for an optional one that the XR says nothing of."""
        required = self._required
        name = self._value(required.match_name, required.name_path, "matchName")
        namespace = self._value(required.namespace, required.namespace_path, "namespace")
        labels = self._labels()
        if self._lacks:
            return None
        return wire.Selector(required.api_version, required.kind, name, labels, namespace)

    def _labels(self) -> dict[str, str] | None:
        stated, paths = self._required.match_labels, self._required.label_paths
        if stated is None and paths is None:
            return None
        labels = dict(stated or {})
        for key, path in (paths or {}).items():
            labels[key] = self._value(None, path, reader.child("matchLabels", key)) or ""
        return labels

    def _value(self, stated: str | None, path: str | None, field: str) -> str | None:
        if path is None:
            return stated
        found = objects.find_path(self._scope.xr, path)
        if isinstance(found, str) and found:
            return found
        if not self._required.is_optional:
            raise _no_text(f"{self._path}.{field}", path, self._scope.xr)
        self._lacks = True
        return None


def _no_text(field: str, path: str, xr: Object) -> InputError:
    if not xr:
        problem = Problem(field, "there is no XR, for this is an Operation")
    else:
        hint = "with `optional: true` it is not asked for until the XR has"
        problem = Problem(field, f'the XR has no text at "{path}"', hint)
    return InputError(problem.to_diagnostic())


def _incapable(name: str, what: str, capability: str) -> InputError:
    return InputError.of(
        f'cannot require "{name}": the caller does not provide {what}',
        hint=f"that takes a Crossplane with CAPABILITY_{capability}",
    )


def _conflicts(name: str, declared: str, wanted: str) -> DocumentError:
    return DocumentError.of(
        f'requirement "{name}" is declared by the input as {declared}, '
        f"and asked for by the program as {wanted}",
        hint="give one of them another name",
    )


def describe(selector: wire.Selector) -> str:
    """What a selector selects, in words."""
    text = f"{selector.kind} of {selector.api_version}"
    if selector.match_name is not None:
        text += f' named "{selector.match_name}"'
    if selector.match_labels:
        labels = ", ".join(f"{key}={value}" for key, value in sorted(selector.match_labels.items()))
        text += f" with labels {labels}"
    return text + (f' in namespace "{selector.namespace}"' if selector.namespace else "")
