"""The XR before functions get it: of a claim, its identity and defaults, Crossplane's own fields.

Names and UIDs are those that Crossplane's render engine generates, so that outputs are equal.
"""

import hashlib
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Final

from function_script.request import objects
from function_script.request.values import Object, Value, type_phrase
from function_script.texts import spelling
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.texts.source import Span
from function_script.tools import manifests, structural_schema, xrds
from function_script.tools.render import conditions

_RESOURCE_VERSION: Final = "999"
_PAUSED: Final = "crossplane.io/paused"
_REQUESTED: Final = "crossplane.io/reconcile-requested-at"
_ARGUMENTS: Final = "the order of arguments is XR COMPOSITION FUNCTIONS"
_HANDLED: Final = ("status", "lastHandledReconcileAt")
# The namespace that kubectl uses if none is set.
_NAMESPACE: Final = "default"
_DETAILS: Final = "write a Secret of connection details into credentials.yaml or required.yaml"
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
# Letters and digits of the suffixes that the API server generates.
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_NIL = uuid.UUID(int=0)
_MAX_NAME = 63
_HASH = 12
_RBAC_GROUP = "rbac.authorization.k8s.io"
_RBAC_KINDS = {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}


class XrError(InputError):
    """The XR cannot be rendered. The fields of the diagnostics are fields of the XR."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Xr:
    """An XR: ``manifest`` as functions see it, ``file`` as in its file, with the XRD's defaults."""

    manifest: Object
    file: Object
    is_legacy: bool

    @property
    def name(self) -> str:
        """Return ``metadata.name``."""
        return manifests.name(self.file)

    @property
    def namespace(self) -> str:
        """Return ``metadata.namespace``; "" for cluster-scoped XRs."""
        return manifests.namespace(self.file)

    @property
    def uid(self) -> str:
        """Return the file's UID, or the generated one."""
        return manifests.text_at(self.manifest, "metadata", "uid")

    @property
    def is_paused(self) -> bool:
        """Report whether the XR has the pause annotation."""
        return manifests.annotation(self.file, _PAUSED) == "true"

    @property
    def is_deleted(self) -> bool:
        """Report whether the XR is being deleted."""
        return bool(manifests.text_at(self.file, "metadata", "deletionTimestamp"))

    @property
    def is_requested(self) -> bool:
        """Report whether an annotation requests a reconcile that was not handled yet."""
        token = manifests.annotation(self.file, _REQUESTED)
        return bool(token) and manifests.text_at(self.file, *_HANDLED) != token

    @property
    def selects_anew(self) -> bool:
        """Report whether the file refers to another Composition, or to none."""
        path = (*self.machinery, "compositionRef")
        return manifests.object_at(self.file, *path) != manifests.object_at(self.manifest, *path)

    @property
    def machinery(self) -> tuple[str, ...]:
        """Return the path of Crossplane's own fields of this XR."""
        return machinery(is_legacy=self.is_legacy)


def identify(file: Object, *, is_legacy: bool) -> Xr:
    """Build the XR with its UID."""
    manifest = manifests.copy(file)
    metadata = manifests.make_object(manifest, "metadata")
    metadata["uid"] = xr_uid(file)
    metadata["resourceVersion"] = _RESOURCE_VERSION
    return Xr(manifest=manifest, file=file, is_legacy=is_legacy)


def check_identity(file: Object) -> None:
    """Raise XrError if the XR has no type or name, or a name or namespace that is no text."""
    api_version, kind = objects.api_version_and_kind(file)
    if manifests.group(api_version) in {"apiextensions.crossplane.io", "pkg.crossplane.io"}:
        message = f"cannot render {manifests.describe(file)}: it is no XR"
        raise XrError.of(message, field="kind", hint=_ARGUMENTS)
    for field in ("metadata.name", "metadata.namespace"):
        value = objects.find_path(file, field)
        # YAML reads `y` as a boolean.
        if not isinstance(value, str | None):
            message = f"invalid XR: {field} must be a string, not {type_phrase(value)}"
            hint = None if isinstance(value, (dict, list)) else "quote the value"
            raise XrError.of(message, field=field, hint=hint)
    texts = {"apiVersion": api_version, "kind": kind, "metadata.name": manifests.name(file)}
    missing = [field for field, text in texts.items() if not text]
    if missing:
        message = "cannot render the XR: it needs apiVersion, kind and metadata.name"
        part = missing[0].partition(".")[0]
        others = tuple(file.keys() - texts.keys() - {"spec", "status"})
        typo = "" if part in file else spelling.nearest(part, others)
        hint = f"write {part}" if typo else None
        raise XrError.of(message, field=typo or missing[0], hint=hint)


