"""Apply an XRD: make the XR of a claim, check an XR's type, fill in defaults as Kubernetes does."""

from typing import Final

from function_script.request import objects
from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.tools import manifests, structural_schema, xrds
from function_script.tools.render import names_and_uids
from function_script.tools.render.xr import XrError

_V1: Final = "apiextensions.crossplane.io/v1"
_V2: Final = "apiextensions.crossplane.io/v2"
# The namespace that kubectl uses if none is set.
_NAMESPACE: Final = "default"
_RESERVED: Final = ("kubernetes.io", "k8s.io")
# Fields of claims and XRs that belong to Crossplane; those that a claim hands on are not here.
_MACHINERY: Final = {
    "claimRef",
    "compositeDeletePolicy",
    "compositionRevisionRef",
    "crossplane",
    "environmentConfigRefs",
    "publishConnectionDetailsTo",
    "resourceRef",
    "resourceRefs",
    "writeConnectionSecretToRef",
}


def check_match(xrd: Object, xr: Object) -> None:
    """Raise InputError for an object that is no XRD, XrError if it does not define the XR."""
    version = manifests.text_at(xrd, "apiVersion")
    if manifests.text_at(xrd, "kind") != "CompositeResourceDefinition" or version not in {_V1, _V2}:
        raise InputError.of(
            f"cannot use {manifests.describe(xrd)} as XRD: "
            f"it must be a CompositeResourceDefinition of {_V1} or {_V2}"
        )
    definition = manifests.defined_type(xrd)
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


def resolve_claim(manifest: Object, xrd: Object | None) -> Object:
    """Return the XR of a claim, if ``xrd`` says that ``manifest`` is one; else ``manifest``."""
    if xrd is None or not is_claim(manifest, xrd):
        return manifest
    api_version, kind = objects.api_version_and_kind(manifest)
    namespace = manifests.namespace(manifest) or _NAMESPACE
    name = manifests.name(manifest)
    xr_name = manifests.text_at(manifest, "spec", "resourceRef", "name")
    xr_name = xr_name or names_and_uids.xr_name(namespace, name)
    spec: Object = {
        key: objects.deep_copy(value)
        for key, value in manifests.object_at(manifest, "spec").items()
        if key not in _MACHINERY
    }
    spec["claimRef"] = {
        "apiVersion": api_version,
        "kind": kind,
        "namespace": namespace,
        "name": name,
    }
    xr: Object = {
        "apiVersion": api_version,
        "kind": manifests.text_at(xrd, "spec", "names", "kind"),
        "metadata": {"name": xr_name},
        "spec": spec,
    }
    labels = _without_reserved(manifests.labels(manifest)) | {
        manifests.CLAIM_NAME: name,
        manifests.CLAIM_NAMESPACE: namespace,
    }
    manifests.add_texts(xr, labels, "metadata", "labels")
    annotations = _without_reserved(manifests.texts_at(manifest, "metadata", "annotations"))
    if annotations:
        manifests.add_texts(xr, annotations, "metadata", "annotations")
    return xr


def is_claim(manifest: Object, xrd: Object) -> bool:
    """Report whether an XRD defines claims, and the object is one of them."""
    kind = manifests.text_at(xrd, "spec", "claimNames", "kind")
    group = manifests.text_at(xrd, "spec", "group")
    api_version, actual = objects.api_version_and_kind(manifest)
    is_legacy = xrds.scope_of(xrd) == xrds.LEGACY
    return is_legacy and bool(kind) and (manifests.group(api_version), actual) == (group, kind)


def _without_reserved(texts: dict[str, str]) -> dict[str, str]:
    """Leave out labels or annotations of Kubernetes, such as kubectl's."""
    return {
        key: text for key, text in texts.items() if not key.partition("/")[0].endswith(_RESERVED)
    }
