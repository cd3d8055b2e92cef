"""The verdict of a case, and reports of verdicts: text, JSON and JUnit XML."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from function_script.documents import Document
from function_script.request import objects
from function_script.request.values import Object, Value
from function_script.texts import diagnostics
from function_script.texts.diagnostics import Diagnostic, Form
from function_script.tools import author_positions, console
from function_script.tools.cases.model import Step, name_of


class Status(StrEnum):
    """The result of a case; NEW: a snapshot was written for the first time, to be reviewed."""

    PASSED = "PASS"
    FAILED = "FAIL"
    NEW = "SEED"
    UPDATED = "UPDATE"


_YELLOW: Final = "\x1b[33m"
_COLOURS: Final = {Status.PASSED: console.GREEN, Status.FAILED: console.RED}
_WORDS: Final = {
    Status.PASSED: "passed",
    Status.FAILED: "failed",
    Status.NEW: "seeded",
    Status.UPDATED: "updated",
}
# XML cannot represent these characters.
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class CaseVerdict:
    """The verdict of a case, which is collected while it runs; ``document`` is the case's.

    ``problems`` are reasons for failure, each with a unified diff if documents differ. ``written``
    are the ``expected`` files of documents that are NEW or UPDATED. ``reports`` are warnings and
    notes about the XR, each with its severity; ``printed`` is the output of its programs.
    """

    def __init__(self, path: Path, document: Document | None = None) -> None:
        self.name = name_of(path)
        self.path = path
        self.problems: list[tuple[Diagnostic, str]] = []
        self.written: dict[Path, Status] = {}
        self.expected: set[Path] = set()
        self.reports: list[tuple[Diagnostic, str]] = []
        self.printed: list[str] = []
        self.seconds = 0.0
        self._document = document
        self._of_results: list[Diagnostic] = []

    @property
    def status(self) -> Status:
        """The worst status so far."""
        if self.problems:
            return Status.FAILED
        if Status.NEW in self.written.values():
            return Status.NEW
        return Status.UPDATED if self.written else Status.PASSED

    def add_once(self, step: Step, problem: Diagnostic) -> None:
        """Add a problem of a step's result, unless an earlier step had the same one."""
        if problem not in self._of_results:
            self._of_results.append(problem)
            self.add(step, step.at, problem)

    def add(
        self, step: Step, at: objects.Path, diagnostic: Diagnostic, difference: str = ""
    ) -> None:
        """Add a problem; one without a position is at ``at`` in the case's file."""
        if diagnostic.span is None and self._document is not None:
            diagnostic = author_positions.locate(diagnostic, self._document, at)
        if step.at:
            diagnostic = replace(diagnostic, notes=(*diagnostic.notes, f"in {describe(step)}"))
        self.problems.append((diagnostic, difference))

    def report(self, problem: Diagnostic, severity: str) -> None:
        """Add a warning or a note, once for all steps."""
        if (problem, severity) not in self.reports:
            self.reports.append((problem, severity))

    def print(self, text: str) -> None:
        """Add the output of a program."""
        self.printed.append(text.rstrip("\n"))


def describe(step: Step) -> str:
    """Name a step of a sequence: ``step 2, "the database is there"``."""
    number = f"step {int(step.at[-1]) + 1}"
    return f'{number}, "{step.name}"' if step.name else number


def is_success(verdicts: Sequence[CaseVerdict]) -> bool:
    """Report whether no case failed, and no new snapshot has to be reviewed."""
    return all(verdict.status in {Status.PASSED, Status.UPDATED} for verdict in verdicts)


def to_text(verdict: CaseVerdict, *, colourful: bool = False) -> str:
    """Format a line, and below it the problems; without a line break at the end."""
    name = console.one_line(verdict.name)
    lines = [f"{verdict.status:<6} {name}"]
    if colourful:
        colour = _COLOURS.get(verdict.status, _YELLOW)
        lines = [f"{colour}{verdict.status}{console.PLAIN} {name}"]
    lines += [f"  wrote {path}, to be reviewed" for path in verdict.written]
    for frame in _frames(verdict, colourful=colourful):
        lines += ["", *_indent(frame)]
    for problem, difference in verdict.problems:
        text = console.to_frame(problem, colourful=colourful)
        if difference:
            text = f"{text}\n{console.colour_diff(difference) if colourful else difference}"
        lines += ["", *_indent(text)]
    if verdict.problems and verdict.printed:
        lines += ["", "  printed:", *_indent("\n".join(verdict.printed))]
    return "\n".join([*lines, ""] if verdict.problems or verdict.reports else lines)


