"""What checking finds: a report of findings, each at its place in a file. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from function_script.diagnostics import Diagnostic
    from function_script.tools.step_inputs import OtherStep, StepInput

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
class Skipped:
    """A file that was not looked at, and why."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All findings, in the order of files and steps, and how much was looked at.

    ``files`` counts those with a pipeline or an input of ours, and those that cannot be read.
    ``others`` are the steps of other functions; ``unseen`` those of ours whose program only a
    request brings.
    """

    findings: tuple[Finding, ...]
    files: int
    steps: int
    others: tuple[OtherStep, ...] = ()
    unseen: tuple[StepInput, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    def count(self, severity: Severity) -> int:
        """How many findings have this severity."""
        return sum(finding.severity == severity for finding in self.findings)

    def is_success(self, *, strict: bool = False) -> bool:
        """Whether there are no errors and, if ``strict``, no warnings either."""
        return not self.count("error") and not (strict and self.findings)
