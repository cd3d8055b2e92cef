"""Requirements of a step: those of its input and its program, and the answers in the request.

Nothing is remembered between calls, so every call states all requirements again.
"""

from dataclasses import replace

from function_script import wire
from function_script.contribution import Contribution
from function_script.inputs import Required, Step
from function_script.request import objects, reader, request
from function_script.request.objects import Path
from function_script.request.program import Scope
from function_script.texts.errors import DocumentError, InputError
from function_script.texts.problems import Problem, suggest
from function_script.wire import enums

_NOTHING = Contribution()
# Every Crossplane may read Compositions; no Composition has this name.
_NO_COMPOSITION = wire.Selector(
    "apiextensions.crossplane.io/v1", "Composition", "probe.script.fn.crossplane.io"
)


def resolve(step: Step, scope: Scope, data: wire.Request) -> Contribution:
    """Return what a step's input requires, with values of the XR. Raises InputError.

    A caller that does not state its capabilities may be older than 2.0, which ignores
    requirements with a namespace. One more requirement without a namespace shows which it is.
    """
    declared = step.requirements
    if not declared:
        return _NOTHING
    resources = dict(declared.programs)
    for name, required in declared.resources.items():
        selector = _select(name, required, scope, step)
        if selector is not None:
            resources[name] = selector
    has_namespaces = all(each.namespace is not None for each in resources.values())
    if resources and has_namespaces and request.needs_probe(data):
        resources[request.PROBE] = _NO_COMPOSITION
    return Contribution(resources=resources, schemas=declared.schemas)


def unresolved(required: Contribution, data: wire.Request) -> list[str]:
    """Return the names of unanswered requirements; an answer may have no resources.

    Raises InputError if the caller will never answer. Resources for another selector under the
    same name, such as an earlier reconcile's, are not an answer.
    """
    if required is _NOTHING:
        return []
    missing = [
        name
        for name, selector in required.resources.items()
        if name != request.PROBE and request.find_required(data, name, selector) is None
    ]
    schemas = [name for name in required.schemas if name not in data.required_schemas]
    check_capabilities(data, missing, schemas)
    if schemas and enums.CAPABILITY_CAPABILITIES not in data.capabilities:
        # The capability of schemas and the statement of capabilities are of the same version.
        raise _incapable(schemas[0], "schemas", "REQUIRED_SCHEMAS")
    # Crossplane before 2.0 answers the deprecated field alone.
    is_old = bool(data.extra_resources) and not data.required_resources
    for name in missing:
        if is_old and required.resources[name].namespace is not None:
            raise _incapable(name, "resources of a namespace", "REQUIRED_RESOURCES")
    return [*missing, *schemas]


def check_capabilities(data: wire.Request, resources: list[str], schemas: list[str]) -> None:
    """Raise InputError for requirements beyond the capabilities that the caller states."""
    if enums.CAPABILITY_CAPABILITIES not in data.capabilities:
        return
    if resources and enums.CAPABILITY_REQUIRED_RESOURCES not in data.capabilities:
        raise _incapable(resources[0], "resources", "REQUIRED_RESOURCES")
    if schemas and enums.CAPABILITY_REQUIRED_SCHEMAS not in data.capabilities:
        raise _incapable(schemas[0], "schemas", "REQUIRED_SCHEMAS")


def merge(contribution: Contribution, required: Contribution, data: wire.Request) -> Contribution:
    """Add the input's requirements to the program's. Raises DocumentError, InputError."""
    resources, schemas = contribution.resources, contribution.schemas
    if resources or schemas:
        check_capabilities(data, sorted(resources), sorted(schemas))
    if required is _NOTHING:
        return contribution
    for name, selector in resources.items():
        if required.resources.get(name, selector) != selector:
            raise _conflict(name, describe(required.resources[name]), describe(selector))
    for name, kind in schemas.items():
        if required.schemas.get(name, kind) != kind:
            raise _conflict(name, " ".join(required.schemas[name]), " ".join(kind))
    return replace(
        contribution,
        resources={**required.resources, **resources},
        schemas={**required.schemas, **schemas},
    )


def _select(name: str, required: Required, scope: Scope, step: Step) -> wire.Selector | None:
    """Return the selector of a required resource, some of whose values may be those of the XR.

    None for an optional one while the XR lacks a value.
    """
    texts: dict[str, str] = {}
    labels: dict[str, str] = {}
    for field, path in required.paths.items():
        value = objects.find_path(scope.xr, path)
        if isinstance(value, str) and value:
            (labels if len(field) > 1 else texts)[field[-1]] = value
        elif required.is_optional:
            return None
        else:
            raise _lacks_value(name, field, path, scope, step)
    selector = required.selector
    return wire.Selector(
        selector.api_version,
        selector.kind,
        texts.get("matchName", selector.match_name),
        None if selector.match_labels is None else {**selector.match_labels, **labels},
        texts.get("namespace", selector.namespace),
    )


def _lacks_value(name: str, field: Path, path: str, scope: Scope, step: Step) -> InputError:
    reason, hint = "there is no XR, for this is an Operation", None
    if scope.xr:
        reason = f'the XR has no text at "{path}"'
        *above, key = objects.read_path(path)
        siblings = objects.find_path(scope.xr, above)
        hint = suggest(
            str(key),
            siblings if isinstance(siblings, dict) and key not in siblings else (),
            "with `optional: true` it is not asked for until the XR has",
        )
    place = ("input", "requirements", "resources", name, "fromFieldPath", *field)
    return InputError(step.to_diagnostic(Problem(reader.format_path(place), reason, hint)))


def _incapable(name: str, what: str, capability: str) -> InputError:
    return InputError.of(
        f'cannot require "{name}": the caller does not provide {what}',
        hint=f"that takes a Crossplane with CAPABILITY_{capability}",
    )


def _conflict(name: str, of_input: str, of_program: str) -> DocumentError:
    return DocumentError.of(
        f'requirement "{name}" is declared by the input as {of_input}, '
        f"and asked for by the program as {of_program}",
        hint="give one of them another name",
    )


def describe(selector: wire.Selector) -> str:
    """Describe a selector in words."""
    text = f"{selector.kind} of {selector.api_version}"
    if selector.match_name is not None:
        text += f' named "{selector.match_name}"'
    if selector.match_labels:
        labels = ", ".join(f"{key}={value}" for key, value in sorted(selector.match_labels.items()))
        text += f" with labels {labels}"
    return text + (f' in namespace "{selector.namespace}"' if selector.namespace else "")
