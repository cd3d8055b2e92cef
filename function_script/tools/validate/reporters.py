"""Formats of a report: text for people, JSON and YAML for programs, like the official command's.

Fields and lines are added where the official format lacks them; none is changed.
"""

import json
from collections.abc import Iterator
from typing import Final

from function_script import documents
from function_script.diagnostics import cut
from function_script.tools.console import one_line
from function_script.tools.validate.findings import Problem, Report, Result
from function_script.values import Object, Value

_NOT_EVALUATED: Final = {"cel": "CEL rule", "pattern": "pattern", "schema": "schema"}
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
        yield f"[x] {error} {gvk}, {name} : {problem.message}"
    for rule in result.unevaluated:
        field = f"{rule.field}: " if rule.field and rule.rule else rule.field
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
    fields: dict[str, Value] = {"type": problem.type}
    if problem.field:
        fields["field"] = problem.field
    fields["message"] = problem.message
    if problem.value is not None:
        fields["value"] = problem.value
    return fields
