"""The objects of a cluster as `kubectl get -o yaml` or `-o json` prints them, in files."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple, cast

from function_script import wire
from function_script.request import objects
from function_script.request.values import Object, Value
from function_script.texts.errors import InputError, cause_of
from function_script.texts.source import Source
from function_script.tools import bounded, manifests
from function_script.tools.manifests import Key
from function_script.tools.render import RenderInputs
from function_script.tools.render.requirements import RequirementSource
from function_script.tools.validate.catalog import Catalog

MASKED: Final = "script.fn.crossplane.io/masked"
"""The annotation of Secrets whose values `snapshot` has masked."""

# Values in base64 in place of masks: without a text, and a long one.
_PROBES: Final = ("", "eHh4" * 27)
_SECRET: Final = ("", "Secret")
_DEFINITIONS: Final = (
    ("apiextensions.crossplane.io", "CompositeResourceDefinition"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("pkg.crossplane.io", "Function"),
)
_USAGES: Final = ("Usage", "ClusterUsage")
# Of these, `snapshot` reads those that others need.
_PARTLY_READ: Final = (_SECRET, ("apiextensions.k8s.io", "CustomResourceDefinition"))
_SUFFIXES: Final = (".json", ".yaml", ".yml")
# The words by which programs read connection details, or have them read by what is in no input.
_DETAILS: Final = re.compile(r"connection|'(source|inputRef|modulesFrom)'", re.IGNORECASE)


class UnknownError(Exception):
    """The dump does not say what a pipeline makes of an XR; the text is the reason."""


class _Packed(NamedTuple):
    """An object as JSON, which takes a fifth of the memory, and what objects are selected by."""

    api_version: str
    labels: Mapping[str, str]
    place: str
    text: str

    def unpack(self) -> Object:
        return cast("Object", json.loads(self.text))


class Dump:
    """The objects of one cluster, each with its place, a `requirements.Cluster`.

    ``path`` is the file or directory. ``is_snapshot``: `snapshot` wrote it. ``is_complete``: what
    its XRs refer to exists in it, or not at all.
    """

    def __init__(self, manifests_: Iterable[tuple[str, Object]], path: Path | None = None) -> None:
        self.path = path
        self.is_complete = False
        self.is_snapshot = False
        self._objects: dict[tuple[str, str], dict[tuple[str, str], _Packed]] = {}
        for place, manifest in manifests_:
            key = manifests.key_of(manifest)
            packed = _Packed(
                api_version=manifests.text_at(manifest, "apiVersion"),
                labels=manifests.labels(manifest),
                place=place,
                text=json.dumps(manifest, separators=(",", ":")),
            )
            group = self._objects.setdefault(key[:2], {})
            other = group.setdefault(key[2:], packed)
            if other.text == packed.text:
                continue
            name, places = manifests.describe(manifest), f"{other.place} and {place}"
            # In another cluster, an object may have the same version by chance.
            state, other_state = (
                [manifests.text_at(each, "metadata", part) for part in ("resourceVersion", "uid")]
                for each in (manifest, other.unpack())
            )
            if not state[0] or state != other_state:
                raise InputError.of(f"cannot read the dump: {name} has two states, in {places}")
            # One state, printed without managedFields or in another apiVersion, too.
            group[key[2:]] = max(other, packed, key=lambda each: len(each.text))
        if not self._objects:
            raise InputError.of("cannot read the dump: it has no objects")

    def has_file(self, file: Path) -> bool:
        """Report whether a file is the dump, or is in its directory."""
        return self.path is not None and file.resolve().is_relative_to(self.path.resolve())

    @cached_property
    def definitions(self) -> list[Object]:
        """The XRDs, CRDs and Functions."""
        return [self[key] for type_ in _DEFINITIONS for key in self.list_keys(type_)]

    @cached_property
    def usages(self) -> dict[Key, list[Key]]:
        """The Usages of each object, by the object's key."""
        usages: dict[Key, list[Key]] = {}
        types = (type_ for type_ in self._objects if type_[1] in _USAGES)
        for key in (key for type_ in types for key in self.list_keys(type_)):
            of = manifests.object_at(self[key], "spec", "of")
            used = referred_key({**of, **manifests.object_at(of, "resourceRef")}, key[2])
            usages.setdefault(used, []).append(key)
        return usages

    def __getitem__(self, key: Key) -> Object:
        return self._objects[key[:2]][key[2:]].unpack()

    def get(self, key: Key) -> Object | None:
        """Return an object, or None."""
        packed = self._objects.get(key[:2], {}).get(key[2:])
        return None if packed is None else packed.unpack()

    def list_keys(self, type_: tuple[str, str]) -> Iterator[Key]:
        """Yield the keys of the objects with a group and kind."""
        return ((*type_, *place) for place in self._objects.get(type_, {}))

    def find(self, api_version: str, kind: str, namespace: str, name: str) -> Object | None:
        """Return an object of this version, or None."""
        manifest = self.get((manifests.group(api_version), kind, namespace, name))
        return manifest if manifest and manifest["apiVersion"] == api_version else None

    def find_all(
        self, api_version: str, kind: str, namespace: str, labels: Mapping[str, str]
    ) -> list[Object]:
        """Return objects of a version and kind by labels; namespace "" means all."""
        return [
            packed.unpack()
            for place, packed in self._objects.get((manifests.group(api_version), kind), {}).items()
            if packed.api_version == api_version
            and namespace in {"", place[0]}
            and labels.items() <= packed.labels.items()
        ]

    def may_select(self, selector: wire.Selector, key: Key, *, is_relabelled: bool) -> bool:
        """Report whether a selector by labels selects an object of its kind.

        One that is not there yet, or gets other labels, may have the labels.
        """
        packed = self._objects.get(key[:2], {}).get(key[2:])
        labels = None if packed is None or is_relabelled else packed.labels.items()
        has_labels = labels is None or (selector.match_labels or {}).items() <= labels
        return has_labels and (selector.namespace or "") in {"", key[2]}

    def list_composed(self, xr: Object) -> Iterator[Key]:
        """Yield the keys of the objects that an XR composes, of which the dump may lack some."""
        for reference in references_of(xr):
            key = referred_key(reference, manifests.namespace(xr))
            if key[-1]:
                yield key

    def check_references(self, xr: Object, catalog: Catalog) -> None:
        """Raise UnknownError for an object of a namespace to which an XR refers without one."""
        for reference in () if manifests.namespace(xr) else references_of(xr):
            type_, key = objects.api_version_and_kind(reference), referred_key(reference, "")
            is_readable = key[2] or catalog.is_cluster_scoped(type_) or self.get(key)
            if not is_readable and catalog.find(*type_) is not None:
                raise UnknownError(f"Crossplane cannot read its {type_[1]}, which has no namespace")

    def find_observed(self, xr: Object) -> dict[str, Object]:
        """Return the composed resources by resource name. Raises UnknownError for one it lacks."""
        observed: dict[str, Object] = {}
        uid = manifests.text_at(xr, "metadata", "uid")
        for key in self.list_composed(xr):
            _, kind, _, name = key
            manifest = self.get(key)
            if manifest is None and self.is_complete:
                # The API server refused it, or it was deleted: Crossplane does not see it, either.
                continue
            if manifest is None:
                raise UnknownError(f'the dump lacks {kind} "{name}", which it composes')
            owner = manifests.controller(manifest)
            if owner is not None and uid and owner.get("uid") != uid:
                # Crossplane neither sees nor deletes what another object controls.
                continue
            # A moved resource has the former name in Crossplane.
            if resource := manifests.annotation(manifest, manifests.RESOURCE_NAME):
                observed[resource] = manifest
            else:
                raise UnknownError(f'{kind} "{name}" has no annotation "{manifests.RESOURCE_NAME}"')
        return observed

    def check(self, inputs: RenderInputs, requirements: RequirementSource | None) -> bool:
        """Report whether a pipeline got a Secret that is masked.

        Raises UnknownError if it may have read what the dump lacks: objects and schemas that a step
        requires, and connection details of its objects.
        """
        for selector in requirements.requested if requirements else ():
            self._check_selector(selector)
        for selector in requirements.requested_schemas if requirements else ():
            raise UnknownError(f"a step requires the schema of {selector.kind}")
        keys = map(_details_key, inputs.observed)
        missing = [key[-1] for key in keys if key[-1] and self.get(key) is None]
        if missing and _DETAILS.search(str(inputs.composition.get("spec"))):
            raise UnknownError(f'the dump lacks Secret "{missing[0]}" with connection details')
        return any(map(is_masked, self.find_secrets(inputs, requirements)))

    def _check_selector(self, selector: wire.Selector) -> None:
        """Raise UnknownError if a step requires objects that the dump may lack."""
        kind, name = selector.kind, selector.match_name
        type_ = (manifests.group(selector.api_version), kind)
        of_type = self._objects.get(type_)
        if of_type is None:
            raise UnknownError(f"a step requires {kind} objects, and the dump has none")
        for packed in of_type.values():
            if packed.api_version != selector.api_version:
                versions = f"as {selector.api_version}, and the dump has {packed.api_version}"
                raise UnknownError(f"a step requires {kind} objects {versions}")
        is_partly_read = self.is_snapshot and type_ in _PARTLY_READ
        if name is None and is_partly_read:
            raise UnknownError(f"a step requires {kind} objects, and the dump has some alone")
        is_absent = name is not None and (selector.namespace or "", name) not in of_type
        if is_absent and (is_partly_read or not self.is_complete):
            raise UnknownError(f'the dump lacks {kind} "{name}", which a step requires')

    def check_credentials(self, composition: Object) -> None:
        """Raise UnknownError if a step has credentials that are masked: they would be refused."""
        for key in find_credentials(composition):
            if is_masked(self.get(key) or {}):
                raise UnknownError(f'Secret "{key[-1]}" with credentials is masked in the dump')

    def find_secrets(
        self, inputs: RenderInputs, requirements: RequirementSource | None
    ) -> Iterator[Object]:
        """Yield the Secrets that a pipeline got: its objects, those of these and of its steps.

        Without ``requirements``, which objects the steps require is not known: then all.
        """
        secrets = [*self.list_keys(_SECRET)]
        selectors = requirements.requested if requirements else ()
        names = {
            each.match_name
            for each in selectors
            if (each.api_version, each.kind) == manifests.SECRET
        }
        if requirements is not None and None not in names:
            keys = {*find_credentials(inputs.composition)}
            for each in (inputs.xr, *inputs.observed):
                keys.update((manifests.key_of(each), _details_key(each)))
            secrets = [key for key in secrets if key in keys or key[-1] in names]
        return map(self.__getitem__, secrets)

    @cached_property
    def probes(self) -> list[dict[Key, Object]]:
        """The Secrets that are masked, twice with other values: programs may read them."""
        secrets = {key: self[key] for key in self.list_keys(_SECRET)}
        return [
            {
                key: {**each, "data": dict.fromkeys(manifests.object_at(each, "data"), value)}
                for key, each in secrets.items()
                if is_masked(each)
            }
            for value in _PROBES
        ]