def to_lines(verdict: CaseVerdict, form: Form) -> list[str]:
    """Format each problem on a line; a new snapshot is one, for it has to be reviewed."""
    problems = [*verdict.reports, *((each, "error") for each, _ in verdict.problems)]
    if verdict.status is Status.NEW:
        texts = (f"{path} is new: review it" for path in verdict.written)
        problems += [(Diagnostic(message=text), "error") for text in texts]
    return [
        diagnostics.to_form(problem, severity, form, case=verdict.name)
        for problem, severity in problems
    ]


def to_summary(verdicts: Sequence[CaseVerdict], *, of: int, seconds: float) -> str:
    """Format totals: ``2 passed, 1 failed in 0.3 s``; ``of`` is the number of all cases."""
    counts = [(sum(one.status is status for one in verdicts), status) for status in Status]
    parts = [f"{count} {_WORDS[status]}" for count, status in counts if count]
    if of > len(verdicts):
        parts.append(f"{of - len(verdicts)} not run")
    return f"{', '.join(parts)} in {seconds:.2f} s"


def to_json(verdicts: Sequence[CaseVerdict]) -> str:
    """Format all verdicts and the number of each status as JSON."""
    summary: Object = {
        word: sum(verdict.status is status for verdict in verdicts)
        for status, word in _WORDS.items()
    }
    cases: list[Value] = [_to_object(verdict) for verdict in verdicts]
    return json.dumps({"summary": summary, "cases": cases}, indent=2, ensure_ascii=False) + "\n"


def to_junit(verdicts: Sequence[CaseVerdict]) -> str:
    """Format one suite of JUnit XML; a new snapshot is a failure, for it has to be reviewed."""
    failures = sum(not is_success([verdict]) for verdict in verdicts)
    counts = {
        "tests": str(len(verdicts)),
        "failures": str(failures),
        "errors": "0",
        "time": f"{sum(verdict.seconds for verdict in verdicts):.3f}",
    }
    root = ET.Element("testsuites", counts)
    suite = ET.SubElement(root, "testsuite", {"name": "function-script", **counts})
    for verdict in verdicts:
        suite.append(_to_element(verdict))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _to_element(verdict: CaseVerdict) -> ET.Element:
    folder, _, name = verdict.name.rpartition("/")
    attributes = {
        "classname": folder or ".",
        "name": name,
        "file": str(verdict.path),
        "time": f"{verdict.seconds:.3f}",
    }
    case = ET.Element(
        "testcase", {key: _NOT_XML.sub("?", text) for key, text in attributes.items()}
    )
    if not is_success([verdict]):
        messages = [problem.message for problem, _ in verdict.problems]
        message = messages[0] if messages else f"{verdict.status}: to be reviewed"
        failure = ET.SubElement(case, "failure", {"message": _NOT_XML.sub("?", message)})
        failure.text = _NOT_XML.sub("?", to_text(verdict))
    if output := (*_frames(verdict), *verdict.printed):
        ET.SubElement(case, "system-out").text = _NOT_XML.sub("?", "\n".join(output))
    return case


def _to_object(verdict: CaseVerdict) -> Object:
    problems: list[Value] = [
        {
            **diagnostics.to_object(problem, "error"),
            "text": diagnostics.to_frame(problem),
            "difference": difference,
        }
        for problem, difference in verdict.problems
    ]
    return {
        "name": verdict.name,
        "file": str(verdict.path),
        "status": str(verdict.status),
        "seconds": round(verdict.seconds, 4),
        "problems": problems,
        "written": [*map(str, verdict.written)],
        "warnings": [*_frames(verdict)],
        "printed": [*verdict.printed],
    }


def _frames(verdict: CaseVerdict, *, colourful: bool = False) -> list[str]:
    return [console.to_frame(*report, colourful=colourful) for report in verdict.reports]


def _indent(text: str) -> list[str]:
    return [f"  {line}".rstrip() for line in text.split("\n")]
