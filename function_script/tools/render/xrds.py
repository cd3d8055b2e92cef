"""What an XRD says about an XR: its defaults, and whether it is of the legacy or the modern kind.

Called before anything runs. Defaults are filled in as Kubernetes does for a CRD's schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script import objects
from function_script.errors import InputError
from function_script.tools import manifests, schemas

if TYPE_CHECKING:
    from function_script.values import Object

_V1: Final = "apiextensions.crossplane.io/v1"
_V2: Final = "apiextensions.crossplane.io/v2"
_LEGACY: Final = "LegacyCluster"


def check_match(xrd: Object, xr: Object) -> None:
    """Raise InputError unless ``xrd`` defines the XR's group and kind, in a known apiVersion."""
    version = manifests.text_at(xrd, "apiVersion")
    if manifests.text_at(xrd, "kind") != "CompositeResourceDefinition" or version not in {_V1, _V2}:
        raise InputError.of(
            f"cannot use {manifests.describe(xrd)} as XRD: "
            f"it must be a CompositeResourceDefinition of {_V1} or {_V2}"
        )
    defined = (
        manifests.text_at(xrd, "spec", "group"),
        manifests.text_at(xrd, "spec", "names", "kind"),
    )
    api_version, kind = objects.api_version_and_kind(xr)
    if defined != (manifests.group(api_version), kind):
        raise InputError.of(
            f'cannot use XRD "{manifests.name(xrd)}": '
            f"it defines {defined[1]} of {defined[0]}, the XR is a {kind} of {api_version}"
        )


def is_legacy(xrd: Object | None) -> bool:
    """Whether its XRs are as in Crossplane v1: machinery directly below spec, claims, secrets."""
    if xrd is None:
        return False
    default = _LEGACY if manifests.text_at(xrd, "apiVersion") == _V1 else ""
    return (manifests.text_at(xrd, "spec", "scope") or default) == _LEGACY


def add_defaults(xr: Object, xrd: Object) -> None:
    """Fill in what the XRD's schema says for absent fields of ``xr``. Raises InputError."""
    schema = _schema(xr, xrd)
    for part in ("spec", "status"):
        properties = manifests.object_at(schema, "properties", part, "properties")
        below = xr.get(part)
        if isinstance(below, dict):
            whole: Object = {"properties": {**properties, **_machinery(part, xrd)}}
            schemas.add_defaults(below, whole)
            schemas.drop_nulls(below, whole)


def _schema(xr: Object, xrd: Object) -> Object:
    api_version = manifests.text_at(xr, "apiVersion")
    group = manifests.text_at(xrd, "spec", "group")
    for version in manifests.objects_at(xrd, "spec", "versions"):
        if f"{group}/{version.get('name')}" == api_version:
            return manifests.object_at(version, "schema", "openAPIV3Schema")
    raise InputError.of(
        f'cannot apply defaults of XRD "{manifests.name(xrd)}": it has no version {api_version}'
    )


def _machinery(part: str, xrd: Object) -> Object:
    """Crossplane's own fields of an XR that may have a default."""
    policy = manifests.text_at(xrd, "spec", "defaultCompositionUpdatePolicy")
    if part != "spec" or not policy:
        return {}
    field: Object = {"compositionUpdatePolicy": {"type": "string", "default": policy}}
    return field if is_legacy(xrd) else {"crossplane": {"type": "object", "properties": field}}
