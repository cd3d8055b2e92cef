"""A ResourceList: the text that an orchestrator such as kustomize or kpt writes and reads.

It has the items, the functionConfig and the results of a run. The items are XRs, their composed
resources, and what is beside them. The annotations that tell them apart are those of Crossplane, or
of the alpha design of composition functions, whose functions took ResourceLists.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from function_script import inputs
from function_script.documents import Document, editing
from function_script.request import objects
from function_script.request.reader import format_path
from function_script.request.values import Object, Value
from function_script.texts import diagnostics
from function_script.texts.errors import InputError
from function_script.texts.source import Source
from function_script.tools import manifests, sources

Severity: TypeAlias = Literal["error", "warning", "info"]

TYPE: Final = "fn.apiextensions.crossplane.io/type"
NAME: Final = "fn.apiextensions.crossplane.io/name"
COMPOSITE: Final = "CompositeResource"
COMPOSED: Final = "ComposedResource"
PATH: Final = "internal.config.kubernetes.io/path"
INDEX: Final = "internal.config.kubernetes.io/index"
# Names that kustomize used before, and still sets.
_OLD_NAMES: Final = {PATH: "config.kubernetes.io/path", INDEX: "config.kubernetes.io/index"}

# Groups of annotations that an orchestrator sets on its way; no program sees them.
_ORCHESTRATORS: Final = {
    "config.k8s.io",
    "config.kubernetes.io",
    "internal.config.kubernetes.io",
    "internal.kpt.dev",
    "kustomize.config.k8s.io",
}
# Set on items that are never applied, such as a functionConfig.
_LOCAL: Final = "config.kubernetes.io/local-config"
_FOREIGN_GROUPS: Final = ("k8s.io", "kpt.dev", "apiextensions.crossplane.io", "pkg.crossplane.io")
_ALPHA_GROUP: Final = "fn.apiextensions.crossplane.io"
_ANNOTATIONS: Final = ("metadata", "annotations")
# Fields of metadata that the API server sets, which an export from a cluster has.
_SERVER_FIELDS: Final = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "managedFields",
    "selfLink",
)

_KIND: Final = "ResourceList"
_MAX_VALUE_CHARACTERS: Final = 200
_GROUPS: Final = ("config.kubernetes.io", "fn.apiextensions.crossplane.io")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceList:
    """A ResourceList with its text; ``config`` is the functionConfig, None if there is none."""

    text: str
    document: Document
    items: Sequence[Value]
    config: Object | None

    def write(self, items: Sequence[Value], results: Sequence[Object]) -> str:
        """Return the text with other items and results; lines of equal items are unchanged."""
        after = {key: value for key, value in self.document.value.items() if key != "results"}
        after["items"] = [*items]
        if results:
            after["results"] = [*results]
        return editing.edit(self.text, self.document.value, after)


def parse(source: Source) -> ResourceList:
    """Parse the text of stdin. Raises FatalError unless it is a single ResourceList."""
    document = sources.read_one(
        source,
        expected=f"one {_KIND} of {_GROUPS[0]}/v1",
        hint="kustomize and kpt write it; to render files, use `function-script render`",
    )
    api_version, kind = objects.api_version_and_kind(document.value)
    if kind != _KIND or api_version.partition("/")[0] not in _GROUPS:
        raise InputError.of(
            f"cannot read {source.name}: it is {kind or 'an object'} of {api_version or 'no type'} "
            f"instead of {_KIND} of {_GROUPS[0]}/v1",
            span=document.span(),
        )
    items, config = (document.value.get(key) for key in ("items", "functionConfig"))
    if not isinstance(items, list | None):
        raise InputError.of(
            "cannot read items: they must be a list", span=document.span(("items",))
        )
    if not isinstance(config, dict | None):
        span = document.span(("functionConfig",))
        raise InputError.of("cannot read functionConfig: it must be an object", span=span)
    return ResourceList(text=source.text, document=document, items=items or [], config=config)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One result: ``problem`` is about the field at ``path`` of ``subject``."""

    severity: Severity
    problem: diagnostics.Diagnostic
    subject: Object | None = None
    path: objects.Path = ()

    def to_object(self) -> Object:
        """Return the entry of the ResourceList."""
        entry: Object = {
            "message": diagnostics.to_line((self.problem,)),
            "severity": self.severity,
        }
        if self.subject is None:
            return entry
        if manifests.name(self.subject):
            entry["resourceRef"] = manifests.reference(self.subject)
            if self.path:
                entry["field"] = _field(self.subject, self.path)
        if file := file_of(self.subject):
            entry["file"] = file
        return entry


