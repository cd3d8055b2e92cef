"""Write a dump of a cluster for `plan`, with the kubectl of the user and the user's rights.

Only reads are made: of XRDs, Compositions and their revisions, Functions, all XRs, what they refer
to, the CRDs of these kinds, and the Secrets that one of these objects names, whose values are
masked.
"""

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from function_script.request import objects
from function_script.request.capture.masking import SecretMasker
from function_script.request.values import Object, Value
from function_script.texts.errors import InputError, cause_of
from function_script.tools import bounded, manifests
from function_script.tools.manifests import Key
from function_script.tools.plan.dump import MASKED, references_of

_CROSSPLANE: Final = (
    "compositeresourcedefinitions.apiextensions.crossplane.io",
    "compositions.apiextensions.crossplane.io",
    "compositionrevisions.apiextensions.crossplane.io",
    "functions.pkg.crossplane.io",
)
_CRDS: Final = "customresourcedefinitions.apiextensions.k8s.io"
_NAMES_PER_COMMAND: Final = 200
# In lower case.
_REFERENCE: Final = re.compile(r".*secret(key)?refs?|writeconnectionsecrettoref")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The objects, and the kinds that could not be read, each with the reason.

    ``kubectl`` is the program; ``context`` selects the cluster, ``namespace`` what is read.
    ``others`` are more kinds to read, as kubectl names them: those that steps require.
    """

    kubectl: str
    context: str | None
    namespace: str | None
    others: Sequence[str]
    objects: list[Object] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)

    def to_text(self) -> str:
        """Return a list in JSON with one object on each line."""
        lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in self.objects)
        others = {"other namespaces": f"only {self.namespace} was read"} if self.namespace else {}
        unread = json.dumps({**self.unread, **others}, ensure_ascii=False)
        return f'{{"apiVersion":"v1","kind":"List","unread":{unread},"items":[\n{lines}\n]}}\n'

    def list_commands(self) -> list[list[str]]:
        """Return the commands that are known before the first one has run."""
        return [self._command(name) for name in (*_CROSSPLANE, *self.others)]

    def take(self, report: Callable[[str], None]) -> None:
        """Read the cluster; ``report`` gets the name of each kind before it is read.

        Raises InputError if kubectl cannot be started, or the XRDs cannot be read.
        """
        first, *others = _CROSSPLANE
        read: set[str] = set()
        keys: set[Key] = set()

        def run(label: str, command: Sequence[str]) -> list[Object]:
            report(label)
            try:
                return _run(command)
            except InputError as error:
                self.unread[label] = error.diagnostics[0].message
                return []

        def get(name: str, is_needed: Callable[[Object], bool] = bool) -> list[Object]:
            if name in read:
                return []
            read.add(name)
            needed = {
                manifests.key_of(each): each
                for each in run(name, self._command(name))
                if is_needed(each) and not manifests.is_secret(each, ())
            }
            # XRs may refer to a kind in two versions, which are read one after the other.
            own = [needed[key] for key in needed if key not in keys]
            keys.update(needed)
            self.objects.extend(own)
            return own

        definitions = get(first)
        if first in self.unread:
            raise InputError.of(f"cannot read the cluster: {self.unread[first]}")
        for name in (*others, *self.others):
            get(name)
        xrs = [xr for xrd in definitions for xr in get(_name_xrs(xrd))]
        xr_types = {manifests.defined_type(each) for each in definitions}
        references = (each for xr in xrs for each in references_of(xr))
        kinds = {_kind(each) for each in references if manifests.key_of(each)[:2] not in xr_types}
        for name in sorted(kinds - {""}):
            get(name)
        types = {manifests.key_of(each)[:2] for each in self.objects}
        # Those of all providers have many megabytes.
        get(_CRDS, lambda crd: manifests.defined_type(crd) in types)
        secrets: list[Object] = []
        for place, names in self._group_secrets():
            secrets += run(f"Secrets of {place}", self._command("secrets", place, names))
        _mask(secrets)
        self.objects.extend(secrets)

    def _group_secrets(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the namespaces of the Secrets that objects name, with names for one command."""
        places: dict[str, set[str]] = {}
        for manifest in self.objects:
            namespace = manifests.namespace(manifest)
            for reference in _find_references(manifest):
                place = manifests.text_at(reference, "namespace") or namespace
                name = manifests.text_at(reference, "name")
                if place and name and self.namespace in {None, place}:
                    places.setdefault(place, set()).add(name)
        for place, group in sorted(places.items()):
            names = sorted(group)
            for start in range(0, len(names), _NAMES_PER_COMMAND):
                yield place, names[start : start + _NAMES_PER_COMMAND]

    def _command(
        self, name: str, namespace: str | None = None, names: Sequence[str] = ()
    ) -> list[str]:
        """Return the command that reads objects of a kind, of ``namespace`` those of ``names``."""
        place = namespace or self.namespace
        return [
            self.kubectl,
            *(["--context", self.context] if self.context else []),
            "get",
            *(["--namespace", place] if place else ["--all-namespaces"]),
            *(["--ignore-not-found"] if names else []),
            *("--output", "json", "--show-managed-fields"),
            # The names come from objects of the cluster, and must not become flags of kubectl.
            "--",
            name,
            *names,
        ]


