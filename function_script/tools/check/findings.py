"""What checking finds: a report of findings, each at its place in a file. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from function_script.diagnostics import Diagnostic

# An error stops the step; a warning is something that nobody means.
Severity: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a rule found. ``step`` is empty where there is none: for files that are no YAML."""

    rule: str
    severity: Severity
    step: str
    diagnostic: Diagnostic


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All findings, in the order of files and steps, and how much was looked at."""

    findings: tuple[Finding, ...]
    files: int
    steps: int

    def count(self, severity: Severity) -> int:
        """How many findings have this severity."""
        return sum(finding.severity == severity for finding in self.findings)

    def is_success(self, *, strict: bool = False) -> bool:
        """Whether there are no errors and, if ``strict``, no warnings either."""
        return not self.count("error") and not (strict and self.findings)