def prepare(xr: Xr, composition: Object, observed: Sequence[Object]) -> None:
    """Write into ``xr.manifest`` what Crossplane writes before it calls a function."""
    if observed:
        set_resource_refs(xr.manifest, xr, observed)
    conditions.mark(xr.manifest, [conditions.RESPONSIVE], is_observed=True)
    if xr.is_requested and not xr.is_paused:
        token = manifests.annotation(xr.file, _REQUESTED)
        manifests.set_text(xr.manifest, token, *_HANDLED)
    if xr.is_paused or xr.is_deleted:
        return
    fields = manifests.make_object(xr.manifest, *xr.machinery)
    fields["compositionRef"] = {"name": manifests.name(composition)}
    if not manifests.labels(xr.manifest).get(manifests.COMPOSITE):
        manifests.add_texts(xr.manifest, {manifests.COMPOSITE: xr.name}, "metadata", "labels")
    secrets = manifests.text_at(composition, "spec", "writeConnectionSecretsToNamespace")
    if xr.is_legacy and secrets and "writeConnectionSecretToRef" not in fields:
        fields["writeConnectionSecretToRef"] = {"name": xr.uid, "namespace": secrets}


def is_updated(xr: Xr) -> bool:
    """Report whether Crossplane wrote the whole XR before it called a function."""
    path = (*xr.machinery, "writeConnectionSecretToRef")
    refers_anew = manifests.object_at(xr.file, *path) != manifests.object_at(xr.manifest, *path)
    return not manifests.labels(xr.file).get(manifests.COMPOSITE) or refers_anew


def last_written(xr: Xr) -> Object:
    """Copy the XR as it was last written, with its current conditions."""
    manifest = manifests.copy(xr.manifest)
    fields = manifests.object_at(manifest, *xr.machinery)
    if not is_updated(xr):
        before = manifests.object_at(xr.file, *xr.machinery).get("compositionRef")
        fields.pop("compositionRef", None)
        if before is not None:
            fields["compositionRef"] = objects.deep_copy(before)
    return manifest


def set_resource_refs(target: Object, xr: Xr, composed: Sequence[Object]) -> None:
    """Set ``target``'s references to ``composed``; cluster-scoped XRs add namespaces."""
    refs: list[Value] = [
        manifests.reference(each, has_namespace=not xr.namespace) for each in composed
    ]
    manifests.make_object(target, *xr.machinery)["resourceRefs"] = refs


def machinery(*, is_legacy: bool) -> tuple[str, ...]:
    """Return the path of Crossplane's own fields of an XR."""
    return ("spec",) if is_legacy else ("spec", "crossplane")


def check_observed(xr: Xr, observed: Sequence[Object], spans: Sequence[Span | None]) -> None:
    """Raise InputError unless the XR may have composed all of ``observed``.

    ``spans`` are their positions, or empty.
    """
    details = [("", "Secret", *manifests.details_place(manifest)) for manifest in observed]
    problems = [
        Diagnostic(
            message=f"cannot observe {manifests.describe(manifest)}: {cause}",
            span=span,
            hint=_DETAILS if manifests.key_of(manifest) in details else hint,
        )
        for manifest, span in zip(observed, spans or repeat(None), strict=False)
        for cause, hint in _ownership_problems(xr, manifest)
    ]
    if problems:
        raise InputError(*problems)


def _ownership_problems(xr: Xr, manifest: Object) -> Iterator[tuple[str, str]]:
    """Yield causes and hints."""
    if not manifests.annotation(manifest, manifests.RESOURCE_NAME):
        hint = "the annotation says which desired resource it is"
        yield f'it has no annotation "{manifests.RESOURCE_NAME}"', hint
        # It may be no composed resource at all.
        return
    owner = manifests.controller(manifest)
    if owner is not None and owner.get("uid") != xr.uid:
        hint = f"set the owner reference's uid to \"{xr.uid}\", or the XR's to the owner's"
        yield f'its controller is not the XR, but one with uid "{owner.get("uid")}"', hint
    if xr.namespace and manifests.namespace(manifest) != xr.namespace:
        hint = "a namespaced XR only composes resources in its own namespace"
        yield f'it is not in the XR\'s namespace "{xr.namespace}"', hint


def check_match(xrd: Object, xr: Object) -> None:
    """Raise InputError for an object that is no XRD, XrError if it does not define the XR."""
    if not xrds.is_xrd(xrd):
        raise InputError(xrds.refuse_type(xrd))
    definition = manifests.defined_type(xrd)
    api_version, kind = objects.api_version_and_kind(xr)
    if definition != (manifests.group(api_version), kind):
        raise XrError.of(
            f'cannot use XRD "{manifests.name(xrd)}": it defines {definition[1]} of '
            f"{definition[0]}, the XR is a {kind} of {api_version}",
            field="apiVersion" if kind == definition[1] else "kind",
        )


