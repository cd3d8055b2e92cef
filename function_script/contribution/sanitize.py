"""What may not stand in a desired composed resource, taken out: observed ones can be echoed.

Called for every composed resource of a response or a document, before anything else is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.contribution import name_rules
from function_script.reader import ObjectReader

if TYPE_CHECKING:
    from function_script.problems import ProblemList
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
_SERVER_FIELDS = frozenset({"status"})
# Written by kubectl and by Crossplane itself; declaring them would only make them flap.
_FOREIGN_ANNOTATIONS = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})


def composed_object(body: ObjectReader) -> Object:
    """``body`` without status and server-owned metadata; checks names, labels and annotations.

    Shares what it can with ``body``; null fields stay, for they are left out where it is encoded.
    """
    resource = _kept(body.value, _SERVER_FIELDS)
    metadata = body.object("metadata")
    if metadata is None:
        return resource
    labels = _stated(metadata, "labels")
    name_rules.check(body, metadata, labels or {})
    annotations = metadata.texts("annotations")
    kept = resource["metadata"] = _kept(metadata.value, SERVER_METADATA)
    if annotations is not None:
        kept["annotations"] = _kept(dict(annotations), _FOREIGN_ANNOTATIONS)
    return resource


def without_server_fields(body: ObjectReader, advice: ProblemList) -> Object:
    """All of ``body``, nulls and labels of any type included.

    ``advice`` takes what is said of names and of labels' values. Shares what it can with ``body``.
    """
    metadata = body.object("metadata")
    if metadata is None:
        return {**body.value}
    labels = metadata.value.get("labels")
    texts = labels.items() if isinstance(labels, dict) else ()
    noted = metadata.noting(advice)
    name_rules.check(body, noted, {key: text for key, text in texts if isinstance(text, str)})
    kept: Object = {**metadata.value, "annotations": {**(metadata.texts("annotations") or {})}}
    return {**body.value, "metadata": kept}


def _stated(metadata: ObjectReader, key: str) -> dict[str, str] | None:
    """The texts below a key; one that is null is left out like all nulls."""
    found = metadata.value.get(key)
    if not isinstance(found, dict) or None not in found.values():
        return metadata.texts(key)
    value = {**metadata.value, key: _kept(found, frozenset())}
    return ObjectReader(value, metadata.path, metadata.problems).texts(key)


def _kept(value: Object, dropped: frozenset[str]) -> Object:
    return {key: item for key, item in value.items() if item is not None and key not in dropped}
