"""Write a dump of a cluster for `plan`, with the kubectl of the user and the user's rights.

Only reads are made, and no Secret is read: XRDs, Compositions and their revisions, Functions, all
XRs, what they refer to, and the CRDs of these kinds.
"""

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from function_script.request import objects
from function_script.request.values import Object
from function_script.texts.errors import InputError
from function_script.tools import bounded, manifests
from function_script.tools.plan.dump import key_of, references_of

_CROSSPLANE: Final = (
    "compositeresourcedefinitions.apiextensions.crossplane.io",
    "compositions.apiextensions.crossplane.io",
    "compositionrevisions.apiextensions.crossplane.io",
    "functions.pkg.crossplane.io",
)
_CRDS: Final = "customresourcedefinitions.apiextensions.k8s.io"
_SECRETS: Final = ("v1", "Secret")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """``kubectl`` is the program; ``arguments`` select the cluster, and may select a namespace.

    ``others`` are more kinds to read, as kubectl names them: those that steps require.
    """

    kubectl: str = "kubectl"
    arguments: Sequence[str] = ()
    others: Sequence[str] = ()
    is_namespaced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The objects, and the kinds that could not be read, each with the reason."""

    objects: list[Object] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)

    def to_text(self) -> str:
        """Return a list in JSON with one object on each line."""
        lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in self.objects)
        return f'{{"apiVersion":"v1","kind":"List","items":[\n{lines}\n]}}\n'


def commands(options: Options) -> Iterator[list[str]]:
    """Yield the commands that are known before the first one has run."""
    for name in (*_CROSSPLANE, *options.others):
        yield _command(options, name)


def take(options: Options, report: Callable[[str], None]) -> Snapshot:
    """Read the cluster; ``report`` gets the name of each kind before it is read.

    Raises InputError if kubectl cannot be started, or the XRDs cannot be read.
    """
    snapshot = Snapshot()
    read: set[str] = set()

    def get(name: str, is_needed: Callable[[Object], bool] = bool) -> list[Object]:
        if name in read:
            return []
        read.add(name)
        report(name)
        try:
            items = [*filter(is_needed, _get(options, name))]
        except InputError as error:
            snapshot.unread[name] = error.diagnostics[0].message
            return []
        snapshot.objects.extend(items)
        return items

    first, *others = _CROSSPLANE
    definitions = get(first)
    if first in snapshot.unread:
        raise InputError.of(f"cannot read the cluster: {snapshot.unread[first]}")
    for name in (*others, *options.others):
        get(name)
    xrs = [xr for xrd in definitions for xr in get(_plural(xrd))]
    kinds = {_kind(reference) for xr in xrs for reference in references_of(xr)}
    for name in sorted(kinds - {""}):
        get(name)
    types = {key_of(each)[:2] for each in snapshot.objects}
    # Those of all providers have many megabytes.
    get(_CRDS, lambda crd: manifests.defined_type(crd) in types)
    return snapshot


def _plural(xrd: Object) -> str:
    names = ("spec", "names", "plural")
    return f"{manifests.text_at(xrd, *names)}.{manifests.text_at(xrd, 'spec', 'group')}"


def _kind(reference: Object) -> str:
    """Return the kind of a reference as kubectl reads it; empty for a Secret."""
    api_version, kind = objects.api_version_and_kind(reference)
    group, _, version = api_version.rpartition("/")
    if not kind or (api_version, kind) == _SECRETS:
        return ""
    return ".".join(part for part in (kind, version, group) if part) if group else kind


def _command(options: Options, name: str) -> list[str]:
    scope = [] if options.is_namespaced else ["--all-namespaces"]
    form = ["--output", "json", "--show-managed-fields"]
    return [options.kubectl, *options.arguments, "get", name, *scope, *form]


def _get(options: Options, name: str) -> list[Object]:
    command = _command(options, name)
    try:
        result = subprocess.run(  # noqa: S603 - the program that the user names, without a shell
            command, check=False, capture_output=True
        )
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise InputError.of(f'cannot start "{options.kubectl}": {cause}') from error
    if result.returncode:
        lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InputError.of(lines[-1] if lines else f"exit code {result.returncode}")
    try:
        value = bounded.read_json(result.stdout)
    except ValueError as error:
        raise InputError.of(f"the output of kubectl cannot be read: {error}") from error
    items = value.get("items") if isinstance(value, dict) else None
    if not isinstance(items, list):
        raise InputError.of("the output of kubectl is no list")
    manifests_ = [each for each in items if isinstance(each, dict)]
    return [each for each in manifests_ if objects.api_version_and_kind(each) != _SECRETS]