def is_legacy(xrd: Object | None) -> bool:
    """Report whether XRs are as in Crossplane v1: fields directly below spec."""
    return xrd is not None and xrds.scope_of(xrd) == xrds.LEGACY


def complete(xr: Object, xrd: Object) -> Object:
    """Return an XR with the schema's defaults for absent fields. Raises XrError.

    Crossplane's own fields have Crossplane's schema, whatever the XRD says of them.
    """
    api_version, kind = objects.api_version_and_kind(xr)
    schema = xrds.find_schema(xrd, api_version, kind)
    if schema is None:
        versions = ", ".join(dict.fromkeys(each for each, *_ in xrds.to_schemas(xrd)))
        reason = f'cannot apply defaults of XRD "{manifests.name(xrd)}": it has no version '
        raise XrError.of(reason + api_version, field="apiVersion", hint=f"it has {versions}")
    return structural_schema.complete(xr, schema)


def resolve_claim(manifest: Object, xrd: Object | None) -> Object:
    """Return the XR of a claim, if ``xrd`` says that ``manifest`` is one; else ``manifest``."""
    if xrd is None or not is_legacy(xrd):
        return manifest
    api_version, kind = objects.api_version_and_kind(manifest)
    claim = manifests.text_at(xrd, "spec", "claimNames", "kind")
    group = manifests.text_at(xrd, "spec", "group")
    if not claim or (manifests.group(api_version), kind) != (group, claim):
        return manifest
    namespace = manifests.namespace(manifest) or _NAMESPACE
    name = manifests.name(manifest)
    whole_name = manifests.text_at(manifest, "spec", "resourceRef", "name")
    # A claim that is bound names its XR.
    whole_name = whole_name or xr_name(namespace, name)
    spec: Object = {
        key: objects.deep_copy(value)
        for key, value in manifests.object_at(manifest, "spec").items()
        if key not in _MACHINERY
    }
    spec["claimRef"] = {**manifests.reference(manifest), "namespace": namespace}
    xr: Object = {
        "apiVersion": api_version,
        "kind": manifests.text_at(xrd, "spec", "names", "kind"),
        "metadata": {"name": whole_name},
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


def _without_reserved(texts: dict[str, str]) -> dict[str, str]:
    """Leave out labels or annotations of Kubernetes, such as kubectl's."""
    return {
        key: text for key, text in texts.items() if not key.partition("/")[0].endswith(_RESERVED)
    }


def xr_uid(xr: Object) -> str:
    """Return the UID of an XR; a generated one depends on type, namespace and name only."""
    text = "\0".join([manifests.go_type(xr), manifests.namespace(xr), manifests.name(xr)])
    return manifests.text_at(xr, "metadata", "uid") or str(uuid.uuid5(_NIL, text))


def xr_name(namespace: str, name: str) -> str:
    """Return the name of a claim's XR: a prefix and a suffix that is the same every time."""
    digest = hashlib.sha256(f"{namespace}/{name}".encode()).digest()
    letters = (_SUFFIX_LETTERS[byte % len(_SUFFIX_LETTERS)] for byte in digest[:_SUFFIX_LENGTH])
    # The API server cuts the prefix of a name that it generates, too.
    return f"{name}-"[: _MAX_NAME - _SUFFIX_LENGTH] + "".join(letters)


def child_name(generate_name: str, uid: str, resource_name: str) -> str:
    """Return the object name of a composed resource: a prefix and 12 hex digits, at most 63 long.

    ``uid`` is the XR's; ``resource_name`` is the key in desired state.
    """
    suffix = hashlib.sha256((uid + resource_name).encode()).hexdigest()[:_HASH]
    prefix = (
        generate_name if generate_name.endswith("-") or not generate_name else f"{generate_name}-"
    )
    if len(prefix) + _HASH > _MAX_NAME:
        prefix = prefix[: _MAX_NAME - _HASH]
        if not prefix.endswith("-"):
            prefix = f"{prefix[:-1]}-"
    return prefix + suffix


def is_object_name(name: str, group: str, kind: str) -> bool:
    """Report whether ``name`` is an RFC 1123 subdomain; names of RBAC kinds may have colons."""
    if group == _RBAC_GROUP and kind in _RBAC_KINDS:
        name = name.replace(":", "")
    return objects.is_subdomain(name)
