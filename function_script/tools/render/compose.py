"""Turn desired state into composed resources, the XR and events, by Crossplane's rules."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from function_script.engines import leftovers
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.values import Object, Value
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import DocumentError
from function_script.tools import manifests
from function_script.tools.render import conditions, messages
from function_script.tools.render import xr as xrs
from function_script.tools.render.conditions import Condition
from function_script.tools.render.pipeline import COMPOSE, Event, PipelineResult, ReconcileResult
from function_script.tools.render.xr import Xr

_REQUESTED: Final = "ReconcileRequestHandled"
_SELECTED: Final = "SelectComposition"


class ComposeError(DocumentError):
    """Crossplane refuses the value at ``path`` of the composed resource ``resource``."""

    def __init__(self, resource: str, path: objects.Path, *problems: Diagnostic) -> None:
        super().__init__(*problems)
        self.resource = resource
        self.path = path


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderResult(ReconcileResult):
    """The XR, and the composed resources by name.

    ``file`` is the XR of the inputs with its XRD's defaults. ``deleted`` are observed resources
    that are no longer desired.
    """

    file: Object
    xr: Object
    resources: Mapping[str, Object] = field(default_factory=dict)
    deleted: tuple[Object, ...] = ()


def compose(xr: Xr, observed: Mapping[str, Object], outcome: PipelineResult) -> RenderResult:
    """Compose what the pipeline desires. Raises ComposeError if Crossplane refuses a resource."""
    desired = outcome.desired.resources
    resources: dict[str, Object] = {}
    overridden: list[Event] = []
    for name in sorted(desired):
        manifest = messages.read_struct(desired[name].resource)
        if name in observed:
            # Functions cannot change the name and namespace of a resource that exists.
            for key in ("namespace", "name", "generateName"):
                value = manifests.text_at(observed[name], "metadata", key)
                manifests.set_text(manifest, value, "metadata", key)
        overridden += _override_namespace(manifest, name, xr)
        _own(manifest, name, xr)
        _set_name(manifest, name, xr)
        resources[name] = manifest
    unready = [name for name in sorted(desired) if desired[name].ready != fnv1.READY_TRUE]
    return RenderResult(
        file=xr.file,
        xr=_composed_xr(xr, outcome, resources.values(), unready),
        resources=resources,
        events=(*outcome.events, *overridden, *map(_unready_event, unready)),
        deleted=tuple(
            _without_labels(manifest)
            for name, manifest in sorted(observed.items())
            if name not in desired
        ),
    )


def _without_labels(manifest: Object) -> Object:
    """Remove Crossplane's labels, as Crossplane does before it deletes a resource."""
    own = {manifests.COMPOSITE, manifests.CLAIM_NAME, manifests.CLAIM_NAMESPACE}
    metadata = manifests.object_at(manifest, "metadata")
    labels = metadata.get("labels")
    if not isinstance(labels, dict):
        return manifest
    others: Object = {key: text for key, text in labels.items() if key not in own}
    return {**manifest, "metadata": {**metadata, "labels": others}}


def failed(xr: Xr, outcome: PipelineResult) -> RenderResult:
    """Return the XR with its conditions and no resources, as after a FATAL result."""
    cause = f"cannot compose resources: {outcome.fatal}"
    manifest = xrs.last_written(xr)
    custom = _custom_conditions(outcome)
    conditions.mark(manifest, [conditions.failed(cause)], is_observed=True)
    conditions.mark(manifest, custom)
    conditions.restore(manifest, conditions.undetermined(manifest, custom))
    _name_claim_conditions(manifest, custom, xr)
    event = Event(severity="Warning", reason=COMPOSE, message=cause)
    return RenderResult(file=xr.file, xr=manifest, events=(event, *outcome.events))


def untouched(xr: Xr) -> RenderResult:
    """Return the XR alone, as for one that is paused or being deleted: no function is called."""
    manifest = manifests.copy(xr.manifest)
    if not xr.is_paused:
        marks = [conditions.DELETING, conditions.SYNCED]
        conditions.mark(manifest, marks, is_observed=True)
        return RenderResult(file=xr.file, xr=manifest)
    conditions.mark(manifest, [conditions.PAUSED], is_observed=True)
    event = Event(
        severity="Normal",
        reason="ReconciliationPaused",
        message="Reconciliation is paused via the pause annotation",
    )
    return RenderResult(file=xr.file, xr=manifest, events=(event,))


def _override_namespace(manifest: Object, name: str, xr: Xr) -> list[Event]:
    """Set the XR's namespace; return a warning if the function set another one."""
    namespace = manifests.namespace(manifest)
    if not xr.namespace:
        return []
    manifests.set_text(manifest, xr.namespace, "metadata", "namespace")
    if namespace in {"", xr.namespace}:
        return []
    message = (
        f'cannot create composed resource {messages.quoted(name)} in namespace "{namespace}", '
        f'using XR namespace "{xr.namespace}" instead'
    )
    return [Event(severity="Warning", reason="NamespaceOverridden", message=message)]


