"""The report of a check: findings, each with its position in a file."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from function_script.diagnostics import Diagnostic
from function_script.engines.lint import ResourceKind
from function_script.tools.step_inputs import OtherStep, StepInput

# An error stops the step; a warning is probably a mistake.
Severity: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem that a rule found. ``step`` is empty for files that are not YAML."""

    rule: str
    severity: Severity
    step: str
    diagnostic: Diagnostic


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A file that was not checked, and the reason."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncompared:
    """The parts that no schema was there for, or that nothing could evaluate.

    ``compositions`` counts those whose XR has no XRD, ``kinds`` are composed kinds without a CRD
    although CRDs were given, ``rules`` are those of XRDs.
    """

    compositions: int = 0
    kinds: tuple[ResourceKind, ...] = ()
    rules: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All findings, in the order of files and steps, and the number of checked files and steps.

    ``files`` counts those with a pipeline or an input of ours, and those that cannot be read.
    ``others`` are steps of other functions, ``unchecked`` those of ours whose program comes with a
    request.
    """

    findings: tuple[Finding, ...]
    files: int
    steps: int
    others: tuple[OtherStep, ...] = ()
    unchecked: tuple[StepInput, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    uncompared: Uncompared = Uncompared()

    def count(self, severity: Severity) -> int:
        """Return the number of findings of this severity."""
        return sum(finding.severity == severity for finding in self.findings)

    def is_success(self, *, strict: bool = False) -> bool:
        """Report whether there are no errors and, if ``strict``, no warnings."""
        return not self.count("error") and not (strict and self.findings)
