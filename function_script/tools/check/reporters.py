"""Print a report as text for people, or as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from function_script import diagnostics
from function_script.source import Span
from function_script.tools import console as frames
from function_script.tools import step_inputs
from function_script.values import Object

if TYPE_CHECKING:
    from function_script.tools.check.findings import Finding, Report
    from function_script.tools.step_inputs import StepInput


def render_text(
    report: Report,
    *,
    colourful: bool = False,
    is_quiet: bool = False,
    columns: int | None = None,
) -> str:
    """Return a frame for each finding and, unless ``is_quiet``, the totals at the end."""
    parts = [
        diagnostics.to_frame(finding.diagnostic, finding.severity, columns)
        for finding in report.findings
    ]
    total = (
        f"Checked {_count(report.steps, 'step')} in {_count(report.files, 'file')}: "
        f"{_count(report.count('error'), 'error')}, {_count(report.count('warning'), 'warning')}"
    )
    if not is_quiet:
        parts.append("\n".join([total, *_unchecked_lines(report), *_uncompared(report)]))
    text = "\n\n".join(parts)
    return frames.colour_frames(text) if colourful else text


def _unchecked_lines(report: Report) -> Iterator[str]:
    lines: list[str] = []
    if report.others:
        yield f"Not looked at: {_count(len(report.others), 'step')} of other functions"
    for function in sorted({other.function for other in report.others}):
        steps = [other.step for other in report.others if other.function == function]
        lines.append(
            f"{len(steps)} of {function or 'no function'}: {', '.join(sorted(set(steps)))}"
        )
    yield from _indented(lines)
    if report.unchecked:
        count = _count(len(report.unchecked), "program")
        yield f"Not looked at: {count} that only a request brings"
    yield from _indented(
        f"{each.step or each.document.span()}: {_describe_source(each)}"
        for each in report.unchecked
    )
    if report.skipped:
        yield f"Not looked at: {_count(len(report.skipped), 'file')}"
    yield from _indented(f"{skipped.file}: {skipped.reason}" for skipped in report.skipped)


def _uncompared(report: Report) -> Iterator[str]:
    """Yield the line about missing schemas, and rules of schemas that were not evaluated."""
    gaps = report.uncompared
    counts = [
        (gaps.compositions, "Composition without its XRD", "Compositions without their XRDs"),
        (len(gaps.kinds), "composed kind without its CRD", "composed kinds without their CRDs"),
        (len(gaps.rules), "rule of an XRD", "rules of XRDs"),
    ]
    texts = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    if texts:
        yield f"Not compared: {', '.join(texts)}"


def _describe_source(step_input: StepInput) -> str:
    field = step_inputs.source_field(step_input)
    value = step_input.value.get(field)
    if isinstance(value, dict):
        return f"{field} {value.get('namespace')}/{value.get('name')}"
    if isinstance(value, list):
        return f"remote modules in {field}"
    return f"{field} {value}"


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {frames.one_line(line)}" for line in lines)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def render_json(report: Report) -> str:
    """Return the report as JSON; positions are 1-based, columns and widths count characters."""
    return json.dumps(to_object(report), indent=2, ensure_ascii=False)


def to_object(report: Report) -> Object:
    """Return the report as plain data."""
    return {
        "summary": {
            "files": report.files,
            "steps": report.steps,
            "errors": report.count("error"),
            "warnings": report.count("warning"),
            "notLookedAt": {
                "steps": len(report.others),
                "programs": len(report.unchecked),
                "files": len(report.skipped),
            },
            "notCompared": {
                "compositions": report.uncompared.compositions,
                "kinds": len(report.uncompared.kinds),
                "rules": len(report.uncompared.rules),
            },
        },
        "findings": [_finding(finding) for finding in report.findings],
        "notLookedAt": {
            "steps": [
                _with_position({"step": other.step, "function": other.function}, other.span)
                for other in report.others
            ],
            "programs": [
                _with_position(
                    {
                        "step": each.step,
                        "source": each.value.get("source") or step_inputs.source_field(each),
                    },
                    each.document.span((*each.path, step_inputs.source_field(each))),
                )
                for each in report.unchecked
            ],
            "files": [
                {"file": skipped.file, "reason": skipped.reason} for skipped in report.skipped
            ],
        },
        "notCompared": {
            "kinds": [
                {"apiVersion": kind.api_version, "kind": kind.kind}
                for kind in report.uncompared.kinds
            ],
            "rules": [rule.message for rule in report.uncompared.rules],
        },
    }


def _finding(finding: Finding) -> Object:
    problem = finding.diagnostic
    value: Object = {"rule": finding.rule, "severity": finding.severity}
    if finding.step:
        value["step"] = finding.step
    value["message"] = problem.message
    if problem.hint is not None:
        value["hint"] = problem.hint
    if problem.notes:
        value["notes"] = [str(note) for note in problem.notes]
    value = _with_position(value, problem.span)
    if problem.span is not None and problem.span.column is not None:
        value |= {"column": problem.span.column, "width": problem.span.width}
    return value


def _with_position(value: Object, span: Span | None) -> Object:
    return value if span is None else {**value, "file": span.name, "line": span.line}
