"""Build the Operations that CronOperations and WatchOperations create from their template."""

import hashlib
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from function_script import objects
from function_script.errors import InputError
from function_script.tools import manifests
from function_script.values import Object, Value

API_VERSION: Final = "ops.crossplane.io/v1alpha1"

_OPERATION: Final = "Operation"
_CRON: Final = "CronOperation"
_WATCH: Final = "WatchOperation"
_TEMPLATE: Final = ("spec", "operationTemplate")
_GROUP: Final = "ops.crossplane.io"
_HASH: Final = 7


def to_operation(manifest: Object) -> Object:
    """Build the Operation of a file as the official command does: it has the file's own name.

    Raises InputError unless it is an Operation, CronOperation or WatchOperation.
    """
    api_version, kind = objects.api_version_and_kind(manifest)
    if api_version == API_VERSION and kind == _OPERATION:
        return _copy(manifest)
    if api_version != API_VERSION or kind not in {_CRON, _WATCH}:
        raise InputError.of(
            f"cannot use {manifests.describe(manifest)} as an Operation",
            hint=f"it must be an Operation, CronOperation or WatchOperation of {API_VERSION}",
        )
    return _instantiate(manifest, manifests.name(manifest))


def from_cron(cron: Object, scheduled_seconds: int) -> Object:
    """Build the Operation that a CronOperation creates at a time, in seconds since 1970."""
    return _with_owner(
        _instantiate(cron, f"{manifests.name(cron)}-{scheduled_seconds}"), cron, _CRON
    )


def from_watch(watch: Object, watched: Object) -> Object:
    """Build the Operation that a WatchOperation creates when ``watched`` has changed."""
    operation = _instantiate(watch, f"{manifests.name(watch)}-{_hash(watched)}")
    require(operation, watched)
    parts = {
        "apiversion": manifests.text_at(watched, "apiVersion"),
        "kind": manifests.text_at(watched, "kind"),
        "name": manifests.name(watched),
        "resourceversion": manifests.text_at(watched, "metadata", "resourceVersion"),
    }
    if manifests.namespace(watched):
        parts["namespace"] = manifests.namespace(watched)
    annotations = {f"{objects.WATCHED}-{key}": text for key, text in parts.items()}
    manifests.add_texts(operation, annotations, "metadata", "annotations")
    return _with_owner(operation, watch, _WATCH)


def require(operation: Object, watched: Object) -> None:
    """Make every step of ``operation`` require ``watched``."""
    selector: Object = {
        "requirementName": objects.WATCHED,
        "apiVersion": manifests.text_at(watched, "apiVersion"),
        "kind": manifests.text_at(watched, "kind"),
        "name": manifests.name(watched),
    }
    manifests.set_text(selector, manifests.namespace(watched), "namespace")
    for step in manifests.objects_at(operation, "spec", "pipeline"):
        resources: list[Value] = [*manifests.objects_at(step, "requirements", "requiredResources")]
        requirements = manifests.make_object(step, "requirements")
        requirements["requiredResources"] = [*resources, dict(selector)]


def _copy(manifest: Object) -> Object:
    return {key: objects.deep_copy(value) for key, value in manifest.items()}


def _instantiate(parent: Object, name: str) -> Object:
    template = manifests.object_at(parent, *_TEMPLATE)
    metadata = _copy(manifests.object_at(template, "metadata"))
    return {
        "apiVersion": API_VERSION,
        "kind": _OPERATION,
        "metadata": {**metadata, "name": name},
        "spec": _copy(manifests.object_at(template, "spec")),
    }


def _with_owner(operation: Object, parent: Object, kind: str) -> Object:
    name = manifests.name(parent)
    label = f"{_GROUP}/{kind.lower()}"
    manifests.add_texts(operation, {label: name}, "metadata", "labels")
    owner: Object = {
        "apiVersion": API_VERSION,
        "kind": kind,
        "name": name,
        "uid": manifests.text_at(parent, "metadata", "uid"),
        "controller": True,
        "blockOwnerDeletion": True,
    }
    owners: list[Value] = [*manifests.objects_at(operation, "metadata", "ownerReferences"), owner]
    manifests.object_at(operation, "metadata")["ownerReferences"] = owners
    # The engine's response has the object without its type.
    return {key: value for key, value in operation.items() if key in {"metadata", "spec"}} | {
        "status": {}
    }


def _hash(watched: Object) -> str:
    group, _, version = manifests.text_at(watched, "apiVersion").rpartition("/")
    parts = [
        f"{group}/{version}, Kind={manifests.text_at(watched, 'kind')}",
        manifests.namespace(watched),
        manifests.name(watched),
        manifests.text_at(watched, "metadata", "uid"),
        manifests.text_at(watched, "metadata", "resourceVersion"),
    ]
    if time := manifests.text_at(watched, "metadata", "deletionTimestamp"):
        with suppress(ValueError):
            time = datetime.fromisoformat(time).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        parts.append(time)
    return hashlib.sha256("/".join(parts).encode()).hexdigest()[:_HASH]
