"""A ResourceList: the text that an orchestrator such as kustomize or kpt writes and reads.

It has the items, the functionConfig and the results of a run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from function_script.documents import Document, editing
from function_script.request import objects
from function_script.request.reader import format_path
from function_script.request.values import Object, Value
from function_script.texts import diagnostics
from function_script.texts.errors import InputError
from function_script.texts.source import Source
from function_script.tools import bounded, manifests
from function_script.tools.krm.items import File

Severity: TypeAlias = Literal["error", "warning", "info"]

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
    documents = bounded.read_documents(source)
    if len(documents) != 1:
        raise InputError.of(
            f"cannot read {source.name}: it holds {len(documents)} objects instead of one "
            f"{_KIND} of {_GROUPS[0]}/v1",
            hint="kustomize and kpt write it; to render files, use `function-script render`",
        )
    (document,) = documents
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
    """One result: ``problem`` is about the field at ``path`` of ``subject``, in ``file``."""

    severity: Severity
    problem: diagnostics.Diagnostic
    subject: Object | None = None
    path: objects.Path = ()
    file: File | None = None

    def to_object(self) -> Object:
        """Return the entry of the ResourceList."""
        entry: Object = {
            "message": diagnostics.to_line((self.problem,)),
            "severity": self.severity,
        }
        if self.subject is None:
            return entry
        if manifests.name(self.subject):
            entry["resourceRef"] = _reference(self.subject)
            if self.path:
                entry["field"] = _field(self.subject, self.path)
        if self.file is not None:
            entry["file"] = {"path": self.file.path, "index": self.file.index}
        return entry


def _reference(subject: Object) -> Object:
    api_version, kind = objects.api_version_and_kind(subject)
    reference: Object = {"apiVersion": api_version, "kind": kind, "name": manifests.name(subject)}
    manifests.set_text(reference, manifests.namespace(subject), "namespace")
    return reference


def _field(subject: Object, path: objects.Path) -> Object:
    entry: Object = {"path": format_path(path)}
    value = objects.find_path(subject, path)
    # Results are printed and kept by orchestrators: no place for the data of a Secret.
    is_public = objects.api_version_and_kind(subject) != manifests.SECRET
    if is_public and _is_short(value):
        entry["currentValue"] = value  # type: ignore[assignment] # a scalar
    return entry


def _is_short(value: object) -> bool:
    """Report whether a value says something on one line; a program or an object does not."""
    if isinstance(value, str):
        return len(value) <= _MAX_VALUE_CHARACTERS and "\n" not in value
    return isinstance(value, (bool, int, float))
