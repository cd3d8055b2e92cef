"""Kubernetes and Crossplane objects: conditions, readiness, names, labels.

Every function takes an object or its wrapper ``{"resource": {...}}``, and treats null and missing
ones alike: in the first reconcile nothing is observed yet.
"""

from collections.abc import Mapping
from typing import Final

from function_script.engines.library.bounds import Resource
from function_script.engines.library.function import Group
from function_script.request import objects
from function_script.request.values import Object, Readable
from function_script.step.readiness import judge

GROUP: Final = Group(
    name="resources",
    summary="Kubernetes and Crossplane objects. Each function takes an object, or its wrapper "
    '`{"resource": {...}}`, or null: nothing is observed yet while a composite resource is '
    "new. The name of a resource is a wrong argument.",
)


_CONDITION_FIELDS = ("type", "status", "reason", "message", "lastTransitionTime")


@GROUP.filter(
    example='get_condition({}, "Synced")',
    result={
        "type": "Synced",
        "status": "Unknown",
        "reason": "",
        "message": "",
        "lastTransitionTime": "",
    },
)
def get_condition(resource: Resource, type: str) -> Object:  # noqa: A002 - the field's own name
    """The condition of this type; its status is "Unknown" and the rest empty if there is none."""
    condition = objects.find_condition(resource, type) or {"type": type, "status": "Unknown"}
    return {field: objects.deep_copy(condition.get(field, "")) for field in _CONDITION_FIELDS}


@GROUP.filter(
    example='is_ready({"status": {"conditions": [{"type": "Ready", "status": "True"}]}})',
    result=True,
)
def is_ready(resource: Resource, type: str = "Ready") -> bool:  # noqa: A002 - the field's own name
    """Whether the resource has the condition Ready (or another one) with status "True"."""
    condition = objects.find_condition(resource, type)
    return condition is not None and condition.get("status") == "True"


@GROUP.filter(
    example='unready_reason({"kind": "Bucket", "status": {"conditions": [{"type": "Ready", '
    '"status": "False", "reason": "Creating"}]}})',
    result="has Ready=False: Creating",
    go_name="unreadyReason",
)
def unready_reason(resource: Resource) -> str:
    """Why the resource is not ready, by the rule of its kind; an empty text if it is ready."""
    observed = objects.unwrap_resource(resource)
    return judge(observed if isinstance(observed, Mapping) and observed else None).why


@GROUP.filter(
    example='is_deleting({"metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}})',
    result=True,
    go_name="isDeleting",
)
def is_deleting(resource: Resource) -> bool:
    """Whether the resource is being deleted."""
    return _metadata(resource, "deletionTimestamp") is not None


@GROUP.filter(example='get_external_name({"metadata": {}}, "not yet")', result="not yet")
def get_external_name(resource: Resource, default: Readable = None) -> Readable:
    """The name of the external resource, from the annotation crossplane.io/external-name."""
    return get_annotation(resource, objects.EXTERNAL_NAME, default)


@GROUP.filter(
    example='with_external_name({"kind": "Bucket"}, "b-1")',
    result={"kind": "Bucket", "metadata": {"annotations": {objects.EXTERNAL_NAME: "b-1"}}},
)
def with_external_name(resource: Object, name: str) -> Object:
    """The resource with the annotation crossplane.io/external-name set."""
    objects.merge(resource, {"metadata": {"annotations": {objects.EXTERNAL_NAME: name}}})
    return resource


@GROUP.filter(
    example='get_annotation({"metadata": {"annotations": {"a.b/c": "x"}}}, "a.b/c")', result="x"
)
def get_annotation(resource: Resource, key: str, default: Readable = None) -> Readable:
    """The value of an annotation, or the default."""
    value = _metadata(resource, "annotations", key)
    return default if value is None else value


@GROUP.filter(
    example='get_label({"metadata": {"labels": {"app": "web"}}}, "tier", "none")', result="none"
)
def get_label(resource: Resource, key: str, default: Readable = None) -> Readable:
    """The value of a label, or the default."""
    value = _metadata(resource, "labels", key)
    return default if value is None else value


def _metadata(resource: Resource, *path: str) -> Readable:
    return objects.find_path(objects.unwrap_resource(resource), ("metadata", *path))
