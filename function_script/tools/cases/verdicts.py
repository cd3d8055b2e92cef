"""What came of a case: how it went, what is wrong with it, which files were written.

Filled while a case runs; read by the reports.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from function_script.tools.cases.model import placed

if TYPE_CHECKING:
    from pathlib import Path

    from function_script import objects
    from function_script.diagnostics import Diagnostic
    from function_script.tools.cases.model import Case, Step


class Status(StrEnum):
    """How a case went; SEED: it expected nothing, and what it gave was written to be reviewed."""

    PASSED = "PASS"
    FAILED = "FAIL"
    SEEDED = "SEED"
    UPDATED = "UPDATE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why a case failed; ``difference`` is a unified diff, if the documents differ."""

    diagnostic: Diagnostic
    difference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What came of a case. ``printed`` is what its programs printed."""

    name: str
    path: Path
    status: Status
    problems: tuple[Problem, ...] = ()
    written: tuple[Path, ...] = ()
    printed: tuple[str, ...] = ()
    seconds: float = 0.0


class Notes:
    """What is noted while a case runs."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self.problems: list[Problem] = []
        self.seeded: list[Path] = []
        self.updated: list[Path] = []
        self.printed: list[str] = []

    def add(self, step: Step, at: objects.Path, problem: Problem) -> None:
        """A problem; without a place of its own it is at ``at`` in the case's file."""
        found = problem.diagnostic
        if found.span is None:
            found = placed(found, self._case.document, at)
        if step.at:
            found = replace(found, notes=(*found.notes, f"in {describe(step)}"))
        self.problems.append(replace(problem, diagnostic=found))

    def print(self, text: str) -> None:
        """What a program printed."""
        self.printed.append(text.rstrip("\n"))

    def status(self) -> Status:
        """The worst of what happened."""
        if self.problems:
            return Status.FAILED
        if self.seeded:
            return Status.SEEDED
        return Status.UPDATED if self.updated else Status.PASSED


def describe(step: Step) -> str:
    """How messages call a step of a sequence: ``step 2, "the database is there"``."""
    number = f"step {int(step.at[-1]) + 1}"
    return f'{number}, "{step.name}"' if step.name else number
