"""A report as text for people, or as JSON for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from function_script import diagnostics
from function_script.tools import console as frames

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from function_script.source import Span
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
    text = "\n\n".join(found if is_quiet else [*found, "\n".join([total, *_not_looked_at(report)])])
    return frames.painted(text) if colourful else text


def _not_looked_at(report: Report) -> Iterator[str]:
    lines: list[str] = []
    if report.others:
        yield f"Not looked at: {_count(len(report.others), 'step')} of other functions"
    for function in sorted({other.function for other in report.others}):
        steps = [other.step for other in report.others if other.function == function]
        lines.append(
            f"{len(steps)} of {function or 'no function'}: {', '.join(sorted(set(steps)))}"
        )
    yield from _indented(lines)
    if report.unseen:
        yield f"Not looked at: {_count(len(report.unseen), 'program')} that only a request brings"
    yield from _indented(
        f"{each.step or each.document.span()}: source {each.value.get('source')}"
        for each in report.unseen
    )
    if report.skipped:
        yield f"Not looked at: {_count(len(report.skipped), 'file')}"
    yield from _indented(f"{skipped.file}: {skipped.reason}" for skipped in report.skipped)


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {frames.one_line(line)}" for line in lines)


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
            "notLookedAt": {
                "steps": len(report.others),
                "programs": len(report.unseen),
                "files": len(report.skipped),
            },
        },
        "findings": [_finding(finding) for finding in report.findings],
        "notLookedAt": {
            "steps": [
                _placed({"step": other.step, "function": other.function}, other.span)
                for other in report.others
            ],
            "programs": [
                _placed(
                    {"step": found.step, "source": found.value.get("source")},
                    found.document.span((*found.path, "source")),
                )
                for found in report.unseen
            ],
            "files": [
                {"file": skipped.file, "reason": skipped.reason} for skipped in report.skipped
            ],
        },
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
        found["notes"] = [str(note) for note in problem.notes]
    if problem.span is not None:
        found["file"] = problem.span.name
        found["line"] = problem.span.line
        if problem.span.column is not None:
            found |= {"column": problem.span.column, "width": problem.span.width}
    return found


def _placed(found: Object, span: Span | None) -> Object:
    return found if span is None else {**found, "file": span.name, "line": span.line}
