"""Print a report as SARIF 2.1.0, the format of code review tools.

Severities are SARIF's levels; rules are those of the reference page.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from function_script import __version__
from function_script.source import Span
from function_script.tools.check.rules import RULES
from function_script.values import Object

if TYPE_CHECKING:
    from function_script.tools.check.findings import Finding, Report
    from function_script.tools.check.rules import Rule

VERSION: Final = "2.1.0"
_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_STDIN: Final = "stdin"


def render_sarif(report: Report) -> str:
    """Return the report as one run of the tool; columns count Unicode characters, from 1."""
    return json.dumps(to_object(report), indent=2, ensure_ascii=False)


def to_object(report: Report) -> Object:
    """Return the log file as plain data."""
    return {
        "$schema": _SCHEMA,
        "version": VERSION,
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "function-script",
                        "semanticVersion": __version__,
                        "rules": [_rule(rule) for rule in RULES],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding) for finding in report.findings],
            }
        ],
    }


def _rule(rule: Rule) -> Object:
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.means},
        "defaultConfiguration": {"level": rule.severity},
    }


def _result(finding: Finding) -> Object:
    problem = finding.diagnostic
    text = problem.message if problem.hint is None else f"{problem.message}\n{problem.hint}"
    result: Object = {
        "ruleId": finding.rule,
        "ruleIndex": [rule.name for rule in RULES].index(finding.rule),
        "level": finding.severity,
        "message": {"text": text},
    }
    if problem.span is not None:
        result["locations"] = [_location(problem.span, finding.step)]
    return result


def _location(span: Span, step: str) -> Object:
    physical: Object = {"artifactLocation": {"uri": _uri(span.name)}, "region": _region(span)}
    location: Object = {"physicalLocation": physical}
    if step:
        location["logicalLocations"] = [{"name": step, "kind": "member"}]
    return location


def _region(span: Span) -> Object:
    if span.column is None:
        return {"startLine": span.line}
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endColumn": span.column + max(1, span.width),
    }


def _uri(name: str) -> str:
    """Return a relative reference for a relative path, as reviews need it."""
    path = Path(name)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix() or _STDIN)
