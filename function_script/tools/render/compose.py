"""From desired state to what Crossplane would write: composed resources, the XR, events.

Called when the pipeline is done. Mirrors what Crossplane does to desired state, rule by rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from function_script import objects
from function_script.errors import DocumentError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.tools import manifests
from function_script.tools.render import conditions, messages, names_and_uids
from function_script.tools.render import xr as xrs
from function_script.tools.render.pipeline import COMPOSE, Event

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from function_script.tools.render.conditions import Condition
    from function_script.tools.render.pipeline import PipelineResult
    from function_script.tools.render.xr import Xr
    from function_script.values import Object, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """The result: the XR, the composed resources by name, events in the order they happen.

    ``deleted`` are those that the XR has composed and no longer wants.
    """

    xr: Object
    resources: Mapping[str, Object]
    events: tuple[Event, ...]
    deleted: tuple[Object, ...] = ()


def compose(xr: Xr, observed: Mapping[str, Object], outcome: PipelineResult) -> Composition:
    """Raises DocumentError when Crossplane would refuse a resource."""
    wanted = outcome.desired.resources
    resources: dict[str, Object] = {}
    overridden: list[Event] = []
    for name in sorted(wanted):
        manifest = messages.read_struct(wanted[name].resource)
        _keep_identity(manifest, observed.get(name))
        overridden += _override_namespace(manifest, name, xr)
        _own(manifest, name, xr)
        _name(manifest, name, xr)
        resources[name] = manifest
    unready = [name for name in sorted(wanted) if wanted[name].ready != fnv1.READY_TRUE]
    return Composition(
        xr=_composed_xr(xr, outcome, resources.values(), _readiness(outcome, unready)),
        resources=resources,
        events=(*outcome.events, *overridden, *map(_not_ready, unready)),
        deleted=tuple(_abandoned(observed[name]) for name in _unwanted(observed, wanted)),
    )


def _unwanted(observed: Mapping[str, Object], wanted: Container[str]) -> list[str]:
    """What is controlled by somebody else was refused before; what is by nobody stays."""
    gone = [name for name in sorted(observed) if name not in wanted]
    return [name for name in gone if manifests.controller(observed[name]) is not None]


def _abandoned(manifest: Object) -> Object:
    """Crossplane takes its labels off a resource before it deletes it."""
    ours = {manifests.COMPOSITE, manifests.CLAIM_NAME, manifests.CLAIM_NAMESPACE}
    metadata = manifests.object_at(manifest, "metadata")
    labels = metadata.get("labels")
    if not isinstance(labels, dict):
        return manifest
    kept: Object = {key: text for key, text in labels.items() if key not in ours}
    return {**manifest, "metadata": {**metadata, "labels": kept}}


def failed(xr: Xr, _: Mapping[str, Object], outcome: PipelineResult) -> Composition:
    """What is written after a FATAL result: the XR with conditions, and no resources."""
    cause = f"cannot compose resources: {outcome.fatal}"
    manifest = xrs.last_written(xr)
    stated = [one for one in outcome.conditions if one.type not in conditions.SYSTEM_TYPES]
    generation = xrs.generation(manifest)
    conditions.mark(manifest, [conditions.failed(cause)], generation=generation)
    conditions.mark(manifest, stated)
    conditions.restore(manifest, conditions.unseen(manifest, stated, generation))
    _name_claim_conditions(manifest, stated, xr)
    event = Event(severity="Warning", reason=COMPOSE, message=cause)
    return Composition(xr=manifest, resources={}, events=(event, *outcome.events))


def untouched(xr: Xr) -> Composition:
    """The result for an XR that is paused or being deleted: no function is called."""
    manifest: Object = {key: objects.deep_copy(value) for key, value in xr.manifest.items()}
    generation = xrs.generation(manifest)
    if not xr.is_paused:
        marks = [conditions.DELETING, conditions.SYNCED]
        conditions.mark(manifest, marks, generation=generation)
        return Composition(xr=manifest, resources={}, events=())
    conditions.mark(manifest, [conditions.PAUSED], generation=generation)
    event = Event(
        severity="Normal",
        reason="ReconciliationPaused",
        message="Reconciliation is paused via the pause annotation",
    )
    return Composition(xr=manifest, resources={}, events=(event,))


def _keep_identity(manifest: Object, observed: Object | None) -> None:
    """A resource that exists keeps its name and namespace, whatever a function says."""
    if observed is not None:
        for field in ("namespace", "name", "generateName"):
            kept = manifests.text_at(observed, "metadata", field)
            manifests.set_text(manifest, kept, "metadata", field)


def _override_namespace(manifest: Object, name: str, xr: Xr) -> list[Event]:
    """A namespaced XR composes in its own namespace only."""
    given = manifests.namespace(manifest)
    if not xr.namespace:
        return []
    manifests.set_text(manifest, xr.namespace, "metadata", "namespace")
    if given in {"", xr.namespace}:
        return []
    message = (
        f'cannot create composed resource {messages.quoted(name)} in namespace "{given}", '
        f'using XR namespace "{xr.namespace}" instead'
    )
    return [Event(severity="Warning", reason="NamespaceOverridden", message=message)]


def _own(manifest: Object, name: str, xr: Xr) -> None:
    """Mark the resource as composed by the XR: annotation, labels, controller reference."""
    labels = manifests.labels(xr.manifest)
    prefix = labels[manifests.COMPOSITE]
    if not manifests.name(manifest) and not manifests.text_at(manifest, "metadata", "generateName"):
        manifests.set_text(manifest, f"{prefix}-", "metadata", "generateName")
    manifests.add_texts(manifest, {manifests.RESOURCE_NAME: name}, "metadata", "annotations")
    added = {manifests.COMPOSITE: prefix}
    if labels.get(manifests.CLAIM_NAME) and labels.get(manifests.CLAIM_NAMESPACE):
        for key in (manifests.CLAIM_NAME, manifests.CLAIM_NAMESPACE):
            added[key] = labels[key]
    manifests.add_texts(manifest, added, "metadata", "labels")
    _control(manifest, name, xr)


def _control(manifest: Object, name: str, xr: Xr) -> None:
    owner = manifests.controller(manifest)
    if owner is not None and owner.get("uid") != xr.uid:
        raise DocumentError.of(
            f'cannot compose resource "{name}": it is already controlled by '
            f'{owner.get("kind")} "{owner.get("name")}" (uid {owner.get("uid")})'
        )
    reference: Object = {
        "apiVersion": xr.api_version,
        "kind": xr.kind,
        "name": xr.name,
        "uid": xr.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    owners: list[Value] = [*manifests.objects_at(manifest, "metadata", "ownerReferences")]
    places = [
        i for i, item in enumerate(owners) if isinstance(item, dict) and item.get("uid") == xr.uid
    ]
    if places:
        owners[places[0]] = reference
    else:
        owners.append(reference)
    manifests.make_object(manifest, "metadata")["ownerReferences"] = owners


def _name(manifest: Object, name: str, xr: Xr) -> None:
    if not manifests.name(manifest):
        prefix = manifests.text_at(manifest, "metadata", "generateName")
        made = names_and_uids.child_name(prefix, xr.uid, name)
        manifests.set_text(manifest, made, "metadata", "name")
    api_version, kind = objects.api_version_and_kind(manifest)
    object_name = manifests.name(manifest)
    if not names_and_uids.is_object_name(object_name, manifests.group(api_version), kind):
        raise DocumentError.of(
            f'cannot compose resource "{name}": "{object_name}" is no valid metadata.name',
            hint="it must be an RFC 1123 subdomain: lower case letters, digits, - and .",
        )


def _readiness(outcome: PipelineResult, unready: list[str]) -> Condition:
    stated = outcome.desired.composite.ready
    if stated == fnv1.READY_TRUE:
        return conditions.AVAILABLE
    if stated == fnv1.READY_FALSE:
        return conditions.CREATING
    return conditions.unready(unready) if unready else conditions.AVAILABLE


def _not_ready(name: str) -> Event:
    return Event(
        severity="Normal",
        reason=COMPOSE,
        message=f"Composed resource {messages.quoted(name)} is not yet ready",
    )


def _composed_xr(
    xr: Xr, outcome: PipelineResult, resources: Iterable[Object], ready: Condition
) -> Object:
    """The XR's identity, references and status; the rest of the file is not repeated."""
    composed: Object = {"apiVersion": xr.api_version, "kind": xr.kind}
    manifests.set_text(composed, xr.name, "metadata", "name")
    manifests.set_text(composed, xr.namespace, "metadata", "namespace")
    ordered = sorted(resources, key=lambda manifest: _reference_order(manifest, xr))
    xrs.set_resource_refs(composed, xr, ordered)
    desired = messages.read_struct(outcome.desired.composite.resource)
    composed["status"] = objects.deep_copy(manifests.object_at(desired, "status"))
    # Conditions that the XR has already come behind those of its desired status.
    conditions.restore(composed, conditions.read(xr.manifest))
    stated = [one for one in outcome.conditions if one.type not in conditions.SYSTEM_TYPES]
    conditions.mark(composed, [*stated, conditions.SYNCED, ready])
    _name_claim_conditions(composed, stated, xr)
    # Nothing changed, so Crossplane's last write was an earlier one, of the whole XR.
    is_unchanged = composed["status"] == xr.file.get("status")
    return xr.manifest if is_unchanged and xrs.is_updated(xr) else composed


def _name_claim_conditions(composed: Object, stated: list[Condition], xr: Xr) -> None:
    """Legacy XRs list the conditions that their claim shows too."""
    status = manifests.object_at(composed, "status")
    listed = status.get("claimConditionTypes")
    types: list[Value] = [*listed] if isinstance(listed, list) else []
    for condition in stated:
        if condition.for_claim and condition.type not in types:
            types.append(condition.type)
    if xr.is_legacy and types:
        status["claimConditionTypes"] = types


def _reference_order(manifest: Object, xr: Xr) -> str:
    """References of namespaced XRs have no namespace, so it does not count."""
    namespace = "" if xr.namespace else manifests.namespace(manifest)
    return "".join([*objects.api_version_and_kind(manifest), manifests.name(manifest), namespace])
