"""A fake cluster of plain objects: the state before each step of a case.

As in a cluster, an object has the fields that Crossplane applied and those of others. A resource
that is no longer desired does not exist any more.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from function_script.request import objects
from function_script.request.reader import ObjectReader, format_path
from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.texts.problems import suggest
from function_script.tools import manifests
from function_script.tools.cases.loader import ObjectLoader
from function_script.tools.cases.model import Located, Setup, Step
from function_script.tools.render import RenderInputs, conditions
from function_script.tools.render import xr as xrs
from function_script.tools.render.compose import RenderResult

# Crossplane does not own these fields of a composed resource, or of its metadata.
_UNOWNED: Final = ("apiVersion", "kind", "status")
_UNOWNED_METADATA: Final = ("name", "namespace", "managedFields")


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeCluster:
    """The state before a step.

    ``inputs`` are those of its reconcile; their XR is not validated. ``xr`` has the author's fields
    of that XR, which are those of ``xr_parts``, and ``applied`` those of Crossplane. By resource
    name, ``foreign`` has the fields of observed resources that others than Crossplane set, and
    ``composed`` those of Crossplane.
    """

    inputs: RenderInputs
    xr: Object
    xr_parts: Sequence[Located]
    applied: Object = field(default_factory=dict)
    foreign: Mapping[str, Object] = field(default_factory=dict)
    composed: Mapping[str, Object] = field(default_factory=dict)


def read(
    loader: ObjectLoader, fields: ObjectReader, xr: Object, default: Path | None = None
) -> list[Located]:
    """Read the observed resources of a case or a step.

    They are objects and files, or a map of resource names to objects. Objects of a map get the
    names that Crossplane generates, unless they have some.
    """
    value = fields.value.get("observed")
    if not isinstance(value, dict) or "apiVersion" in value:
        return loader.all(fields, "observed", default)
    by_name = fields.object("observed")
    located = []
    for name, item in () if by_name is None else by_name.members():
        child_name = xrs.child_name(manifests.name(xr), xrs.xr_uid(xr), name)
        identity: Object = {"metadata": {"name": child_name}}
        manifests.set_text(identity, manifests.namespace(xr), "metadata", "namespace")
        whole = manifests.copy(identity, item.value)
        manifests.add_texts(whole, {manifests.RESOURCE_NAME: name}, "metadata", "annotations")
        located.append(loader.own(whole, item.path))
    return located


def first(setup: Setup) -> FakeCluster:
    """Return the state before a case."""
    return FakeCluster(inputs=setup.inputs, xr=setup.inputs.xr, xr_parts=setup.xr_parts)


def before_step(cluster: FakeCluster, step: Step) -> FakeCluster:
    """Return the state in which ``step`` runs. Raises InputError for unknown resource names."""
    if step.observed is None:
        foreign = {name: cluster.foreign.get(name, {}) for name in cluster.composed}
        whole = {name: manifests.copy(foreign[name], cluster.composed[name]) for name in foreign}
        for name, manifest in whole.items():
            fields = _managed_fields(cluster.composed[name], cluster.xr)
            objects.merge(manifest, {"metadata": {"managedFields": [fields]}})
        spans = {}
    else:
        foreign = {manifests.resource_name(item.value): item.value for item in step.observed}
        whole = dict(foreign)
        spans = {manifests.resource_name(item.value): item.span for item in step.observed}
    _check_names(step, whole)
    for name in {*step.ready, *step.changed}:
        changed = step.changed.get(name, {})
        whole[name] = manifests.copy(whole[name], changed)
        if name in step.ready:
            # The rule of its kind reads what Crossplane applied, too, and asks for a status alone.
            conditions.make_ready(whole[name])
            if status := manifests.object_at(whole[name], "status"):
                changed = {**changed, "status": status}
        foreign[name] = manifests.copy(foreign[name], changed)
    patches = () if step.patch is None else (step.patch,)
    xr = manifests.copy(cluster.xr, *(patch.value for patch in patches))
    inputs = replace(
        cluster.inputs,
        xr=manifests.copy(xr, cluster.applied),
        observed=[*whole.values()],
        spans=[*map(spans.get, whole)],
        required=cluster.inputs.required if step.required is None else step.required,
    )
    return replace(
        cluster, inputs=inputs, xr=xr, xr_parts=(*cluster.xr_parts, *patches), foreign=foreign
    )


def after_step(cluster: FakeCluster, result: RenderResult) -> FakeCluster:
    """Return the state after a pipeline: composed resources exist, the XR has its status."""
    resources = result.resources.values()
    composed = {manifests.resource_name(manifest): manifest for manifest in resources}
    foreign = {}
    for name, manifest in composed.items():
        # The resource may have had another name before.
        old_name = manifests.annotation(manifest, manifests.RESOURCE_NAME)
        foreign[name] = cluster.foreign.get(name, cluster.foreign.get(old_name, {}))
    # Crossplane set references, status and selection of the XR.
    applied = manifests.copy(result.xr)
    machinery = xrs.machinery(is_legacy=xrs.is_legacy(cluster.inputs.xrd))
    composition = manifests.name(cluster.inputs.composition)
    manifests.set_text(applied, composition, *machinery, "compositionRef", "name")
    label = {manifests.COMPOSITE: manifests.name(result.file)}
    manifests.add_texts(applied, label, "metadata", "labels")
    return replace(cluster, applied=applied, foreign=foreign, composed=composed)


def _check_names(step: Step, observed: Mapping[str, Object]) -> None:
    problems = []
    for key, names in (("ready", step.ready), ("changed", step.changed)):
        for name in sorted(set(names) - observed.keys()):
            hint = suggest(name, observed, "the steps before have composed none")
            message = f'{key}: there is no composed resource "{name}"'
            field = format_path((key, name))
            problems.append(Diagnostic(message=message, field=field, hint=hint))
    if problems:
        raise InputError(*problems)


def _managed_fields(composed: Object, xr: Object) -> Object:
    """Return Crossplane's entry in managedFields: every field of ``composed``; lists are whole."""
    owned = {key: value for key, value in composed.items() if key not in _UNOWNED}
    metadata = owned.get("metadata")
    if isinstance(metadata, dict):
        owned["metadata"] = {key: metadata[key] for key in metadata if key not in _UNOWNED_METADATA}
    digest = hashlib.sha256(manifests.name(xr).encode()).hexdigest()
    return {
        "manager": f"apiextensions.crossplane.io/composed/{digest}",
        "operation": "Apply",
        "apiVersion": composed.get("apiVersion"),
        "fieldsType": "FieldsV1",
        "fieldsV1": _field_set(owned),
    }


def _field_set(value: Object) -> Object:
    return {
        f"f:{key}": _field_set(item) if isinstance(item, dict) else {}
        for key, item in value.items()
    }
