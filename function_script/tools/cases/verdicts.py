"""The verdict of a case: its status, its problems, the snapshots that were written."""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from function_script import objects
from function_script.diagnostics import Diagnostic
from function_script.tools.cases.model import Case, Step, locate


class Status(StrEnum):
    """The result of a case; NEW: a snapshot was written for the first time, to be reviewed."""

    PASSED = "PASS"
    FAILED = "FAIL"
    NEW = "SEED"
    UPDATED = "UPDATE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A reason for failure; ``difference`` is a unified diff if documents differ."""

    diagnostic: Diagnostic
    difference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseVerdict:
    """The verdict of a case; ``printed`` is the output of its programs.

    ``reports`` are warnings and notes about the XR, as frames.
    """

    name: str
    path: Path
    status: Status
    problems: tuple[Problem, ...] = ()
    snapshots: tuple[Path, ...] = ()
    reports: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()
    seconds: float = 0.0


class VerdictBuilder:
    """Collects the verdict of a case while it runs."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self.problems: list[Problem] = []
        self.new_snapshots: list[Path] = []
        self.updated_snapshots: list[Path] = []
        self.reports: list[str] = []
        self.printed: list[str] = []

    def add(self, step: Step, at: objects.Path, problem: Problem) -> None:
        """Add a problem; one without a position is at ``at`` in the case's file."""
        diagnostic = problem.diagnostic
        if diagnostic.span is None:
            diagnostic = locate(diagnostic, self._case.document, at)
        if step.at:
            diagnostic = replace(diagnostic, notes=(*diagnostic.notes, f"in {describe(step)}"))
        self.problems.append(replace(problem, diagnostic=diagnostic))

    def report(self, frame: str) -> None:
        """Add a warning or a note, once for all steps."""
        if frame not in self.reports:
            self.reports.append(frame)

    def print(self, text: str) -> None:
        """Add the output of a program."""
        self.printed.append(text.rstrip("\n"))

    def status(self) -> Status:
        """Return the worst status so far."""
        if self.problems:
            return Status.FAILED
        if self.new_snapshots:
            return Status.NEW
        return Status.UPDATED if self.updated_snapshots else Status.PASSED


def describe(step: Step) -> str:
    """Name a step of a sequence: ``step 2, "the database is there"``."""
    number = f"step {int(step.at[-1]) + 1}"
    return f'{number}, "{step.name}"' if step.name else number
