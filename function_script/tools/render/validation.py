"""Validation of what a pipeline wrote against the schemas at hand.

These are the XRD's for the XR's status, those of CRDs and XRDs, and those of Kubernetes' own kinds.
Rules in CEL are left out: `render --validate` evaluates them.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Final

from function_script.request import objects
from function_script.request.reader import format_path
from function_script.request.values import Object
from function_script.texts import spelling
from function_script.texts.diagnostics import Code, Diagnostic
from function_script.texts.problems import suggest
from function_script.tools import manifests, xrds
from function_script.tools.render.renderer import Rendering
from function_script.tools.validate import builtin, wording
from function_script.tools.validate.catalog import Catalog, find_unknown
from function_script.tools.validate.report import Problem

_STATUS: Final = "status"
_METADATA: Final[Object] = {"properties": {"metadata": builtin.metadata_schema()}}
# Kinds whose selector must match the labels of their pods.
_WITH_PODS: Final = {
    ("apps", kind) for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
}
_POD_TEMPLATES: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    **dict.fromkeys((*_WITH_PODS, ("batch", "Job")), ("spec", "template")),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
    ("", "Pod"): (),
}
_SERVICE: Final = ("v1", "Service")
_NO_LABEL: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character"
)
_RESTARTS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    **dict.fromkeys(_WITH_PODS, ("Always",)),
    **dict.fromkeys((("batch", "CronJob"), ("batch", "Job")), ("OnFailure", "Never")),
}
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
    # In a cluster, an XR of scope LegacyCluster loses the namespace that a file gives it.
    is_certain = catalog.is_extension(objects.api_version_and_kind(xr))
    has_namespace = catalog.has_namespace(xr) if is_certain else bool(manifests.namespace(xr))
    # A line in a loop writes the same into each item.
    places: set[object] = set()
    for name, at, part in composed:
        type_ = objects.api_version_and_kind(part)
        # Crossplane refuses it, and an Object of a provider may have any.
        if has_namespace and not at and catalog.is_cluster_scoped(type_):
            message = f"kind: {type_[1]} has no namespace: an XR with one cannot compose it"
            group = builtin.find_namespaced_group(type_[0])
            hint = group and f"its kinds with a namespace are in the group {group}"
            problem = Problem(type="schema", message=message, path="kind", hint=hint)
            yield _locate(problem, rendering, name), "error" if is_certain else "warning"
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
    yield from ((problem, "warning") for problem in find_unselected(rendering))
    types = {objects.api_version_and_kind(part) for _, _, part in composed}
    missing = sorted(type_ for type_ in types if catalog.find(*type_) is None)
    if missing and catalog.has_others(objects.api_version_and_kind(xr)):
        kinds = ", ".join(f"{kind} of {api_version}" for api_version, kind in missing)
        yield Diagnostic(message=f"no schema, not compared: {kinds}"), "note"


def find_unselected(rendering: Rendering) -> Iterator[Diagnostic]:
    """Yield the selectors of a run that select nothing, though what they mean is at hand.

    They are those of requirements, and of composed Services.
    """
    yield from _find_services(rendering)
    source = rendering.result.requirements
    if source is None:
        return
    for call in rendering.calls:
        for name, selector in {**call.step.resources, **call.reply.required()}.items():
            near = source.store.find_near(selector)
            if near is not None and not source.select(selector).items:
                span = rendering.positions.find_requirement(call.step, name)
                yield Diagnostic(
                    message=f'required resource "{name}" was not found: {near}',
                    span=span,
                    excerpt=rendering.positions.excerpt(span),
                    code=Code("unselected", name),
                )


def _find_services(rendering: Rendering) -> Iterator[Diagnostic]:
    """Yield the Services that select no pods of a pipeline for a slip in their selector alone."""
    resources = rendering.result.resources
    templates = [*filter(None, map(_find_pod_labels, resources.values()))]
    for name, resource in resources.items():
        selector = manifests.texts_at(resource, "spec", "selector")
        if objects.api_version_and_kind(resource) != _SERVICE:
            continue
        if any(selector.items() <= labels.items() for labels in templates):
            continue
        for key, value in selector.items():
            others = selector.items() - {(key, value)}
            near = [labels for labels in templates if others <= labels.items()]
            slip = spelling.find_slip(value, {each[key] for each in near if key in each})
            keys = {each for labels in near for each in labels if labels[each] == value}
            hint = f"{key}: {slip}" if slip else None
            if not any(key in labels for labels in near) and len(keys) == 1:
                hint = f"{keys.pop()}: {value}"
            if hint is not None:
                position = rendering.positions.nearest_line(name, ("spec", "selector", key))
                span = None if position is None else position.span
                yield Diagnostic(
                    message=f'Service "{name}" selects no pods: none composed here has the label '
                    f"{key}: {value}",
                    hint=f"they have {hint}",
                    span=span,
                    excerpt=rendering.positions.excerpt(span),
                    code=Code("unselected", name),
                )


def _find_pod_labels(resource: Object) -> dict[str, str]:
    """Return the labels of the pods that an object of Kubernetes makes, or of the pod it is."""
    group, kind, *_ = manifests.key_of(resource)
    above = _POD_TEMPLATES.get((group, kind))
    return {} if above is None else manifests.texts_at(resource, *above, "metadata", "labels")


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
    if comparison is None:
        return [*catalog.find_misspelt(*objects.api_version_and_kind(manifest)), *metadata]
    is_extension = catalog.is_extension(objects.api_version_and_kind(manifest))
    problems = [*comparison.problems, *_compare_pods(manifest), *(metadata if is_extension else [])]
    # Of a fraction that is to be whole, the API server says so twice.
    paths = {each.path for each in problems if each.field != wording.NO_FIELD}
    return [each for each in problems if each.field != wording.NO_FIELD or each.path not in paths]


def _compare_pods(manifest: Object) -> Iterator[Problem]:
    """Find what no schema says of an object with a template of pods, as the API server does."""
    group, kind, *_ = manifests.key_of(manifest)
    above = _POD_TEMPLATES.get((group, kind))
    if above is None:
        return
    template = manifests.object_at(manifest, *above)
    selector = manifests.object_at(manifest, "spec", "selector", "matchLabels")
    labels = manifests.object_at(template, "metadata", "labels")
    if (group, kind) in _WITH_PODS and not selector.items() <= labels.items():
        path = format_path((*above, "metadata", "labels"))
        yield wording.refused(path, labels, "`selector` does not match template `labels`")
    pods = manifests.object_at(template, "spec")
    policy = pods.get("restartPolicy")
    policies = _RESTARTS.get((group, kind), ())
    if "containers" in pods and policies and (policy or "Always") not in policies:
        path = format_path((*above, "spec", "restartPolicy"))
        if policy is None:
            words = ", ".join(f'"{each}"' for each in policies)
            missing = wording.missing(path)
            yield replace(missing, message=f"{missing.message}: valid values: {words}")
        else:
            yield wording.unsupported(path, policy, policies)
    claims = manifests.objects_at(manifest, "spec", "volumeClaimTemplates")
    yield from _compare_containers(pods, {*map(manifests.name, claims)}, (*above, "spec"))


def _compare_containers(
    pods: Object, claims: Collection[str], above: objects.Path
) -> Iterator[Problem]:
    """Find names of containers that are wrong, and those of volumes that are not there."""
    volumes = manifests.objects_at(pods, "volumes")
    names = {*claims, *(manifests.text_at(each, "name") for each in volumes)}
    containers: set[str] = set()
    for part in ("initContainers", "containers"):
        for index, container in enumerate(manifests.objects_at(pods, part)):
            name = manifests.text_at(container, "name")
            path = format_path((*above, part, index, "name"))
            if name in containers:
                yield wording.duplicate(path, name)
            elif name and not objects.is_label(name):
                yield wording.refused(path, name, _NO_LABEL)
            containers.add(name)
            mounts = manifests.objects_at(container, "volumeMounts")
            for number, name in enumerate(manifests.text_at(each, "name") for each in mounts):
                if name and name not in names:
                    place = (*above, part, index, "volumeMounts", number, "name")
                    hint = suggest(name, tuple(names))
                    yield replace(wording.absent(format_path(place), name), hint=hint)


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
    span = None if position is None else position.span
    return Diagnostic(
        message=f"invalid {whose}: {problem.message.removeprefix(f'{wording.NO_FIELD}: ')}",
        span=span,
        excerpt=rendering.positions.excerpt(span),
        hint=problem.hint,
        code=Code("unknown-field", str(problem.value)) if problem.type == "unknownField" else None,
        notes=(f"{kind} of {api_version}{place}{step}",),
    )
