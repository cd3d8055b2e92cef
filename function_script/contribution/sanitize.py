"""What may not stand in a desired composed resource, taken out: observed ones can be echoed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script import objects

if TYPE_CHECKING:
    from function_script.fields import Fields
    from function_script.values import Object

# Owned by the API server: server-side apply refuses or ignores them.
SERVER_METADATA = frozenset(
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
# Written by kubectl and by Crossplane itself; declaring them would only make them flap.
_FOREIGN_ANNOTATIONS = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})


def composed_object(body: Fields) -> Object:
    """``body`` without status, server-owned metadata and nulls; checks names and metadata."""
    resource = objects.pruned({k: v for k, v in body.value.items() if k != "status"})
    metadata = body.object("metadata")
    if metadata is None:
        return resource
    metadata.texts("labels")
    metadata.texts("annotations")
    kept = resource["metadata"] = {
        key: value
        for key, value in objects.pruned(metadata.value).items()
        if key not in SERVER_METADATA
    }
    annotations = kept.get("annotations")
    if isinstance(annotations, dict) and not _FOREIGN_ANNOTATIONS.isdisjoint(annotations):
        kept["annotations"] = {
            key: value for key, value in annotations.items() if key not in _FOREIGN_ANNOTATIONS
        }
    return resource
