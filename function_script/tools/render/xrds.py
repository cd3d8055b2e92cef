"""Apply an XRD to an XR: check the type, fill in defaults as Kubernetes does, tell its scope."""

from typing import Final

from function_script import objects
from function_script.diagnostics import Diagnostic
from function_script.errors import InputError
from function_script.tools import manifests, structural_schema, xrds
from function_script.tools.render.errors import XrError
from function_script.values import Object

_V1: Final = "apiextensions.crossplane.io/v1"
_V2: Final = "apiextensions.crossplane.io/v2"


def check_match(xrd: Object, xr: Object) -> None:
    """Raise InputError for an object that is no XRD, XrError if it does not define the XR."""
    version = manifests.text_at(xrd, "apiVersion")
    if manifests.text_at(xrd, "kind") != "CompositeResourceDefinition" or version not in {_V1, _V2}:
        raise InputError.of(
            f"cannot use {manifests.describe(xrd)} as XRD: "
            f"it must be a CompositeResourceDefinition of {_V1} or {_V2}"
        )
    definition = (
        manifests.text_at(xrd, "spec", "group"),
        manifests.text_at(xrd, "spec", "names", "kind"),
    )
    api_version, kind = objects.api_version_and_kind(xr)
    if definition != (manifests.group(api_version), kind):
        raise XrError(
            Diagnostic(
                message=f'cannot use XRD "{manifests.name(xrd)}": it defines {definition[1]} of '
                f"{definition[0]}, the XR is a {kind} of {api_version}",
                field="apiVersion" if kind == definition[1] else "kind",
            )
        )


def is_legacy(xrd: Object | None) -> bool:
    """Report whether XRs are as in Crossplane v1: fields directly below spec."""
    return xrd is not None and xrds.scope_of(xrd) == xrds.LEGACY


def add_defaults(xr: Object, xrd: Object) -> None:
    """Fill in the schema's defaults for absent fields of ``xr``. Raises XrError.

    Crossplane's own fields have Crossplane's schema, whatever the XRD says of them.
    """
    api_version, kind = objects.api_version_and_kind(xr)
    schema = xrds.find_schema(xrd, api_version, kind)
    if schema is None:
        raise XrError(
            Diagnostic(
                message=f'cannot apply defaults of XRD "{manifests.name(xrd)}": '
                f"it has no version {api_version}",
                field="apiVersion",
            )
        )
    for part in ("spec", "status"):
        below = xr.get(part)
        if isinstance(below, dict):
            whole = manifests.object_at(schema, "properties", part)
            structural_schema.add_defaults(below, whole)
            structural_schema.drop_nulls(below, whole)
