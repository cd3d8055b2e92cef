"""Prepare the XR for functions: identity, Crossplane's own fields, observed resources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from function_script.request import objects
from function_script.request.values import Object, Value
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.texts.source import Span
from function_script.tools import manifests
from function_script.tools.render import conditions, names_and_uids

_RESOURCE_VERSION: Final = "999"
_PAUSED: Final = "crossplane.io/paused"
_REQUESTED: Final = "crossplane.io/reconcile-requested-at"
_ARGUMENTS: Final = "the order of arguments is XR COMPOSITION FUNCTIONS"
_HANDLED: Final = ("status", "lastHandledReconcileAt")


class XrError(InputError):
    """The XR cannot be rendered. The fields of the diagnostics are fields of the XR."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Xr:
    """An XR: ``manifest`` as functions see it, ``file`` as in its file, with the XRD's defaults."""

    manifest: Object
    file: Object
    is_legacy: bool

    @property
    def api_version(self) -> str:
        """Return the type's group and version."""
        return manifests.text_at(self.file, "apiVersion")

    @property
    def kind(self) -> str:
        """Return the type's kind."""
        return manifests.text_at(self.file, "kind")

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
        path = _machinery(is_legacy=self.is_legacy)
        before = manifests.object_at(self.file, *path, "compositionRef")
        return before != manifests.object_at(self.manifest, *path, "compositionRef")


def identify(file: Object, *, is_legacy: bool) -> Xr:
    """Build the XR with its UID."""
    api_version, kind = objects.api_version_and_kind(file)
    manifest: Object = {key: objects.deep_copy(value) for key, value in file.items()}
    metadata = manifests.make_object(manifest, "metadata")
    if not manifests.text_at(manifest, "metadata", "uid"):
        metadata["uid"] = names_and_uids.xr_uid(
            api_version, kind, manifests.namespace(file), manifests.name(file)
        )
    metadata["resourceVersion"] = _RESOURCE_VERSION
    return Xr(manifest=manifest, file=file, is_legacy=is_legacy)


def check_identity(file: Object) -> None:
    """Raise XrError if the XR has no type or name."""
    api_version, kind = objects.api_version_and_kind(file)
    if (api_version, kind) == manifests.COMPOSITION:
        message = f"cannot render {manifests.describe(file)}: it is no XR"
        raise XrError(Diagnostic(message=message, field="kind", hint=_ARGUMENTS))
    texts = {"apiVersion": api_version, "kind": kind, "metadata.name": manifests.name(file)}
    missing = [field for field, text in texts.items() if not text]
    if missing:
        message = "cannot render the XR: it needs apiVersion, kind and metadata.name"
        raise XrError(Diagnostic(message=message, field=missing[0]))


def prepare(xr: Xr, composition: Object, observed: Sequence[Object]) -> None:
    """Write into ``xr.manifest`` what Crossplane writes before it calls a function."""
    if observed:
        set_resource_refs(xr.manifest, xr, observed)
    conditions.mark(xr.manifest, [conditions.RESPONSIVE], generation=generation(xr.file))
    if xr.is_requested and not xr.is_paused:
        token = manifests.annotation(xr.file, _REQUESTED)
        manifests.set_text(xr.manifest, token, *_HANDLED)
    if xr.is_paused or xr.is_deleted:
        return
    machinery = manifests.make_object(xr.manifest, *_machinery(is_legacy=xr.is_legacy))
    machinery["compositionRef"] = {"name": manifests.name(composition)}
    if not manifests.labels(xr.manifest).get(manifests.COMPOSITE):
        manifests.add_texts(xr.manifest, {manifests.COMPOSITE: xr.name}, "metadata", "labels")
    secrets = manifests.text_at(composition, "spec", "writeConnectionSecretsToNamespace")
    if xr.is_legacy and secrets and "writeConnectionSecretToRef" not in machinery:
        machinery["writeConnectionSecretToRef"] = {"name": xr.uid, "namespace": secrets}


def is_updated(xr: Xr) -> bool:
    """Report whether Crossplane wrote the whole XR before it called a function."""
    path = (*_machinery(is_legacy=xr.is_legacy), "writeConnectionSecretToRef")
    refers_anew = manifests.object_at(xr.file, *path) != manifests.object_at(xr.manifest, *path)
    return not manifests.labels(xr.file).get(manifests.COMPOSITE) or refers_anew


def last_written(xr: Xr) -> Object:
    """Copy the XR as it was last written, with its current conditions."""
    manifest: Object = {key: objects.deep_copy(value) for key, value in xr.manifest.items()}
    path = _machinery(is_legacy=xr.is_legacy)
    machinery = manifests.object_at(manifest, *path)
    if not is_updated(xr):
        before = manifests.object_at(xr.file, *path).get("compositionRef")
        machinery.pop("compositionRef", None)
        if before is not None:
            machinery["compositionRef"] = objects.deep_copy(before)
    return manifest


def generation(manifest: Object) -> int:
    """Return ``metadata.generation``; 0 if there is none."""
    number = objects.find_path(manifest, ("metadata", "generation"))
    return number if isinstance(number, int) else 0


def set_resource_refs(target: Object, xr: Xr, composed: Sequence[Object]) -> None:
    """Set ``target``'s references to ``composed``; cluster-scoped XRs add namespaces."""
    refs: list[Value] = []
    for manifest in composed:
        api_version, kind = objects.api_version_and_kind(manifest)
        ref: Object = {"apiVersion": api_version, "kind": kind, "name": manifests.name(manifest)}
        if not xr.namespace and manifests.namespace(manifest):
            ref["namespace"] = manifests.namespace(manifest)
        refs.append(ref)
    manifests.make_object(target, *_machinery(is_legacy=xr.is_legacy))["resourceRefs"] = refs


def _machinery(*, is_legacy: bool) -> tuple[str, ...]:
    return ("spec",) if is_legacy else ("spec", "crossplane")


def check_observed(xr: Xr, observed: Sequence[Object], spans: Mapping[int, Span]) -> None:
    """Raise InputError unless the XR may have composed all of ``observed``.

    ``spans`` are their positions, by the index in ``observed``.
    """
    problems = [
        Diagnostic(
            message=f"cannot observe {manifests.describe(manifest)}: {cause}",
            span=spans.get(index),
            hint=hint,
        )
        for index, manifest in enumerate(observed)
        for cause, hint in _ownership_problems(xr, manifest)
    ]
    if problems:
        raise InputError(*problems)


def _ownership_problems(xr: Xr, manifest: Object) -> list[tuple[str, str]]:
    problems = []
    owner = manifests.controller(manifest)
    if owner is not None and owner.get("uid") != xr.uid:
        hint = f"set the owner reference's uid to \"{xr.uid}\", or the XR's to the owner's"
        problems.append(
            (f'its controller is not the XR, but one with uid "{owner.get("uid")}"', hint)
        )
    if xr.namespace and manifests.namespace(manifest) != xr.namespace:
        problems.append(
            (
                f'it is not in the XR\'s namespace "{xr.namespace}"',
                "a namespaced XR only composes resources in its own namespace",
            )
        )
    if not manifests.annotation(manifest, manifests.RESOURCE_NAME):
        problems.append(
            (
                f'it has no annotation "{manifests.RESOURCE_NAME}"',
                "the annotation says which desired resource it is",
            )
        )
    return problems
