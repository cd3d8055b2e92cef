"""Typed reads and writes of parts of a Kubernetes object.

A part that is missing or of another type reads as empty, as in Crossplane.
"""

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from function_script.request import objects
from function_script.request.values import Object, Value, type_phrase
from function_script.texts import field_names
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.problems import suggest

COMPOSITION: Final = ("apiextensions.crossplane.io/v1", "Composition")
SECRET: Final = ("v1", "Secret")
RESOURCE_NAME: Final = "crossplane.io/composition-resource-name"
COMPOSITE: Final = "crossplane.io/composite"
CLAIM_NAME: Final = "crossplane.io/claim-name"
CLAIM_NAMESPACE: Final = "crossplane.io/claim-namespace"
MACHINERY: Final = (("spec", "crossplane"), ("spec",))
"""The places of Crossplane's fields in an XR; the second is that of legacy XRs."""
_OBJECTS: Final = ("spec", "status")

# The group and kind, the namespace and the name.
Key: TypeAlias = tuple[str, str, str, str]


def text_at(manifest: Object, *path: str) -> str:
    """Return the text at ``path``, or ""."""
    value = objects.find_path(manifest, path)
    return value if isinstance(value, str) else ""


def text_at_machinery(xr: Object, *path: str) -> str:
    """Return a text among the fields of Crossplane in an XR; empty if there is none."""
    texts = (text_at(xr, *each, *path) for each in MACHINERY)
    return next((text for text in texts if text), "")


def int_at(manifest: Object, *path: str, default: int = 0) -> int:
    """Return the integer at ``path``, or ``default``."""
    value = objects.find_path(manifest, path)
    return value if isinstance(value, int) else default


def texts_at(manifest: Object, *path: str) -> dict[str, str]:
    """Return a map of texts such as labels, with "" for null; {} if any value is not a text."""
    fields = object_at(manifest, *path)
    values = {key: "" if item is None else item for key, item in fields.items()}
    texts = {key: item for key, item in values.items() if isinstance(item, str)}
    return texts if len(texts) == len(fields) else {}


def object_at(manifest: Object, *path: str) -> Object:
    """Return the object at ``path`` itself, not a copy; {} if there is none."""
    value = objects.find_path(manifest, path)
    return value if isinstance(value, dict) else {}


def objects_at(manifest: Object, *path: str) -> list[Object]:
    """Return the objects of the list at ``path``; [] if there is none."""
    value = objects.find_path(manifest, path)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def name(manifest: Object) -> str:
    """Return ``metadata.name``."""
    return text_at(manifest, "metadata", "name")


def namespace(manifest: Object) -> str:
    """Return ``metadata.namespace``."""
    return text_at(manifest, "metadata", "namespace")


def labels(manifest: Object) -> dict[str, str]:
    """Return ``metadata.labels``."""
    return texts_at(manifest, "metadata", "labels")


def annotation(manifest: Object, key: str) -> str:
    """Return one of ``metadata.annotations``, or ""."""
    return texts_at(manifest, "metadata", "annotations").get(key, "")


def resource_name(manifest: Object) -> str:
    """Return the name of a composed resource in the pipeline; that of a moved one is the new."""
    return annotation(manifest, objects.MOVED_TO) or annotation(manifest, RESOURCE_NAME)


def defined_type(definition: Object) -> tuple[str, str]:
    """Return the group and kind that an XRD or CRD defines."""
    return text_at(definition, "spec", "group"), text_at(definition, "spec", "names", "kind")


def composed_type(composition: Object) -> tuple[str, str]:
    """Return the apiVersion and kind of a Composition's XRs."""
    return objects.api_version_and_kind(object_at(composition, "spec", "compositeTypeRef"))


def group(api_version: str) -> str:
    """Return the group of an apiVersion: "apps" of ``apps/v1``; the core group is ""."""
    return api_version.rpartition("/")[0]


def key_of(manifest: Object) -> Key:
    """Return the key of an object. Of a resource with several versions there is one object."""
    api_version, kind = objects.api_version_and_kind(manifest)
    return group(api_version), kind, namespace(manifest), name(manifest)


