"""The report of a validation: a result for each resource, and the report as text, JSON or YAML."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from function_script import documents
from function_script.request.values import Object, Value
from function_script.texts.diagnostics import Diagnostic, Form, cut, to_form
from function_script.texts.source import Span
from function_script.tools.console import one_line

# Two types are ours: `program` for a step's program that does not compile, and `unreadable` for a
# document or a file. The others are the official CLI's.
ErrorType: TypeAlias = Literal["schema", "cel", "unknownField", "program", "unreadable"]
Status: TypeAlias = Literal["valid", "invalid", "missingSchema", "notEvaluated"]
Severity: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem of a resource. ``message`` begins with the field's path where there is one.

    ``field`` is as the official command prints it. ``path`` is the value's path; empty for the
    object as a whole. ``span`` is its position in the author's file. ``writer`` says of which
    resource it is, and where it was written; empty for what was not rendered here.
    """

    type: ErrorType
    message: str
    field: str = ""
    value: Value = None
    path: str = ""
    span: Span | None = None
    writer: str = ""
    hint: str | None = None
    severity: Severity = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedRule:
    """A rule or a pattern that was not checked, and the reason."""

    field: str
    rule: str
    reason: str
    type: Literal["cel", "pattern"] = "cel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of one resource; ``name`` may be empty."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    status: Status = "valid"
    problems: tuple[Problem, ...] = ()
    unevaluated: tuple[SkippedRule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All results in the order of the resources; ``notes`` are for people only."""

    results: tuple[Result, ...] = ()
    notes: tuple[str, ...] = ()

    def count(self, status: Status) -> int:
        """Return the number of results with this status."""
        return sum(result.status == status for result in self.results)

    def is_success(self, *, error_on_missing_schemas: bool = False) -> bool:
        """Report whether nothing is invalid, and optionally whether everything was checked."""
        unchecked = self.count("missingSchema") + self.count("notEvaluated")
        return not self.count("invalid") and not (error_on_missing_schemas and unchecked)


_NOT_EVALUATED: Final = {"cel": "CEL rule", "pattern": "pattern"}
_MAX_RULE_CHARACTERS: Final = 500
_ERRORS: Final = {"cel": "CEL validation error", "program": "program error"}


def render_text(report: Report, *, skip_success_results: bool = False) -> str:
    """One line for each finding and a last one with the totals."""
    lines = [
        line
        for result in report.results
        for line in _lines(result)
        if not (skip_success_results and line.startswith("[✓]"))
    ]
    total = (
        f"Total {len(report.results)} resources: {report.count('missingSchema')} missing schemas, "
        f"{report.count('valid')} success cases, {report.count('invalid')} failure cases"
    )
    skipped = report.count("notEvaluated")
    return "\n".join([*lines, f"{total}, {skipped} not evaluated" if skipped else total])


def render_diagnostics(report: Report, form: Form) -> str:
    """Return a line for each problem, and for each schema and rule that is missing."""
    lines = []
    for result in report.results:
        resource = f"{result.kind} {result.name}".strip()
        facts = {"apiVersion": result.api_version, "kind": result.kind, "name": result.name}
        problems = list(result.problems)
        if result.status == "missingSchema":
            problems.append(_warn("there is no CRD or XRD of this kind"))
        for rule in result.unevaluated:
            what = f"{_NOT_EVALUATED[rule.type]} not evaluated: {rule.rule} ({rule.reason})"
            problems.append(_warn(what))
        for each in problems:
            message = f"{resource}: {each.message}"
            problem = Diagnostic(message=message, span=each.span, hint=each.hint)
            lines.append(f"{to_form(problem, each.severity, form, **facts)}\n")
    return "".join(lines)


def _warn(message: str) -> Problem:
    return Problem(type="schema", message=message, severity="warning")


def render_json(report: Report) -> str:
    """Return the whole report as indented JSON."""
    return json.dumps(to_object(report), indent=2, ensure_ascii=False)


def render_yaml(report: Report) -> str:
    """Return the whole report as YAML."""
    return documents.to_yaml(to_object(report))


def to_object(report: Report) -> Object:
    """Return the report as plain data."""
    skipped = report.count("notEvaluated")
    return {
        "summary": {
            "total": len(report.results),
            "valid": report.count("valid"),
            "invalid": report.count("invalid"),
            "missingSchemas": report.count("missingSchema"),
            **({"notEvaluated": skipped} if skipped else {}),
        },
        "resources": [_resource(result) for result in report.results],
    }


def _lines(result: Result) -> Iterator[str]:
    gvk = one_line(f"{result.api_version}, Kind={result.kind}")
    name = one_line(result.name)
    if result.status == "missingSchema":
        yield f"[!] could not find CRD/XRD for: {gvk}"
    for problem in result.problems:
        if problem.type == "unreadable":
            yield f"[x] {problem.message}"
            continue
        error = _ERRORS.get(problem.type, "schema validation error")
        mark = "x"
        if problem.severity == "warning":
            mark, error = "!", "schema validation warning"
        behind = "".join(f" ({one_line(text)})" for text in (problem.hint, problem.writer) if text)
        yield f"[{mark}] {error} {gvk}, {name} : {problem.message}{behind}"
    for rule in result.unevaluated:
        field = f"{rule.field}: " if rule.field else ""
        text = cut(" ".join(rule.rule.split()), _MAX_RULE_CHARACTERS)
        kind = _NOT_EVALUATED[rule.type]
        yield f"[!] {kind} not evaluated {gvk}, {name} : {field}{text} ({rule.reason})"
    if result.status == "valid":
        yield f"[✓] {gvk}, {name} validated successfully"


def _resource(result: Result) -> Object:
    entry: Object = {
        "apiVersion": result.api_version,
        "kind": result.kind,
        "name": result.name,
    }
    if result.namespace:
        entry["namespace"] = result.namespace
    entry["status"] = result.status
    if result.problems:
        entry["errors"] = [_error(problem) for problem in result.problems]
    if result.unevaluated:
        entry["notEvaluated"] = [
            {"field": rule.field, "rule": rule.rule, "reason": rule.reason}
            for rule in result.unevaluated
        ]
    return entry


def _error(problem: Problem) -> Object:
    fields: Object = {
        "type": problem.type,
        "field": problem.field or None,
        "message": problem.message,
        "value": problem.value,
        "hint": problem.hint or None,
        "severity": "warning" if problem.severity == "warning" else None,
        "writer": problem.writer or None,
    }
    return {key: value for key, value in fields.items() if value is not None}
