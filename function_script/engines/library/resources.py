"""Kubernetes and Crossplane objects: conditions, readiness, names, labels; objects as data.

Every function of a resource takes an object or its wrapper ``{"resource": {...}}``, and treats null
and missing ones alike: in the first reconcile nothing is observed yet.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Final

from function_script.engines.library.bounds import Resource
from function_script.engines.library.function import Group
from function_script.request import objects
from function_script.request.objects import RESOURCE_NAME
from function_script.request.values import Object, Readable, Value, type_phrase
from function_script.step.readiness import judge
from function_script.texts.errors import HintedError

RESOURCES: Final = Group(
    name="resources",
    summary="Kubernetes and Crossplane objects. Each function takes an object, or its wrapper "
    '`{"resource": {...}}`, or null: nothing is observed yet while a composite resource is '
    "new. The name of a resource is a wrong argument.",
)


OBJECTS: Final = Group(
    name="objects",
    summary="Objects as data. A path is `spec.rules[0].host`, with "
    "keys that hold dots in brackets and quotes, or a list of keys and indices.",
)
CONNECTION: Final = Group(
    name="connection details",
    summary="Legacy composite resources have connection details of their own. For all others a "
    "Secret is composed, as one resource among others.",
)
TYPE = "connection.crossplane.io/v1alpha1"


@RESOURCES.filter(
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
    return {
        field: objects.deep_copy(condition.get(field, "")) for field in objects.CONDITION_FIELDS
    }


@RESOURCES.filter(
    example='is_ready({"status": {"conditions": [{"type": "Ready", "status": "True"}]}})',
    result=True,
)
def is_ready(resource: Resource, type: str = "Ready") -> bool:  # noqa: A002 - the field's own name
    """True if the condition Ready (or another one) is True; `unready_reason` knows each kind."""
    condition = objects.find_condition(resource, type)
    return condition is not None and condition.get("status") == "True"


@RESOURCES.filter(
    example='unready_reason({"kind": "Bucket", "status": {"conditions": [{"type": "Ready", '
    '"status": "False", "reason": "Creating"}]}})',
    result="has Ready=False: Creating",
    go_name="unreadyReason",
)
def unready_reason(resource: Resource) -> str:
    """Why the resource is not ready, by the rule of its kind; an empty text if it is ready."""
    observed = objects.unwrap_resource(resource)
    return judge(observed if isinstance(observed, Mapping) and observed else None).why


@RESOURCES.filter(
    example='is_deleting({"metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}})',
    result=True,
    go_name="isDeleting",
)
def is_deleting(resource: Resource) -> bool:
    """Whether the resource is being deleted."""
    return _metadata(resource, "deletionTimestamp") is not None


@RESOURCES.filter(
    example='get_external_name({"metadata": {"annotations": '
    '{"crossplane.io/external-name": "b-1"}}})',
    result="b-1",
    go_name="getExternalName",
)
def get_external_name(resource: Resource, default: Readable = None) -> Readable:
    """The name of the external resource, from the annotation crossplane.io/external-name."""
    return get_annotation(resource, objects.EXTERNAL_NAME, default)


@RESOURCES.filter(
    example='with_external_name({"kind": "Bucket"}, "b-1")',
    result={"kind": "Bucket", "metadata": {"annotations": {objects.EXTERNAL_NAME: "b-1"}}},
)
def with_external_name(resource: Object, name: str) -> Object:
    """The resource with the annotation crossplane.io/external-name set."""
    objects.merge(resource, {"metadata": {"annotations": {objects.EXTERNAL_NAME: name}}})
    return resource


@RESOURCES.filter(
    example='get_annotation({"metadata": {"annotations": {"a.b/c": "x"}}}, "a.b/c")', result="x"
)
def get_annotation(resource: Resource, key: str, default: Readable = None) -> Readable:
    """The value of an annotation, or the default."""
    value = _metadata(resource, "annotations", key)
    return default if value is None else value


@RESOURCES.filter(
    example='get_label({"metadata": {"labels": {"app": "web"}}}, "tier", "none")', result="none"
)
def get_label(resource: Resource, key: str, default: Readable = None) -> Readable:
    """The value of a label, or the default."""
    value = _metadata(resource, "labels", key)
    return default if value is None else value


def _metadata(resource: Resource, *path: str) -> Readable:
    return objects.find_path(objects.unwrap_resource(resource), ("metadata", *path))


@OBJECTS.filter(example='get({"a": {"b": [7]}}, "a.b[0]", 1)', result=7)
def get(value: Readable, path: str | Sequence[str | int], default: Readable = None) -> Readable:
    """The field at a path, or the default if a part of the path is missing or null."""
    item = objects.find_path(value, path)
    return default if item is None else item


@OBJECTS.filter(example='merge({"a": {"b": 1}}, {"a": {"c": 2}})', result={"a": {"b": 1, "c": 2}})
def merge(target: Object, source: Object) -> Object:
    """Both objects in one: maps merge at any depth, lists and scalars of ``source`` replace."""
    objects.merge(target, source)
    return target


@OBJECTS.filter(example='pick({"a": 1, "b": 2}, ["a"])', result={"a": 1})
def pick(value: Object, keys: list[str]) -> Object:
    """The object with only these keys."""
    picked = set(keys)
    return {key: item for key, item in value.items() if key in picked}


@OBJECTS.filter(example='omit({"a": 1, "b": 2}, ["a"])', result={"b": 2})
def omit(value: Object, keys: list[str]) -> Object:
    """The object without these keys."""
    omitted = set(keys)
    return {key: item for key, item in value.items() if key not in omitted}


@OBJECTS.filter(example='compact(from_json("{\\"a\\": {\\"b\\": null}}"))', result={"a": {}})
def compact(value: Value) -> Value:
    """The value without null fields at any depth; empty objects and lists stay."""
    return objects.without_nulls(value)


@CONNECTION.function(
    example='connection_secret({"user": "admin"}, "db-1")',
    result={
        "apiVersion": "v1",
        "kind": "Secret",
        "type": TYPE,
        "metadata": {"name": "db-1"},
        "data": {"user": "YWRtaW4="},
    },
)
def connection_secret(
    data: Object, name: str = "", namespace: str = "", *, resource_name: str = ""
) -> Object:
    """A Secret with connection details; templates give it its ``resource_name`` here, too."""
    metadata: Object = {}
    if resource_name:
        metadata["annotations"] = {RESOURCE_NAME: resource_name}
    if name:
        metadata["name"] = name
    if namespace:
        metadata["namespace"] = namespace
    encoded: Object = {}
    for key, item in data.items():
        match item:
            case str():
                encoded[key] = base64.b64encode(item.encode()).decode()
            # The form in which programs write bytes.
            case {"base64": str(text), **others} if not others:
                encoded[key] = checked_base64(key, text)
            case _:
                hint = "leave the key out until it has a value" if item is None else None
                if isinstance(item, (int, float)):
                    hint = "make it a text"
                raise HintedError(f'data: "{key}" must be a string, not {type_phrase(item)}', hint)
    secret: Object = {"apiVersion": "v1", "kind": "Secret", "type": TYPE, "data": encoded}
    return {**secret, "metadata": metadata} if metadata else secret


def checked_base64(key: str, text: str) -> str:
    """Return ``text``; raises ValueError when it is not base64."""
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f'data: "{key}" must be base64') from error
    return text
