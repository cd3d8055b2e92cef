"""Kubernetes and Crossplane objects: conditions, readiness, names, labels.

Every function takes an object or its wrapper ``{"resource": {...}}``, and treats null and missing
ones alike: in the first reconcile nothing is observed yet.
"""

from __future__ import annotations

from collections.abc import Mapping

from function_script import objects
from function_script.engines.library.function import Group
from function_script.objects import EXTERNAL_NAME
from function_script.readiness import judge
from function_script.values import Object, Readable

_CONDITION_FIELDS = ("type", "status", "reason", "message", "lastTransitionTime")


def get_condition(resource: Readable, type: str) -> Object:  # noqa: A002 - the field's own name
    """The condition of this type; its status is "Unknown" and the rest empty if there is none."""
    condition = objects.find_condition(resource, type) or {"type": type, "status": "Unknown"}
    return {field: objects.deep_copy(condition.get(field, "")) for field in _CONDITION_FIELDS}


def is_ready(resource: Readable, type: str = "Ready") -> bool:  # noqa: A002 - the field's own name
    """Whether the resource has the condition Ready (or another one) with status "True"."""
    condition = objects.find_condition(resource, type)
    return condition is not None and condition.get("status") == "True"


def unready_reason(resource: Readable) -> str:
    """Why the resource is not ready, by the rule of its kind; an empty text if it is ready."""
    observed = objects.unwrap_resource(resource)
    return judge(observed if isinstance(observed, Mapping) and observed else None).why


def is_deleting(resource: Readable) -> bool:
    """Whether the resource is being deleted."""
    return _metadata(resource, "deletionTimestamp") is not None


def get_external_name(resource: Readable, default: Readable = None) -> Readable:
    """The name of the external resource, from the annotation crossplane.io/external-name."""
    return get_annotation(resource, EXTERNAL_NAME, default)


def with_external_name(resource: Object, name: str) -> Object:
    """The resource with the annotation crossplane.io/external-name set."""
    objects.merge(resource, {"metadata": {"annotations": {EXTERNAL_NAME: name}}})
    return resource


def get_annotation(resource: Readable, key: str, default: Readable = None) -> Readable:
    """The value of an annotation, or the default."""
    value = _metadata(resource, "annotations", key)
    return default if value is None else value


def get_label(resource: Readable, key: str, default: Readable = None) -> Readable:
    """The value of a label, or the default."""
    value = _metadata(resource, "labels", key)
    return default if value is None else value


def _metadata(resource: Readable, *path: str) -> Readable:
    return objects.find_path(objects.unwrap_resource(resource), ("metadata", *path))


_GROUP = Group(
    name="resources",
    summary="Kubernetes and Crossplane objects. Each function takes an object, or its wrapper "
    '`{"resource": {...}}`, or null: nothing is observed yet while a composite resource is new.',
)
FUNCTIONS = (
    _GROUP.filter(
        get_condition,
        example='get_condition({}, "Synced")',
        result={
            "type": "Synced",
            "status": "Unknown",
            "reason": "",
            "message": "",
            "lastTransitionTime": "",
        },
    ),
    _GROUP.filter(
        is_ready,
        example='is_ready({"status": {"conditions": [{"type": "Ready", "status": "True"}]}})',
        result=True,
    ),
    _GROUP.filter(
        unready_reason,
        example='unready_reason({"kind": "Bucket", "status": {"conditions": [{"type": "Ready", '
        '"status": "False", "reason": "Creating"}]}})',
        result="has Ready=False: Creating",
    ),
    _GROUP.filter(
        is_deleting,
        example='is_deleting({"metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}})',
        result=True,
    ),
    _GROUP.filter(
        get_external_name,
        example='get_external_name({"metadata": {}}, "not yet")',
        result="not yet",
    ),
    _GROUP.filter(
        with_external_name,
        example='with_external_name({"kind": "Bucket"}, "b-1")',
        result={"kind": "Bucket", "metadata": {"annotations": {EXTERNAL_NAME: "b-1"}}},
    ),
    _GROUP.filter(
        get_annotation,
        example='get_annotation({"metadata": {"annotations": {"a.b/c": "x"}}}, "a.b/c")',
        result="x",
    ),
    _GROUP.filter(
        get_label,
        example='get_label({"metadata": {"labels": {"app": "web"}}}, "tier", "none")',
        result="none",
    ),
)
