"""Removal of the fields that a desired composed resource must not have.

A program may return an observed object as desired. Its status and its server-owned metadata are
removed before anything else is read.
"""

from typing import Final

from function_script.contribution import name_rules
from function_script.contribution.annotations import MOVED_TO
from function_script.problems import ProblemList
from function_script.reader import ObjectReader
from function_script.values import Object

# Owned by the API server: server-side apply rejects or ignores them.
SERVER_METADATA: Final = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
_SERVER_FIELDS: Final = frozenset({"status"})
# Written by kubectl, and by this function after all else: a desired value would flap.
_TOOL_ANNOTATIONS: Final = frozenset({"kubectl.kubernetes.io/last-applied-configuration", MOVED_TO})


def without_server_fields(body: ObjectReader) -> Object:
    """Return ``body`` without status and server-owned metadata; check names, labels, annotations.

    The result shares values with ``body``. Nested null fields stay: the encoder drops them.
    """
    resource = _drop(body.value, _SERVER_FIELDS)
    metadata = body.object("metadata")
    if metadata is None:
        return resource
    labels = metadata.value.get("labels")
    reader = metadata
    if isinstance(labels, dict) and None in labels.values():
        value = {**metadata.value, "labels": _drop(labels, frozenset())}
        reader = ObjectReader(value, metadata.path, metadata.problems)
    name_rules.check(body, metadata, reader.texts("labels") or {})
    annotations = metadata.texts("annotations")
    clean = resource["metadata"] = _drop(metadata.value, SERVER_METADATA)
    if annotations is not None:
        clean["annotations"] = {
            key: text for key, text in annotations.items() if key not in _TOOL_ANNOTATIONS
        }
    return resource


def copy_verbatim(body: ObjectReader, advice: ProblemList) -> Object:
    """Copy ``body`` with all its fields, nulls and labels that are not strings included.

    Problems of names and label values are added to ``advice``. The copy shares values with
    ``body``, but not its metadata and annotations.
    """
    metadata = body.object("metadata")
    if metadata is None:
        return {**body.value}
    labels = metadata.value.get("labels")
    items = labels.items() if isinstance(labels, dict) else ()
    strings = {key: value for key, value in items if isinstance(value, str)}
    name_rules.check(body, metadata.noting(advice), strings)
    copy: Object = {**metadata.value, "annotations": {**(metadata.texts("annotations") or {})}}
    return {**body.value, "metadata": copy}


def _drop(value: Object, keys: frozenset[str]) -> Object:
    """Copy a map without its null members and without ``keys``."""
    return {key: item for key, item in value.items() if item is not None and key not in keys}
