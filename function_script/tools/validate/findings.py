"""The values of a validation report: one result for each resource, with its problems."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from function_script.values import Value

# Two types are ours: `program` for a step's program that does not compile, and `unreadable` for a
# document or a file. The others are the official CLI's.
ErrorType: TypeAlias = Literal["schema", "cel", "unknownField", "program", "unreadable"]
Status: TypeAlias = Literal["valid", "invalid", "missingSchema", "notEvaluated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem of a resource. ``message`` begins with the field's path where there is one.

    ``field`` is as the official command prints it. ``path`` is the value's path; empty for the
    object as a whole.
    """

    type: ErrorType
    message: str
    field: str = ""
    value: Value = None
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedRule:
    """A rule, a pattern or a field that was not checked, and the reason.

    ``rule`` is empty for a field whose schema is unknown.
    """

    field: str
    rule: str
    reason: str
    type: Literal["cel", "pattern", "schema"] = "cel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of one resource; ``name`` may be empty."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    status: Status = "valid"
    problems: tuple[Problem, ...] = ()
    unevaluated: tuple[SkippedRule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All results in the order of the resources; ``notes`` are for people only."""

    results: tuple[Result, ...] = ()
    notes: tuple[str, ...] = ()

    def count(self, status: Status) -> int:
        """Return the number of results with this status."""
        return sum(result.status == status for result in self.results)

    def is_success(self, *, error_on_missing_schemas: bool = False) -> bool:
        """Report whether nothing is invalid, and optionally whether everything was checked."""
        unchecked = self.count("missingSchema") + self.count("notEvaluated")
        return not self.count("invalid") and not (error_on_missing_schemas and unchecked)