def is_masked(secret: Object) -> bool:
    """Report whether `snapshot` has masked the values of a Secret."""
    return manifests.annotation(secret, MASKED) == "true"


def find_credentials(composition: Object) -> Iterator[Key]:
    """Yield the keys of the Secrets with the credentials of the steps."""
    for step in manifests.objects_at(composition, "spec", "pipeline"):
        for each in manifests.objects_at(step, "credentials"):
            reference = manifests.object_at(each, "secretRef")
            place, name = (manifests.text_at(reference, key) for key in ("namespace", "name"))
            yield *_SECRET, place, name


def _details_key(manifest: Object) -> Key:
    """Return the key of the Secret with an object's connection details; its name may be empty."""
    return *_SECRET, *manifests.details_place(manifest)


def referred_key(reference: Object, namespace: str) -> Key:
    """Return the key of what a reference names, which has this namespace if it states none."""
    version, kind = objects.api_version_and_kind(reference)
    place = manifests.text_at(reference, "namespace") or namespace
    return manifests.group(version), kind, place, manifests.text_at(reference, "name")


def references_of(xr: Object) -> Iterator[Object]:
    """Yield the references of an XR to what it composes."""
    for path in manifests.MACHINERY:
        yield from manifests.objects_at(xr, *path, "resourceRefs")