def controller(manifest: Object) -> Object | None:
    """Return the owner reference with ``controller: true``, or None."""
    for owner in objects_at(manifest, "metadata", "ownerReferences"):
        if owner.get("controller") is True:
            return owner
    return None


def details_place(manifest: Object) -> tuple[str, str]:
    """Return namespace and name of the Secret with an object's connection details, or no name."""
    secret = object_at(manifest, "spec", "writeConnectionSecretToRef")
    return namespace(manifest) or text_at(secret, "namespace"), text_at(secret, "name")


def reference(manifest: Object, *, has_namespace: bool = True) -> Object:
    """Return a reference to an object; with ``has_namespace`` its namespace, if there is one."""
    api_version, kind = objects.api_version_and_kind(manifest)
    value: Object = {"apiVersion": api_version, "kind": kind, "name": name(manifest)}
    if has_namespace and namespace(manifest):
        value["namespace"] = namespace(manifest)
    return value


def owner_reference(manifest: Object) -> Object:
    """Return the reference by which an object is the controller of another."""
    uid = text_at(manifest, "metadata", "uid")
    own = reference(manifest, has_namespace=False)
    return {**own, "uid": uid, "controller": True, "blockOwnerDeletion": True}


def go_type(manifest: Object) -> str:
    """Return a type as Go writes it, with a slash in front of the version of a core kind."""
    group_, _, version = text_at(manifest, "apiVersion").rpartition("/")
    return f"{group_}/{version}, Kind={text_at(manifest, 'kind')}"


def describe(manifest: Object) -> str:
    """Describe an object for messages: ``Bucket "demo"``."""
    kind = text_at(manifest, "kind") or "object"
    if name(manifest):
        return f'{kind} "{name(manifest)}"'
    return f"{'an' if kind[0] in 'AEIOUaeiou' else 'a'} {kind} without a name"


def copy(manifest: Object, *others: Object) -> Object:
    """Copy a manifest, and merge others into the copy."""
    whole: Object = {}
    for each in (manifest, *others):
        objects.merge(whole, each)
    return whole


def make_object(manifest: Object, *path: str) -> Object:
    """Return the object at ``path``; create it if it is missing or of another type."""
    current = manifest
    for key in path:
        child = current.get(key)
        if not isinstance(child, dict):
            child = current[key] = {}
        current = child
    return current


def set_text(manifest: Object, text: str, *path: str) -> None:
    """Set a text; an empty one removes the field."""
    if text:
        make_object(manifest, *path[:-1])[path[-1]] = text
    else:
        object_at(manifest, *path[:-1]).pop(path[-1], None)


def add_texts(manifest: Object, texts: Mapping[str, str], *path: str) -> None:
    """Add labels or annotations; a value that is not a map of texts is replaced."""
    merged: dict[str, Value] = {**texts_at(manifest, *path), **texts}
    make_object(manifest, *path[:-1])[path[-1]] = merged


def find_misshapen(xr: Object) -> Iterator[Diagnostic]:
    """Yield the problems of an XR that the schema of every XRD refuses."""
    absent = tuple(each for each in field_names.ROOTS if each not in xr)
    for field, value in xr.items():
        hint = suggest(field, absent) if field not in field_names.ROOTS else None
        message = f"invalid XR: there is no field {field}" if hint else ""
        if field in _OBJECTS and value is not None and not isinstance(value, dict):
            message = f"invalid XR: {field} must be an object, not {type_phrase(value)}"
            dash = ", without - in front" if isinstance(value, list) else ""
            hint = f"its fields are lines `name: value` below it{dash}"
        if message:
            yield Diagnostic(message=message, field=field, hint=hint)


def is_secret(manifest: Object, path: objects.Path) -> bool:
    """Report whether a part of an object is the data of a Secret."""
    is_data = path[:1] in {(), ("data",), ("stringData",)}
    return is_data and objects.api_version_and_kind(manifest) == SECRET
