"""The report of a check: findings; as text for people, JSON, or SARIF for tools of code review."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self, TypeAlias
from urllib.parse import quote

from function_script import __version__
from function_script.engines.lint import ResourceKind
from function_script.request.values import Object
from function_script.texts import diagnostics
from function_script.texts.source import Span
from function_script.tools import console, step_inputs
from function_script.tools.check.rules import RULES, UNREACHED, Rule, Severity
from function_script.tools.check.searching import File

SARIF_VERSION: Final = "2.1.0"
_SARIF_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
)


Place: TypeAlias = tuple[str, int] | None
"""The file and the line of a finding; None without a position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem that a rule found. ``step`` is empty for files that are not YAML."""

    rule: str
    severity: Severity
    step: str
    diagnostic: diagnostics.Diagnostic

    @classmethod
    def of(cls, rule: Rule, diagnostic: diagnostics.Diagnostic, step: str = "") -> Self:
        """Return the finding of a rule."""
        return cls(rule=rule.name, severity=rule.severity, step=step, diagnostic=diagnostic)

    @property
    def place(self) -> Place:
        """The line of the finding."""
        span = self.diagnostic.span
        return None if span is None else (span.name, span.line)


class Report:
    """All findings, in the order of files and steps, and the number of checked files and steps.

    ``files`` counts those with a pipeline or an input of ours, and those that cannot be read.
    ``others`` are steps of other functions, ``unchecked`` those of ours whose program comes with a
    request. ``unreached`` are errors of runs that are no findings: the program refuses on purpose,
    or needs what is not at hand; and the branches that no run entered. ``variants`` are the XRs
    that runs were made of, by number.

    No schema was there for the XRs of ``untyped`` Compositions, nor, although CRDs were given, for
    the composed ``kinds``. ``rules`` of XRDs could not be evaluated. ``packages`` are sentences
    about those whose schemas are not here.
    """

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.files = 0
        self.steps = 0
        self.others: list[step_inputs.StepInput] = []
        self.unchecked: list[step_inputs.StepInput] = []
        self.skipped: list[File] = []
        self.unreached: list[Finding] = []
        self.variants: list[Object] = []
        self.untyped = 0
        self.kinds: set[ResourceKind] = set()
        self.rules: list[diagnostics.Diagnostic] = []
        self.packages: Sequence[str] = ()

    def add(self, rule: Rule, problems: Iterable[diagnostics.Diagnostic], step: str = "") -> None:
        """Add what a rule found."""
        self.findings += (Finding.of(rule, problem, step) for problem in problems)

    def count(self, severity: Severity) -> int:
        """Return the number of findings of this severity."""
        return sum(finding.severity == severity for finding in self.findings)

    def is_success(self, *, strict: bool = False) -> bool:
        """Report whether there are no errors and, if ``strict``, no warnings."""
        return not self.count("error") and not (strict and self.findings)


def render_text(
    report: Report,
    *,
    colourful: bool = False,
    is_quiet: bool = False,
    columns: int | None = None,
) -> str:
    """Return a frame for each finding and, unless ``is_quiet``, the totals at the end."""
    parts = [
        console.to_frame(finding.diagnostic, finding.severity, columns, colourful=colourful)
        for finding in report.findings
    ]
    errors, warnings = (
        console.count(report.count(severity), severity) for severity in ("error", "warning")
    )
    steps, files = console.count(report.steps, "step"), console.count(report.files, "file")
    total = f"Checked {steps} in {files}: {errors}, {warnings}"
    if not is_quiet:
        parts.append("\n".join([total, *_gaps(report)]))
    return "\n\n".join(parts)


def _gaps(report: Report) -> Iterator[str]:
    """Yield lines about the parts that were not looked at, or compared with no schema."""
    lines: list[str] = []
    if report.others:
        yield f"Not looked at: {console.count(len(report.others), 'step')} of other functions"
    for function in sorted({other.function for other in report.others}):
        steps = [other.step for other in report.others if other.function == function]
        lines.append(
            f"{len(steps)} of {function or 'no function'}: {', '.join(sorted(set(steps)))}"
        )
    yield from _indented(lines)
    if report.unchecked:
        count = console.count(len(report.unchecked), "program")
        yield f"Not looked at: {count} that only a request brings"
    lines = []
    for each in report.unchecked:
        field = step_inputs.source_field(each)
        value = each.value.get(field)
        source = f"{field} {value}"
        if isinstance(value, dict):
            source = f"{field} {value.get('namespace')}/{value.get('name')}"
        elif isinstance(value, list):
            source = f"modules in {field}"
        lines.append(f"{each.step or each.document.span()}: {source}")
    yield from _indented(lines)
    if report.skipped:
        yield f"Not looked at: {console.count(len(report.skipped), 'file')}"
    yield from _indented(f"{file.name}: {file.skipped}" for file in report.skipped)
    if report.unreached:
        yield f"Not reached: code at {console.count(len(report.unreached), 'line')}, or after it"
    yield from _indented(
        f"{each.diagnostic.span or each.step or 'runs'}: "
        f"{'' if each.rule == UNREACHED.name else 'a run ended here: '}"
        f"{', '.join([each.diagnostic.message, *map(str, each.diagnostic.notes[-1:])])}"
        for each in report.unreached
    )
    counts = [
        (report.untyped, "Composition without its XRD", "Compositions without their XRDs"),
        (len(report.kinds), "composed kind without its CRD", "composed kinds without their CRDs"),
        (len(report.rules), "rule of an XRD", "rules of XRDs"),
        (len(report.packages), "source of schemas", "sources of schemas"),
    ]
    texts = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    if texts:
        yield f"Not compared: {', '.join(texts)}"
    yield from _indented(report.packages)


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {console.one_line(line)}" for line in lines)


def render_diagnostics(report: Report, form: diagnostics.Form) -> str:
    """Return a line for each finding, and for each line that was not reached."""
    return "\n".join(
        diagnostics.to_form(
            finding.diagnostic, finding.severity, form, rule=finding.rule, step=finding.step
        )
        for finding in (*report.findings, *report.unreached)
    )


def render_json(report: Report) -> str:
    """Return the report as JSON; positions are 1-based, columns and widths count characters."""
    value = {
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
                "compositions": report.untyped,
                "kinds": len(report.kinds),
                "rules": len(report.rules),
            },
        },
        "findings": [_finding(finding) for finding in report.findings],
        "notLookedAt": {
            "steps": [
                _with_position(
                    {"step": other.step, "function": other.function},
                    other.document.span(other.path[:-1]),
                )
                for other in report.others
            ],
            "programs": [
                _with_position(
                    {
                        "step": each.step,
                        "source": each.value[field] if field == "source" else field,
                    },
                    each.document.span((*each.path, field)),
                )
                for each in report.unchecked
                for field in [step_inputs.source_field(each)]
            ],
            "files": [{"file": file.name, "reason": file.skipped} for file in report.skipped],
        },
        **(
            {"notReached": [_finding(each) for each in report.unreached]}
            if report.unreached
            else {}
        ),
        "notCompared": {
            "kinds": [
                {"apiVersion": kind.api_version, "kind": kind.kind} for kind in sorted(report.kinds)
            ],
            "rules": [rule.message for rule in report.rules],
            **({"packages": [*report.packages]} if report.packages else {}),
        },
    }
    return json.dumps(value, indent=2, ensure_ascii=False)


def _finding(finding: Finding) -> Object:
    value = diagnostics.to_object(finding.diagnostic, finding.severity, step=finding.step)
    return {"rule": finding.rule, **value}


def _with_position(value: Object, span: Span | None) -> Object:
    return value if span is None else {**value, "file": span.name, "line": span.line}


def render_sarif(report: Report) -> str:
    """Return the report as one run of the tool; columns count Unicode characters, from 1.

    Severities are SARIF's levels; rules are those of the reference page.
    """
    value = {
        "$schema": _SARIF_SCHEMA,
        "version": SARIF_VERSION,
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "function-script",
                        "semanticVersion": __version__,
                        "rules": [
                            {
                                "id": rule.name,
                                "shortDescription": {"text": rule.means},
                                "defaultConfiguration": {"level": rule.severity},
                            }
                            for rule in RULES
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding) for finding in report.findings],
            }
        ],
    }
    return json.dumps(value, indent=2, ensure_ascii=False)


def _result(finding: Finding) -> Object:
    problem = finding.diagnostic
    text = problem.message if problem.hint is None else f"{problem.message}\n{problem.hint}"
    result: Object = {
        "ruleId": finding.rule,
        "ruleIndex": [rule.name for rule in RULES].index(finding.rule),
        "level": finding.severity,
        "message": {"text": text},
    }
    span = problem.span
    if span is None:
        return result
    # Reviews need a relative reference for a relative path.
    path = Path(span.name)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix(), errors="surrogateescape")
    region: Object = {"startLine": span.line}
    if span.column is not None:
        end = span.column + max(1, span.width)
        region |= {"startColumn": span.column, "endColumn": end}
    physical: Object = {"artifactLocation": {"uri": uri}, "region": region}
    location: Object = {"physicalLocation": physical}
    if finding.step:
        location["logicalLocations"] = [{"name": finding.step, "kind": "member"}]
    return {**result, "locations": [location]}
