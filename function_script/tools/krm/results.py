"""The results of a run, as the specification of KRM functions has them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from function_script import diagnostics, objects
from function_script.diagnostics import Diagnostic
from function_script.reader import format_path
from function_script.tools import manifests
from function_script.tools.krm.items import File
from function_script.values import Object

Severity: TypeAlias = Literal["error", "warning", "info"]

_MAX_VALUE_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One result: ``problem`` is about the field at ``path`` of ``subject``, in ``file``."""

    severity: Severity
    problem: Diagnostic
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


def has_error(results: Iterable[Result]) -> bool:
    """Report whether the function failed."""
    return any(result.severity == "error" for result in results)


def _reference(subject: Object) -> Object:
    api_version, kind = objects.api_version_and_kind(subject)
    reference: Object = {"apiVersion": api_version, "kind": kind, "name": manifests.name(subject)}
    manifests.set_text(reference, manifests.namespace(subject), "namespace")
    return reference


def _field(subject: Object, path: objects.Path) -> Object:
    entry: Object = {"path": format_path(path)}
    value = objects.find_path(subject, path)
    if _is_short(value):
        entry["currentValue"] = value  # type: ignore[assignment] # a scalar
    return entry


def _is_short(value: object) -> bool:
    """Report whether a value says something on one line; a program or an object does not."""
    if isinstance(value, str):
        return len(value) <= _MAX_VALUE_CHARACTERS and "\n" not in value
    return isinstance(value, (bool, int, float))