def _field(subject: Object, path: objects.Path) -> Object:
    entry: Object = {"path": format_path(path)}
    value = objects.find_path(subject, path)
    # Results are printed and kept by orchestrators: no place for the data of a Secret.
    if objects.api_version_and_kind(subject) == manifests.SECRET:
        return entry
    # A program or an object says nothing on one line.
    is_line = isinstance(value, str) and len(value) <= _MAX_VALUE_CHARACTERS and "\n" not in value
    if is_line or isinstance(value, (bool, int, float)):
        entry["currentValue"] = value  # type: ignore[assignment] # a scalar
    return entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An item by its index; ``manifest`` has no annotations of the orchestrator."""

    index: int
    value: Object
    manifest: Object


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """An XR, its composed resources by resource name, and all other items."""

    xr: Item
    composed: Mapping[str, Item]
    others: Sequence[Item]


def read_items(values: Iterable[Value]) -> list[Item]:
    """Read the items. Raises InputError for one that is no object with apiVersion and kind."""
    items = []
    for index, value in enumerate(values):
        if not isinstance(value, dict) or not all(objects.api_version_and_kind(value)):
            raise InputError.of(f"cannot read items[{index}]: it has no apiVersion and kind")
        items.append(Item(index=index, value=value, manifest=without_transport(value)))
    return items


def without_transport(value: Object) -> Object:
    """Copy a manifest without the annotations of orchestrators and of the alpha design."""
    texts = manifests.object_at(value, *_ANNOTATIONS)
    others: Object = {key: item for key, item in texts.items() if not _is_transport(key)}
    return _with_annotations(value, others) if texts else manifests.copy(value)


def _is_transport(key: str) -> bool:
    group = key.partition("/")[0]
    return group in _ORCHESTRATORS or group == _ALPHA_GROUP


def _with_annotations(value: Object, annotations: Object) -> Object:
    copy = manifests.copy(value)
    metadata = manifests.make_object(copy, "metadata")
    metadata.pop("annotations", None)
    if annotations:
        metadata["annotations"] = annotations
    return copy


def find_composites(
    items: Sequence[Item], composition: Object, type_: tuple[str, str] | None
) -> list[Composite]:
    """Return the XRs with their composed resources, in the order of the list.

    ``type_`` is the apiVersion and kind that a Composition is for. Without one there is one XR: the
    item that has the annotation of the alpha design, else the only one that is not composed.
    """
    if type_ is not None:
        # An XR may have a reference to another Composition.
        names = {"", manifests.name(composition)}
        xrs = [
            item
            for item in items
            if objects.api_version_and_kind(item.manifest) == type_
            and manifests.text_at_machinery(item.manifest, "compositionRef", "name") in names
        ]
        by_key: dict[manifests.Key, Item] = {}
        for xr in xrs:
            first = by_key.setdefault(manifests.key_of(xr.manifest), xr)
            _refuse_two(first, xr, manifests.describe(xr.manifest))
        return [_collect(xr, items, is_alone=len(xrs) == 1) for xr in xrs]
    marked = [item for item in items if manifests.annotation(item.value, TYPE) == COMPOSITE]
    others = [item for item in items if not _name(item) and _may_be_xr(item)]
    candidates = marked or others
    if len(candidates) != 1:
        cause = f"{len(candidates)} items may be the XR" if candidates else "the list has no XR"
        raise InputError.of(
            f"cannot run an input: {cause}",
            hint=f"give the XR the annotation {TYPE}: {COMPOSITE}, or give a Composition as "
            "functionConfig",
        )
    return [_collect(candidates[0], items, is_alone=True)]


def find_misshapen_annotation(value: Object) -> str:
    """Return the name of an annotation that is not a text, or "". With one, none is read."""
    texts = manifests.object_at(value, *_ANNOTATIONS)
    return next((key for key, text in texts.items() if not isinstance(text, str | None)), "")


def _may_be_xr(item: Item) -> bool:
    """Report whether an XRD can define the type of an item, and no orchestrator keeps it back."""
    if manifests.annotation(item.value, _LOCAL) not in {"", "false"}:
        return False
    group = manifests.group(objects.api_version_and_kind(item.manifest)[0])
    # The groups of Kubernetes have no dot, or end in k8s.io.
    is_foreign = "." not in group or group.endswith(_FOREIGN_GROUPS)
    return not is_foreign and not inputs.has_our_type(item.manifest)


def _collect(xr: Item, items: Sequence[Item], *, is_alone: bool) -> Composite:
    composed: dict[str, Item] = {}
    others = []
    for item in items:
        name = _name(item)
        if item is xr:
            continue
        if not name or not _is_owned(item.manifest, xr.manifest, is_alone=is_alone):
            others.append(item)
            continue
        _refuse_two(composed.setdefault(name, item), item, f'resource "{name}"')
    return Composite(xr=xr, composed=composed, others=others)


def _refuse_two(first: Item, other: Item, what: str) -> None:
    if first is not other:
        both = f"items[{first.index}] and items[{other.index}]"
        raise InputError.of(f"cannot read the list: {both} are both {what}")


def _name(item: Item) -> str:
    """Return the resource name of a composed resource; "" for other items."""
    name = manifests.resource_name(item.value) or manifests.annotation(item.value, NAME)
    is_composed = manifests.annotation(item.value, TYPE) == COMPOSED
    if is_composed and not name:
        raise InputError.of(
            f"cannot read items[{item.index}]: it is a {COMPOSED} without a name",
            hint=f"give it the annotation {NAME}",
        )
    return name


def _is_owned(manifest: Object, xr: Object, *, is_alone: bool) -> bool:
    """Report whether an XR composed an object: by its controller, by its label, or as the only."""
    controller = manifests.controller(manifest)
    is_near = manifests.namespace(xr) in {"", manifests.namespace(manifest)}
    if controller is not None:
        uid = manifests.text_at(xr, "metadata", "uid")
        if uid:
            return controller.get("uid") == uid
        kind = (controller.get("kind"), controller.get("name"))
        return is_near and kind == (manifests.text_at(xr, "kind"), manifests.name(xr))
    label = manifests.labels(manifest).get(manifests.COMPOSITE)
    if label:
        name = manifests.labels(xr).get(manifests.COMPOSITE) or manifests.name(xr)
        return is_near and label == name
    return is_alone


def observed(name: str, item: Item, *, has_owner: bool) -> Object:
    """Return a composed resource as Crossplane observes it: with its resource name.

    ``has_owner``: the XR has a UID; without one, no owner can be compared with it.
    """
    copy = manifests.copy(item.manifest)
    manifests.add_texts(copy, {manifests.RESOURCE_NAME: name}, *_ANNOTATIONS)
    if not has_owner:
        manifests.object_at(copy, "metadata").pop("ownerReferences", None)
    return copy


def desired(item: Item) -> Object:
    """Return a composed resource as an earlier step desires it: without status."""
    copy = {key: value for key, value in manifests.copy(item.manifest).items() if key != "status"}
    metadata = manifests.object_at(copy, "metadata")
    for key in (*_SERVER_FIELDS, "ownerReferences"):
        metadata.pop(key, None)
    return copy


def to_item(manifest: Object, before: Object | None, alpha_name: str, *, has_owner: bool) -> Object:
    """Return a composed resource as an item; ``before`` is the item that it replaces.

    The orchestrator's annotations, what the API server has set, and the status stay. ``alpha_name``
    is the resource name, for lists with the annotations of the alpha design; else it is empty. The
    owner of an XR that has no UID would be unknown to a cluster, which deletes such objects.
    """
    annotations = dict(manifests.object_at(manifest, *_ANNOTATIONS))
    copy = manifests.copy(manifest)
    metadata = manifests.make_object(copy, "metadata")
    metadata.pop("generateName", None)
    own_fields = list(_SERVER_FIELDS)
    if not has_owner:
        metadata.pop("ownerReferences", None)
        own_fields.append("ownerReferences")
    if before is not None:
        texts = manifests.object_at(before, *_ANNOTATIONS)
        annotations |= {key: text for key, text in texts.items() if _is_transport(key)}
        for key in own_fields:
            if (value := objects.find_path(before, ("metadata", key))) is not None:
                metadata[key] = objects.deep_copy(value)
        if "status" in before:
            copy["status"] = objects.deep_copy(before["status"])
    if alpha_name:
        annotations |= {TYPE: COMPOSED, NAME: alpha_name}
    return _with_annotations(copy, annotations)


def with_file(value: Object, path: str, index: int) -> Object:
    """Return an item with its file and its index there, unless the orchestrator has named them."""
    if file_of(value) is not None:
        return value
    copy = manifests.copy(value)
    manifests.add_texts(copy, {PATH: path, INDEX: str(index)}, *_ANNOTATIONS)
    return copy


def file_of(value: Object) -> Object | None:
    """Return the path of an item's file and its index there, by the orchestrator's annotations."""
    path, index = (
        manifests.annotation(value, key) or manifests.annotation(value, _OLD_NAMES[key])
        for key in (PATH, INDEX)
    )
    if not path:
        return None
    return {"path": path, "index": int(index[:9]) if index.isascii() and index.isdecimal() else 0}
