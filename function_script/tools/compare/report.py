"""The report of a comparison: as text for people, JSON, or Markdown for a pull request."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from function_script.texts import diagnostics
from function_script.texts.diagnostics import Diagnostic
from function_script.tools import console
from function_script.tools.compare.command import Row
from function_script.tools.compare.differences import Named


def make(rows: Sequence[Row], *, shows_all: bool) -> console.Report:
    """Return a report with a line for each Composition and an entry for each difference.

    ``shows_all``: a text has what is no change, too.
    """
    titles = [_title(row) for row in rows]
    width = max(map(len, titles), default=0)
    counts = [_count(row) for row in rows]
    count_width = max(map(len, counts), default=0)
    lines = [
        f"{title:<{width}}  {number:>{count_width}}  {row.verdict}"
        for title, number, row in zip(titles, counts, rows, strict=True)
    ]
    details = [f"{_title(row)}: {_list_named(row.named)}" for row in rows if row.named]
    details += [
        f"{_title(row)}: errors on both sides ({count}): {console.one_line(message)}"
        for row in rows
        for message, count in row.refused.items()
    ]
    entries = [*_list_entries(rows)]
    totals = [*_list_totals(rows)]
    # A table ends a cell at this character, in code as well.
    cells = [console.to_code(title).replace("|", "\\|") for title in titles]
    table = ["| Composition | compared | |", "|---|---:|---|"]
    table += [
        f"| {cell} | {number} | {row.verdict} |"
        for cell, number, row in zip(cells, counts, rows, strict=True)
    ]
    return console.Report(
        entries=entries,
        summary=totals,
        value={"compositions": [_to_object(row) for row in rows]},
        head=["\n".join(lines)] if lines else [],
        details=["\n".join(details)] if shows_all and details else [],
        markdown_head=[*table, *([""] if entries else [])],
        markdown_end=["", *totals],
    )


def _to_object(row: Row) -> dict[str, object]:
    """Return a row as JSON; values of secrets are null."""
    return {
        "file": row.file,
        "composition": row.name,
        "verdict": row.verdict,
        "comparedXRs": row.compared,
        "comparedRequests": row.captured,
        "maskedRequests": row.masked,
        "differences": [
            {
                **diagnostics.to_object(problem, "difference"),
                "step": step,
                "resource": difference.resource,
                "path": [*difference.path],
                "theirs": difference.theirs,
                "ours": difference.ours,
                "requests": 1 + len(others),
            }
            for (step, *_), changes in row.changes.items()
            for (problem, difference), *others in (changes,)
        ],
        "errorsOnBothSides": [
            {"message": message, "count": count} for message, count in row.refused.items()
        ],
        "notCompared": [
            {**diagnostics.to_object(problem, "not compared"), "count": count}
            for problem, count in row.uncompared.items()
        ],
        "named": dict(row.named),
    }


def _list_entries(rows: Sequence[Row]) -> Iterator[console.Entry]:
    """Yield the differences, and the reasons for which requests were not compared.

    A reason has the Compositions with the number of requests; its problem is that of the first one.
    """
    for row in rows:
        for (problem, _), *others in row.changes.values():
            notes = [f"and for {len(others)} more"] if others else []
            yield "difference", replace(problem, notes=(*problem.notes, *notes))
    groups: dict[object, tuple[Diagnostic, Counter[str]]] = {}
    for row in rows:
        for problem, number in row.uncompared.items():
            _, numbers = groups.setdefault(problem.code or problem.message, (problem, Counter()))
            numbers[_title(row)] += number
    for problem, numbers in groups.values():
        titles = [
            title if number == 1 else f"{title} ({number} requests)"
            for title, number in numbers.items()
        ]
        yield "not compared", replace(problem, notes=(*problem.notes, f"in {', '.join(titles)}"))


def _title(row: Row) -> str:
    return console.one_line(f"{row.file} {row.name}".strip())


def _count(row: Row) -> str:
    requests = f", {console.count(row.captured, 'request')}" if row.captured else ""
    refused = row.refused.total()
    errors = f", {refused} with errors on both sides" if refused else ""
    return console.count(row.compared, "XR") + requests + errors


def _list_totals(rows: Sequence[Row]) -> Iterator[str]:
    judged = [row for row in rows if not row.nothing]
    equal = sum(row.verdict == "equal" for row in judged)
    yield (
        f"{equal} of {len(judged)} Compositions change nothing."
        if judged
        else "Nothing was compared."
    )
    if uncompared := sum(bool(row.uncompared) for row in judged):
        yield f"Not compared, or not with all XRs: {console.count(uncompared, 'Composition')}."
    if refused := sum(row.refused.total() for row in judged):
        yield f"Errors on both sides, neither equal nor different: {refused} by XRs and requests."
    if masked := sum(row.masked for row in judged):
        count = console.count(masked, "captured request")
        yield f"Not comparable, for values in them are masked: {count}."
    others = Counter(row.nothing for row in rows)
    if number := others["no step of function-go-templating"]:
        yield f"Without a step of function-go-templating: {console.count(number, 'Composition')}."
    if number := others["steps of this function"]:
        count = console.count(number, "Composition")
        yield f"With Go templates that this function runs already: {count}. See --with."
    named: Counter[Named] = Counter()
    for row in judged:
        named.update(row.named)
    if named:
        yield f"No changes, by XRs and requests: {_list_named(named)}."


def _list_named(named: Counter[Named]) -> str:
    return ", ".join(f"{kind} ({count})" for kind, count in sorted(named.items()))
