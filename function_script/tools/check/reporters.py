"""A report as text for people, or as JSON for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from function_script import diagnostics
from function_script.tools import report as frames

if TYPE_CHECKING:
    from function_script.tools.check.findings import Finding, Report
    from function_script.values import Object


def render_text(report: Report, *, colourful: bool = False, is_quiet: bool = False) -> str:
    """A frame for each finding and, unless ``is_quiet``, a last line with the totals."""
    found = [
        diagnostics.to_frame(finding.diagnostic, finding.severity) for finding in report.findings
    ]
    total = (
        f"Checked {_count(report.steps, 'step')} in {_count(report.files, 'file')}: "
        f"{_count(report.count('error'), 'error')}, {_count(report.count('warning'), 'warning')}"
    )
    text = "\n\n".join(found if is_quiet else [*found, total])
    return frames.painted(text) if colourful else text


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def render_json(report: Report) -> str:
    """The whole report, indented; positions are 1-based, columns and widths count characters."""
    return json.dumps(to_object(report), indent=2, ensure_ascii=False)


def to_object(report: Report) -> Object:
    """The report as plain data."""
    return {
        "summary": {
            "files": report.files,
            "steps": report.steps,
            "errors": report.count("error"),
            "warnings": report.count("warning"),
        },
        "findings": [_finding(finding) for finding in report.findings],
    }


def _finding(finding: Finding) -> Object:
    problem = finding.diagnostic
    found: Object = {"rule": finding.rule, "severity": finding.severity}
    if finding.step:
        found["step"] = finding.step
    found["message"] = problem.message
    if problem.hint is not None:
        found["hint"] = problem.hint
    if problem.notes:
        found["notes"] = list(problem.notes)
    if problem.span is not None:
        found["file"] = problem.span.name
        found["line"] = problem.span.line
        if problem.span.column is not None:
            found |= {"column": problem.span.column, "width": problem.span.width}
    return found
