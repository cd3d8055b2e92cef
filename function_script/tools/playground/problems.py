"""Problems of a run and findings of `check`, as the page lists and marks them."""

from collections.abc import Iterable, Sequence

from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError
from function_script.tools import check
from function_script.tools.playground.mirror import Mirror


def to_page(
    diagnostics: Iterable[Diagnostic], mirror: Mirror, severity: str = "error"
) -> list[Object]:
    """Return problems of a run, with positions in the page's files."""
    return [_to_entry(diagnostic, severity, "", mirror) for diagnostic in diagnostics]


def find(mirror: Mirror, errors: Sequence[Object]) -> list[Object]:
    """Return what `check` finds in the folder, but for what ``errors`` say of the same place."""
    try:
        report = check.check([str(mirror.directory)], mirror.programs)
    except FatalError:
        # There is nothing to check; the run says why.
        return []
    places = {_place(error) for error in errors}
    findings = (
        _to_entry(finding.diagnostic, finding.severity, finding.rule, mirror)
        for finding in report.findings
    )
    return [finding for finding in findings if _place(finding) not in places]


def _place(problem: Object) -> tuple[object, ...]:
    """Return the line of a problem; its message where it has none."""
    file, line = problem.get("file"), problem.get("line")
    return (file, line) if line else (file, problem["message"])


def _to_entry(problem: Diagnostic, severity: str, rule: str, mirror: Mirror) -> Object:
    entry: Object = {
        "severity": severity,
        "rule": rule,
        "message": mirror.strip(problem.message),
        "notes": [mirror.strip(str(note)) for note in problem.notes],
        "hint": None if problem.hint is None else mirror.strip(problem.hint),
    }
    span = problem.span
    if span is not None:
        entry |= {
            "file": mirror.strip(span.name),
            "line": span.line,
            "column": span.column,
            "width": span.width,
        }
    return entry
