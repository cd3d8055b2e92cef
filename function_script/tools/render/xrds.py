"""What an XRD says about an XR: its defaults, and whether it is of the legacy or the modern kind.

Called before anything runs. Defaults are filled in as Kubernetes does for a CRD's schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script import objects
from function_script.errors import InputError
from function_script.tools import manifests, structural_schema, xrds

if TYPE_CHECKING:
    from function_script.values import Object

_V1: Final = "apiextensions.crossplane.io/v1"
_V2: Final = "apiextensions.crossplane.io/v2"


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
    return xrd is not None and xrds.scope_of(xrd) == xrds.LEGACY


def add_defaults(xr: Object, xrd: Object) -> None:
    """Fill in what the XRD's schema says for absent fields of ``xr``. Raises InputError.

    Crossplane's own fields are as Crossplane defines them, whatever the author wrote of them.
    """
    schema = _schema(xr, xrd)
    for part in ("spec", "status"):
        below = xr.get(part)
        if isinstance(below, dict):
            whole = manifests.object_at(schema, "properties", part)
            structural_schema.add_defaults(below, whole)
            structural_schema.drop_nulls(below, whole)


def _schema(xr: Object, xrd: Object) -> Object:
    wanted = objects.api_version_and_kind(xr)
    for api_version, kind, schema in xrds.to_schemas(xrd):
        if (api_version, kind) == wanted:
            return schema
    raise InputError.of(
        f'cannot apply defaults of XRD "{manifests.name(xrd)}": it has no version {wanted[0]}'
    )