def _find_references(value: Value, key: str = "") -> Iterator[Object]:
    """Yield the references to Secrets in a value, which is that of ``key``."""
    if isinstance(value, list):
        for item in value:
            yield from _find_references(item, key)
    elif isinstance(value, dict):
        if manifests.is_secret(value, ()) or _REFERENCE.fullmatch(key.lower()):
            yield value
        for name, item in value.items():
            yield from _find_references(item, name)


def _mask(secrets: list[Object]) -> None:
    """Mask the values of Secrets; equal values have one mask. Raises InputError."""
    try:
        SecretMasker().find({"secrets": [*secrets]})
    except InputError as error:
        message = "cannot mask the values of the Secrets: they are too many or too large"
        raise InputError.of(message) from error
    for secret in secrets:
        manifests.add_texts(secret, {MASKED: "true"}, "metadata", "annotations")


def _name_xrs(xrd: Object) -> str:
    """Return the XRs of an XRD as kubectl names them, in the version that Compositions have."""
    versions = manifests.objects_at(xrd, "spec", "versions")
    names = [str(each.get("name")) for each in versions if each.get("referenceable") is True]
    plural, _, group = manifests.name(xrd).partition(".")
    return ".".join((plural, *names[:1], group))


def _kind(reference: Object) -> str:
    """Return the kind of a reference as kubectl reads it; empty for a Secret."""
    api_version, kind = objects.api_version_and_kind(reference)
    group, _, version = api_version.rpartition("/")
    if not kind or (api_version, kind) == manifests.SECRET:
        return ""
    return ".".join(part for part in (kind, version, group) if part) if group else kind


def _run(command: Sequence[str]) -> list[Object]:
    """Return the objects that a command prints. Raises InputError."""
    try:
        result = subprocess.run(  # noqa: S603 - the program that the user names, without a shell
            command, check=False, capture_output=True
        )
    except OSError as error:
        raise InputError.of(f'cannot start "{command[0]}": {cause_of(error)}') from error
    if result.returncode:
        lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InputError.of(lines[-1] if lines else f"exit code {result.returncode}")
    # Of several names none may exist, and then nothing is printed.
    if not result.stdout.strip():
        return []
    try:
        value = bounded.read_json(result.stdout)
    except ValueError as error:
        raise InputError.of(f"the output of kubectl cannot be read: {error}") from error
    items = value.get("items", [value]) if isinstance(value, dict) else None
    if not isinstance(items, list):
        raise InputError.of("the output of kubectl is no list")
    return [each for each in items if isinstance(each, dict)]
