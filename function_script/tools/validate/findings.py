"""What validation finds: a report of results, one for each resource. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from function_script.values import Value

# Two are ours: `program`, a step's program that does not compile, and `unreadable`, a document or
# a file. The others are the official CLI's.
ErrorType: TypeAlias = Literal["schema", "cel", "unknownField", "program", "unreadable"]
Status: TypeAlias = Literal["valid", "invalid", "missingSchema", "notEvaluated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem of a resource. ``message`` begins with the field's path where there is one."""

    type: ErrorType
    message: str
    field: str = ""
    value: Value = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedRule:
    """A rule or a pattern that was not evaluated, or a field whose schema is not known, and why.

    ``rule`` is empty for a field.
    """

    field: str
    rule: str
    reason: str
    type: Literal["cel", "pattern", "schema"] = "cel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What was found about one resource. ``name`` may be empty."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    status: Status = "valid"
    problems: tuple[Problem, ...] = ()
    unevaluated: tuple[SkippedRule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All results in the order of the resources; ``notes`` are for people, not part of results."""

    results: tuple[Result, ...] = ()
    notes: tuple[str, ...] = ()

    def count(self, status: Status) -> int:
        """How many results have this status."""
        return sum(result.status == status for result in self.results)

    def is_success(self, *, error_on_missing_schemas: bool = False) -> bool:
        """Whether nothing is invalid and, if that matters, nothing was left unchecked."""
        unchecked = self.count("missingSchema") + self.count("notEvaluated")
        return not self.count("invalid") and not (error_on_missing_schemas and unchecked)
