"""Validation of what a pipeline wrote against the schemas at hand.

These are the XRD's for the XR's status, those of CRDs and XRDs, and those of Kubernetes' own kinds.
Rules in CEL are left out: `render --validate` evaluates them.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from function_script.request import objects
from function_script.request.reader import format_path
from function_script.request.values import Object
from function_script.texts.diagnostics import Code, Diagnostic
from function_script.tools import manifests, xrds
from function_script.tools.render import messages, selectors
from function_script.tools.render.renderer import Rendering
from function_script.tools.validate import builtin, server_rules, wording
from function_script.tools.validate.catalog import Catalog, find_unknown
from function_script.tools.validate.report import Problem

_STATUS: Final = "status"
_METADATA: Final[Object] = {"properties": {"metadata": builtin.metadata_schema()}}
# An Object of provider-kubernetes has the object that the provider makes.
_EMBEDDED: Final[dict[tuple[str, str], objects.Path]] = dict.fromkeys(
    (("kubernetes.crossplane.io", "Object"), ("kubernetes.m.crossplane.io", "Object")),
    ("spec", "forProvider", "manifest"),
)


def validate(
    rendering: Rendering, catalog: Catalog, made_up: Collection[str] = (), *, is_late: bool = False
) -> Iterator[tuple[Diagnostic, str]]:
    """Yield what is wrong in composed resources and in the XR's status, at the author's lines.

    Each has a severity: ``info`` if the value holds a text that is ``made_up``, for which another
    one may be right. ``is_late``: absent fields, and the status, may come with what is not at
    hand. A ``note`` lists the kinds of composed resources without a schema, if ``catalog`` has
    schemas of others than the XR's group: without them nobody expects any.
    """
    result = rendering.result
    xr = result.xr
    composed = [*_list_composed(result.resources)]
    xrd = catalog.find_definition(objects.api_version_and_kind(xr))
    scope = xrds.scope_of(xrd) if xrds.is_xrd(xrd) else ""
    # In a cluster, an XR of another scope loses the namespace that a file gives it.
    namespace = manifests.namespace(xr) if scope in {"", "Namespaced"} else ""
    # A line in a loop writes the same into each item.
    places: set[object] = set()
    for name, at, part in composed:
        type_ = objects.api_version_and_kind(part)
        # Crossplane refuses it, and an Object of a provider may have any.
        if namespace and not at and catalog.is_cluster_scoped(type_):
            message = f"kind: {type_[1]} has no namespace: an XR with one cannot compose it"
            group = builtin.find_namespaced_group(type_[0])
            hint = group and f"its kinds with a namespace are in the group {group}"
            problem = Problem(type="schema", message=message, path="kind", hint=hint)
            yield _locate(problem, rendering, name), "error" if scope else "warning"
        for problem in _compare(part, catalog):
            # The provider may change an object that has the other fields.
            path = objects.read_path(problem.path)
            if (at or is_late) and objects.find_path(part, path) is None:
                continue
            located, severity = _locate(problem, rendering, name, at), _rate(problem, part, made_up)
            text = problem.message.replace(problem.path, "") if located.span else problem.message
            fields = tuple(key for key in path if isinstance(key, str))
            if (place := (name, located.span, severity, fields, text)) not in places:
                places.add(place)
                yield located, severity
    # Other fields of the XR, and Crossplane's own of its status, are not the pipeline's.
    status: Object = {
        key: value
        for key, value in manifests.object_at(xr, _STATUS).items()
        if not xrds.is_crossplane_field(_STATUS, key)
    }
    header: Object = {key: xr[key] for key in ("apiVersion", "kind") if key in xr}
    for problem in _compare({**header, _STATUS: status}, catalog):
        if objects.read_path(problem.path)[:1] == (_STATUS,) and not is_late:
            yield _locate(problem, rendering, None), _rate(problem, xr, made_up)
    yield from ((problem, "warning") for problem in selectors.find_unselected(rendering))
    if namespace or scope == "Cluster":
        severity = "warning" if scope else "note"
        yield from ((each, severity) for each in _find_dropped(rendering, namespace))
    types = {objects.api_version_and_kind(part) for _, _, part in composed}
    missing = sorted(type_ for type_ in types if catalog.find(*type_) is None)
    if missing and catalog.has_others(objects.api_version_and_kind(xr)):
        kinds = ", ".join(f"{kind} of {api_version}" for api_version, kind in missing)
        yield Diagnostic(message=f"no schema, not compared: {kinds}"), "note"


def _find_dropped(rendering: Rendering, namespace: str) -> Iterator[Diagnostic]:
    """Yield the namespaces and connection details that a cluster takes of a legacy XR alone."""
    positions, code = rendering.positions, Code("dropped")
    for desired in (call.reply.response.desired for call in rendering.calls[-1:]):
        for name, resource in desired.resources.items() if namespace else ():
            other = manifests.namespace(messages.read_struct(resource.resource))
            if other not in {"", namespace}:
                text = f'Crossplane takes the XR\'s namespace for resource "{name}", not "{other}"'
                problem = Diagnostic(message=text, hint="leave the namespace out", code=code)
                yield positions.show_value(problem, name, ("metadata", "namespace"))
        if keys := sorted(desired.composite.connection_details):
            subject = manifests.describe(rendering.result.xr)
            text = f"Crossplane drops the connection details of {subject}, {', '.join(keys)}"
            hint = "XRs of Crossplane 2 have none: compose a Secret"
            problem = Diagnostic(message=text, hint=hint, code=code)
            responses = rendering.responses.items()
            writers = [name for name, it in responses if it.desired.composite.connection_details]
            yield positions.show(problem, positions.find_step(writers[0]))


def _list_composed(resources: Mapping[str, Object]) -> Iterator[tuple[str, objects.Path, Object]]:
    """Yield composed resources, and the objects in them, by resource name and place there."""
    for name, resource in resources.items():
        yield name, (), resource
        at = _EMBEDDED.get(manifests.key_of(resource)[:2])
        part = None if at is None else objects.find_path(resource, at)
        if at is not None and isinstance(part, dict) and all(objects.api_version_and_kind(part)):
            yield name, at, part


def _compare(manifest: Object, catalog: Catalog) -> list[Problem]:
    comparison = catalog.compare(manifest)
    metadata = find_unknown({"metadata": manifest.get("metadata")}, _METADATA, is_builtin=True)
    metadata += server_rules.compare_metadata(manifest)
    if comparison is None:
        return [*catalog.find_misspelt(*objects.api_version_and_kind(manifest)), *metadata]
    problems = [*comparison.problems, *server_rules.compare(manifest), *metadata]
    # Of a fraction that is to be whole, the API server says so twice.
    paths = {each.path for each in problems if each.field != wording.NO_FIELD}
    unique = {(each.path, each.message): each for each in problems}.values()
    return [each for each in unique if each.field != wording.NO_FIELD or each.path not in paths]


def _rate(problem: Problem, manifest: Object, made_up: Collection[str]) -> str:
    """Return the severity of a problem."""
    value = objects.find_path(manifest, objects.read_path(problem.path))
    is_made_up = isinstance(value, str) and any(text in value for text in made_up)
    return "info" if is_made_up else problem.severity


def _locate(
    problem: Problem, rendering: Rendering, resource: str | None, at: objects.Path = ()
) -> Diagnostic:
    """Return the problem at the line that wrote the value, with the name of the object.

    ``at`` is the place in the composed resource of the object whose problem it is.
    """
    result = rendering.result
    manifest = result.xr if resource is None else result.resources[resource]
    whose = "XR" if resource is None else f'resource "{resource}"'
    api_version, kind = objects.api_version_and_kind(manifests.object_at(manifest, *map(str, at)))
    place = f" in {format_path(at)}" if at else ""
    path = (*at, *objects.read_path(problem.path))
    position = rendering.positions.nearest_line(resource, path)
    step = "" if position is None else f', written by step "{position.step}"'
    diagnostic = Diagnostic(
        message=f"invalid {whose}: {problem.message.removeprefix(f'{wording.NO_FIELD}: ')}",
        hint=problem.hint,
        code=Code("unknown-field", str(problem.value)) if problem.type == "unknownField" else None,
        notes=(f"{kind} of {api_version}{place}{step}",),
    )
    return rendering.positions.show(diagnostic, position and position.span)