def _own(manifest: Object, name: str, xr: Xr) -> None:
    """Add the annotation, labels and controller reference of a composed resource."""
    labels = manifests.labels(xr.manifest)
    # `xr.prepare` has given the XR this label.
    prefix = labels[manifests.COMPOSITE]
    if not manifests.name(manifest) and not manifests.text_at(manifest, "metadata", "generateName"):
        manifests.set_text(manifest, f"{prefix}-", "metadata", "generateName")
    manifests.add_texts(manifest, {manifests.RESOURCE_NAME: name}, "metadata", "annotations")
    own_labels = {manifests.COMPOSITE: prefix}
    if labels.get(manifests.CLAIM_NAME) and labels.get(manifests.CLAIM_NAMESPACE):
        for key in (manifests.CLAIM_NAME, manifests.CLAIM_NAMESPACE):
            own_labels[key] = labels[key]
    manifests.add_texts(manifest, own_labels, "metadata", "labels")
    owner = manifests.controller(manifest)
    if owner is not None and owner.get("uid") != xr.uid:
        message = (
            f'cannot compose resource "{name}": it is already controlled by '
            f'{owner.get("kind")} "{owner.get("name")}" (uid {owner.get("uid")})'
        )
        path = ("metadata", "ownerReferences")
        raise ComposeError(name, path, Diagnostic(message=message))
    reference = manifests.owner_reference(xr.manifest)
    owners = manifests.objects_at(manifest, "metadata", "ownerReferences")
    uids = [owner.get("uid") for owner in owners]
    own_index = uids.index(xr.uid) if xr.uid in uids else len(uids)
    # A reference to the XR keeps its place in the list, as in crossplane-runtime.
    owners[own_index : own_index + 1] = [reference]
    manifests.make_object(manifest, "metadata")["ownerReferences"] = [*owners]


def _set_name(manifest: Object, name: str, xr: Xr) -> None:
    """Generate the object's name if it has none. Raises ComposeError for an invalid one."""
    if not manifests.name(manifest):
        prefix = manifests.text_at(manifest, "metadata", "generateName")
        child_name = xrs.child_name(prefix, xr.uid, name)
        manifests.set_text(manifest, child_name, "metadata", "name")
    api_version, kind = objects.api_version_and_kind(manifest)
    object_name = manifests.name(manifest)
    if not xrs.is_object_name(object_name, manifests.group(api_version), kind):
        message = f'cannot compose resource "{name}": invalid metadata.name "{object_name}"'
        hint = "it must be an RFC 1123 subdomain: lower case letters, digits, - and ."
        if leftover := leftovers.of_value(object_name):
            hint = leftover.hint
        elif "None" in object_name.split("-"):
            hint = "a value in it is None: test for that, or give a default"
        path = ("metadata", "name")
        raise ComposeError(name, path, Diagnostic(message=message, hint=hint))


def list_selections(xr: Xr, composition: Object) -> Iterator[Event]:
    """Yield the events that Crossplane emits before the pipeline runs."""
    if xr.is_requested:
        message = "Handling reconcile request"
        yield Event(severity="Normal", reason=_REQUESTED, message=message)
    if xr.selects_anew:
        message = f"Successfully selected composition: {manifests.name(composition)}"
        yield Event(severity="Normal", reason=_SELECTED, message=message)


def _unready_event(name: str) -> Event:
    message = f"Composed resource {messages.quoted(name)} is not yet ready"
    return Event(severity="Normal", reason=COMPOSE, message=message)


def list_notable(result: RenderResult) -> list[Event]:
    """Return the events without those that only a cluster has: selections, and who is not ready."""
    unready = {_unready_event(name) for name in result.resources}
    return [
        event
        for event in result.events
        if event not in unready and event.reason not in {_REQUESTED, _SELECTED}
    ]


def _composed_xr(
    xr: Xr, outcome: PipelineResult, resources: Iterable[Object], unready: list[str]
) -> Object:
    """Return the XR's identity, references and status, without the rest of the file."""
    composed: Object = {key: xr.file[key] for key in ("apiVersion", "kind")}
    manifests.set_text(composed, xr.name, "metadata", "name")
    manifests.set_text(composed, xr.namespace, "metadata", "namespace")
    references = sorted(resources, key=lambda manifest: _reference_order(manifest, xr))
    xrs.set_resource_refs(composed, xr, references)
    desired = messages.read_struct(outcome.desired.composite.resource)
    composed["status"] = objects.deep_copy(manifests.object_at(desired, "status"))
    # Conditions of the file come after those of the desired status.
    conditions.restore(composed, conditions.read(xr.manifest))
    custom = _custom_conditions(outcome)
    verdict = outcome.desired.composite.ready
    # What a function says of the XR itself wins over the state of its resources.
    if verdict == fnv1.READY_FALSE:
        ready = conditions.CREATING
    elif unready and verdict != fnv1.READY_TRUE:
        ready = conditions.unready(unready)
    else:
        ready = conditions.AVAILABLE
    conditions.mark(composed, [*custom, conditions.SYNCED, ready])
    _name_claim_conditions(composed, custom, xr)
    # If nothing changed, Crossplane's last write was an earlier one, of the whole XR.
    is_unchanged = composed["status"] == xr.file.get("status")
    return xr.manifest if is_unchanged and xrs.is_updated(xr) else composed


def _custom_conditions(outcome: PipelineResult) -> list[Condition]:
    """Return the functions' conditions without those that only Crossplane sets."""
    return [each for each in outcome.conditions if each.type not in conditions.SYSTEM_TYPES]


def _name_claim_conditions(composed: Object, custom: list[Condition], xr: Xr) -> None:
    """List the conditions that the claim of a legacy XR shows, too."""
    status = manifests.object_at(composed, "status")
    current = status.get("claimConditionTypes")
    types: list[Value] = [*current] if isinstance(current, list) else []
    for condition in custom:
        if condition.for_claim and condition.type not in types:
            types.append(condition.type)
    if xr.is_legacy and types:
        status["claimConditionTypes"] = types


def _reference_order(manifest: Object, xr: Xr) -> str:
    """Return a sort key; references of namespaced XRs have no namespace."""
    namespace = "" if xr.namespace else manifests.namespace(manifest)
    # Crossplane joins them without a separator, which decides the order of some names.
    return "".join([*objects.api_version_and_kind(manifest), manifests.name(manifest), namespace])
