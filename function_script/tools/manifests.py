"""Typed reads and writes on one Kubernetes object: the tools look at many.

A part that is missing or of another type reads as empty, as it does for Crossplane.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script import objects

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.values import Object, Value

RESOURCE_NAME: Final = "crossplane.io/composition-resource-name"
COMPOSITE: Final = "crossplane.io/composite"
CLAIM_NAME: Final = "crossplane.io/claim-name"
CLAIM_NAMESPACE: Final = "crossplane.io/claim-namespace"


def text_at(manifest: Object, *path: str) -> str:
    """The text at ``path``; "" when there is none."""
    found = objects.find_path(manifest, path)
    return found if isinstance(found, str) else ""


def texts_at(manifest: Object, *path: str) -> dict[str, str]:
    """A map of texts such as labels, where null is ""; {} when it is not one, as a whole."""
    found = object_at(manifest, *path)
    stated = {key: "" if item is None else item for key, item in found.items()}
    texts = {key: item for key, item in stated.items() if isinstance(item, str)}
    return texts if len(texts) == len(found) else {}


def object_at(manifest: Object, *path: str) -> Object:
    """The object at ``path`` itself, not a copy; {} when there is none."""
    found = objects.find_path(manifest, path)
    return found if isinstance(found, dict) else {}


def objects_at(manifest: Object, *path: str) -> list[Object]:
    """The objects of the list at ``path``; [] when there is none."""
    found = objects.find_path(manifest, path)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def name(manifest: Object) -> str:
    """``metadata.name``."""
    return text_at(manifest, "metadata", "name")


def namespace(manifest: Object) -> str:
    """``metadata.namespace``."""
    return text_at(manifest, "metadata", "namespace")


def labels(manifest: Object) -> dict[str, str]:
    """``metadata.labels``."""
    return texts_at(manifest, "metadata", "labels")


def annotation(manifest: Object, key: str) -> str:
    """One of ``metadata.annotations``; "" when it is not there."""
    return texts_at(manifest, "metadata", "annotations").get(key, "")


def group(api_version: str) -> str:
    """``group("apps/v1") == "apps"``; the core group is ""."""
    return api_version.rpartition("/")[0]


def controller(manifest: Object) -> Object | None:
    """The owner reference with ``controller: true``, if any."""
    for owner in objects_at(manifest, "metadata", "ownerReferences"):
        if owner.get("controller") is True:
            return owner
    return None


def describe(manifest: Object) -> str:
    """How messages call an object: ``Bucket "demo"``."""
    kind = text_at(manifest, "kind") or "object"
    if name(manifest):
        return f'{kind} "{name(manifest)}"'
    return f"{'an' if kind[0] in 'AEIOUaeiou' else 'a'} {kind} without a name"


def make_object(manifest: Object, *path: str) -> Object:
    """The object at ``path``; made, also in place of something else, when it is not there."""
    here = manifest
    for key in path:
        below = here.get(key)
        if not isinstance(below, dict):
            below = here[key] = {}
        here = below
    return here


def set_text(manifest: Object, text: str, *path: str) -> None:
    """Write a text; an empty one removes the field."""
    if text:
        make_object(manifest, *path[:-1])[path[-1]] = text
    else:
        object_at(manifest, *path[:-1]).pop(path[-1], None)


def add_texts(manifest: Object, texts: Mapping[str, str], *path: str) -> None:
    """Add labels or annotations; what is there but no map of texts is replaced."""
    merged: dict[str, Value] = {**texts_at(manifest, *path), **texts}
    make_object(manifest, *path[:-1])[path[-1]] = merged