def load(path: Path) -> Dump:
    """Load a file, or those of a directory. Raises InputError or DocumentError."""
    files: Sequence[Path] = [path]
    if path.is_dir():
        files = sorted(each for each in path.rglob("*") if each.suffix in _SUFFIXES)
    heads: list[Object] = []
    items = (
        (f'object {number} of "{file}"', manifest)
        for file in files
        for number, manifest in enumerate(_read(file, heads), 1)
    )
    dump = Dump(items, path)
    # XRs of another file may refer to kinds that `snapshot` has not read.
    dump.is_snapshot = any("unread" in head for head in heads)
    dump.is_complete = len(files) == 1 and any(head.get("unread") == {} for head in heads)
    return dump


def _read(file: Path, heads: list[Object]) -> Iterator[Object]:
    """Yield the objects in a file; ``heads`` gets what a list in JSON has beside them."""
    try:
        with file.open(encoding="utf-8-sig") as stream:
            reader = bounded.JsonReader(stream.read)
            if reader.is_container:
                for value in reader.read_items():
                    yield from _flatten(value)
                heads.append(reader.head)
                return
            text = reader.read_text()
        for document in bounded.read_documents(Source(name=str(file), text=text)):
            yield from _flatten(document.value)
    except OSError as error:
        raise InputError.of(f'cannot read "{file}": {cause_of(error)}') from error
    except UnicodeDecodeError as error:
        raise InputError.of(f'cannot read "{file}": it is not UTF-8 text') from error
    except ValueError as error:
        raise InputError.of(f'cannot read "{file}": {error}') from error


def _flatten(value: Value) -> Iterator[Object]:
    """Yield an object, or the items of a list of objects, at any depth. Raises ValueError."""
    items = value.get("items") if isinstance(value, dict) else value
    if isinstance(items, list):
        if isinstance(value, dict) and "apiVersion" in value and "kind" not in value:
            raise ValueError(
                "a list in it has no kind, which kubectl writes after the items: the end is missing"
            )
        for item in items:
            yield from _flatten(item)
    elif isinstance(value, dict) and all(objects.api_version_and_kind(value)):
        if not manifests.name(value):
            raise ValueError("an object in it has no metadata.name")
        yield value
    else:
        raise ValueError("it holds a value that is no object of a cluster")
