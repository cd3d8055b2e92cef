"""Make the XR of a claim, as Crossplane's claim controller does."""

from __future__ import annotations

import hashlib
from typing import Final

from function_script import objects
from function_script.tools import manifests, xrds
from function_script.values import Object

_SUFFIX_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH: Final = 5
_MAX_NAME: Final = 63
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


def resolve(manifest: Object, xrd: Object | None) -> Object:
    """Return the XR of a claim, if ``xrd`` says that ``manifest`` is one; else ``manifest``."""
    if xrd is None or not is_claim(manifest, xrd):
        return manifest
    api_version, kind = objects.api_version_and_kind(manifest)
    namespace = manifests.namespace(manifest) or _NAMESPACE
    name = manifests.name(manifest)
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
        "metadata": {"name": _xr_name(manifest, namespace)},
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


def _xr_name(claim: Object, namespace: str) -> str:
    """Return the name of the claim's XR, or one with a suffix that is the same every time."""
    existing = manifests.text_at(claim, "spec", "resourceRef", "name")
    if existing:
        return existing
    name = manifests.name(claim)
    digest = hashlib.sha256(f"{namespace}/{name}".encode()).digest()
    letters = (_SUFFIX_LETTERS[byte % len(_SUFFIX_LETTERS)] for byte in digest[:_SUFFIX_LENGTH])
    return f"{name}-"[: _MAX_NAME - _SUFFIX_LENGTH] + "".join(letters)


def _without_reserved(texts: dict[str, str]) -> dict[str, str]:
    """Leave out labels or annotations of Kubernetes, such as kubectl's."""
    return {
        key: text for key, text in texts.items() if not key.partition("/")[0].endswith(_RESERVED)
    }
