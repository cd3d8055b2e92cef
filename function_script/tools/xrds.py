"""From an XRD to the schemas of its composite resources and claims, as Crossplane derives them.

Called for the extensions of `validate`, and for the defaults of XRs in `render`. What a user wrote
in the XRD is the schema of spec and status; Crossplane adds its own machinery to both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script import objects
from function_script.tools import manifests, structural_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.values import Object, Value

LEGACY: Final = "LegacyCluster"
_NAMESPACED: Final = "Namespaced"
# The API server defaults the scope, differently by the version of the XRD.
_DEFAULT_SCOPE: Final = {
    "apiextensions.crossplane.io/v1": LEGACY,
    "apiextensions.crossplane.io/v2": _NAMESPACED,
}
# XRs and claims are named in labels, which hold no more.
_MAX_NAME: Final = 63
# What of a user's spec and status counts besides their fields.
_TAKEN: Final = ("description", "oneOf", "x-kubernetes-validations")

_TEXT: Final[Object] = {"type": "string"}
_TIME: Final[Object] = {"type": "string", "format": "date-time"}


def to_schemas(xrd: Object) -> Iterator[tuple[str, str, Object]]:
    """The apiVersion, kind and schema of every version of the XR and, if offered, its claim."""
    kind = manifests.text_at(xrd, "spec", "names", "kind")
    claim = manifests.text_at(xrd, "spec", "claimNames", "kind")
    scope = scope_of(xrd)
    for version in manifests.objects_at(xrd, "spec", "versions"):
        group = manifests.text_at(xrd, "spec", "group")
        api_version = f"{group}/{version.get('name')}"
        written = manifests.object_at(version, "schema", "openAPIV3Schema")
        policy = manifests.text_at(xrd, "spec", "defaultCompositionUpdatePolicy")
        yield api_version, kind, _schema(written, _xr_spec(scope, policy), _status(scope))
        if claim:
            policy = manifests.text_at(xrd, "spec", "defaultCompositeDeletePolicy")
            yield api_version, claim, _schema(written, _claim_spec(policy), _status(LEGACY))


def scope_of(xrd: Object) -> str:
    """The scope of an XRD's XRs: ``Namespaced``, ``Cluster`` or ``LegacyCluster``."""
    stated = manifests.text_at(xrd, "spec", "scope")
    return stated or _DEFAULT_SCOPE.get(manifests.text_at(xrd, "apiVersion"), LEGACY)


def _schema(written: Object, spec: Object, status: Object) -> Object:
    """The user's schema with Crossplane's fields of spec and status."""
    name: Object = {**_TEXT, "maxLength": _MAX_NAME}
    name |= _only(manifests.object_at(written, "properties", "metadata", "properties", "name"))
    fields: Object = {
        "apiVersion": _TEXT,
        "kind": _TEXT,
        "metadata": _object({"name": name}),
        "spec": _extended(manifests.object_at(written, "properties", "spec"), spec),
        "status": _extended(manifests.object_at(written, "properties", "status"), status),
    }
    rules = {key: item for key, item in written.items() if key in _TAKEN and key != "oneOf"}
    return {**_object(fields, "spec"), **rules}


def _only(name: Object) -> Object:
    """A narrower limit of the name's length, the one thing of metadata that an XRD may say."""
    length = name.get("maxLength")
    return {"maxLength": length} if isinstance(length, int) and length < _MAX_NAME else {}


def _extended(written: Object, machinery: Object) -> Object:
    keys = (*_TAKEN, "required", structural_schema.PRESERVE)
    taken = {key: item for key, item in written.items() if key in keys}
    fields = manifests.object_at(written, "properties")
    return {"type": "object", **taken, "properties": {**fields, **machinery}}


def _xr_spec(scope: str, policy: str) -> Object:
    fields = _selection()
    if policy:
        fields["compositionUpdatePolicy"] = _choice("Automatic", "Manual", default=policy)
    reference: Object = {"apiVersion": _TEXT, "kind": _TEXT, "name": _TEXT}
    if scope != _NAMESPACED:
        reference["namespace"] = _TEXT
    fields["resourceRefs"] = _list(_object(reference, "apiVersion", "kind"))
    if scope != LEGACY:
        return {"crossplane": _object(fields)}
    fields["claimRef"] = _texts("apiVersion", "kind", "namespace", "name")
    fields["writeConnectionSecretToRef"] = _texts("name", "namespace")
    return fields


def _claim_spec(policy: str) -> Object:
    return {
        **_selection(),
        "compositeDeletePolicy": _choice("Background", "Foreground", default=policy),
        "resourceRef": _texts("apiVersion", "kind", "name"),
        "writeConnectionSecretToRef": _texts("name"),
    }


def _selection() -> Object:
    """The fields by which XRs and claims alike choose their Composition."""
    labels = _object({"matchLabels": {"type": "object", "additionalProperties": _TEXT}})
    selector: Object = {**labels, "required": ["matchLabels"]}
    return {
        "compositionRef": _texts("name"),
        "compositionSelector": selector,
        "compositionRevisionRef": _texts("name"),
        "compositionRevisionSelector": selector,
        "compositionUpdatePolicy": _choice("Automatic", "Manual"),
    }


def _status(scope: str) -> Object:
    condition: Object = {
        **dict.fromkeys(("type", "status", "reason", "message"), _TEXT),
        "lastTransitionTime": _TIME,
        "observedGeneration": {"type": "integer", "format": "int64"},
    }
    required = ("lastTransitionTime", "reason", "status", "type")
    fields: Object = {"conditions": _list(_object(condition, *required))}
    if scope == LEGACY:
        fields["connectionDetails"] = _object({"lastPublishedTime": _TIME})
        fields["claimConditionTypes"] = _list(_TEXT)
    return fields


def _object(fields: Object, *required: str) -> Object:
    names: list[Value] = list(required)
    schema: Object = {"type": "object", "properties": fields}
    return {**schema, "required": names} if names else schema


def _texts(*names: str) -> Object:
    """An object of texts that must all be there."""
    return _object(dict.fromkeys(names, _TEXT), *names)


def _list(schema: Object) -> Object:
    return {"type": "array", "items": schema}


def _choice(*words: str, default: str = "") -> Object:
    schema: Object = {"type": "string", "enum": list(words)}
    return {**schema, "default": default} if default else schema


def is_xrd(manifest: Object) -> bool:
    """Whether an object is an XRD of a version we know."""
    api_version, kind = objects.api_version_and_kind(manifest)
    return kind == "CompositeResourceDefinition" and api_version in _DEFAULT_SCOPE
