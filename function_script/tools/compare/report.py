"""The report of a comparison: as text for people, JSON, or Markdown for a pull request."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from function_script.texts import diagnostics
from function_script.texts.diagnostics import Diagnostic
from function_script.tools import console
from function_script.tools.compare.command import Row
from function_script.tools.compare.differences import Named


def to_text(rows: Sequence[Row], *, shows_all: bool, columns: int | None = None) -> str:
    """Return a line for each Composition, a frame for each difference, and the totals."""
    titles = [_title(row) for row in rows]
    width = max(map(len, titles), default=0)
    counts = [_count(row) for row in rows]
    count_width = max(map(len, counts), default=0)
    lines = [
        f"{title:<{width}}  {number:>{count_width}}  {row.verdict}"
        for title, number, row in zip(titles, counts, rows, strict=True)
    ]
    parts = ["\n".join(lines)] if lines else []
    for row in rows:
        for (problem, _), *others in row.changes.values():
            frame = diagnostics.to_frame(problem, "difference", columns)
            parts.append(frame + (f"\n  = and for {len(others)} more" if others else ""))
    for reason, numbers in _group_reasons(rows):
        (first, number), *rest = numbers.items()
        notes = [f"for {number} of its requests"] if number > 1 else []
        if rest:
            notes.append(f"for the same reason: {', '.join(title for title, _ in rest)}")
        frame = diagnostics.to_frame(reason, f"not compared: {first}", columns)
        parts.append("\n".join([frame, *(f"  = {note}" for note in notes)]))
    if shows_all:
        lines = [f"{_title(row)}: {_list_named(row.named)}" for row in rows if row.named]
        lines += [
            f"{_title(row)}: errors on both sides ({count}): {console.one_line(message)}"
            for row in rows
            for message, count in row.refused.items()
        ]
        parts += ["\n".join(lines)] if lines else []
    parts.append("\n".join(_totals(rows)))
    return "\n\n".join(parts)


def to_json(rows: Sequence[Row]) -> str:
    """Return one object with all of the report; values of secrets are null."""
    return json.dumps(
        {
            "compositions": [
                {
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
                        {"message": message, "count": count}
                        for message, count in row.refused.items()
                    ],
                    "notCompared": [
                        {**diagnostics.to_object(problem, "not compared"), "count": count}
                        for problem, count in row.uncompared.items()
                    ],
                    "named": dict(row.named),
                }
                for row in rows
            ],
            "summary": [*_totals(rows)],
        },
        indent=2,
        ensure_ascii=False,
    )


def to_markdown(rows: Sequence[Row]) -> str:
    """Return a table of the Compositions, and a list of the differences, as long as a comment."""
    lines = ["| Composition | compared | |", "|---|---:|---|"]
    lines += [f"| {_code(_title(row))} | {_count(row)} | {row.verdict} |" for row in rows]
    items = [
        f"- {_code(str(problem.span or _title(row)))}: {_code(problem.message)}"
        for row in rows
        for (problem, _), *_ in row.changes.values()
    ]
    items += [
        f"- not compared, {', '.join(map(_code, numbers))}: {_code(reason.message)}"
        for reason, numbers in _group_reasons(rows)
    ]
    return console.to_comment([*lines, *([""] if items else []), *items], ["", *_totals(rows)])


def _group_reasons(rows: Sequence[Row]) -> list[tuple[Diagnostic, dict[str, int]]]:
    """Return the reasons for which requests were not compared, with their numbers by Composition.

    A problem is that of the first Composition with the reason.
    """
    groups: dict[object, tuple[Diagnostic, dict[str, int]]] = {}
    for row in rows:
        for problem, number in row.uncompared.items():
            _, numbers = groups.setdefault(problem.code or problem.message, (problem, {}))
            numbers[_title(row)] = numbers.get(_title(row), 0) + number
    return [*groups.values()]


def _code(text: str) -> str:
    # A table ends a cell at this character, in code as well.
    return console.to_code(text).replace("|", "\\|")


def _title(row: Row) -> str:
    return console.one_line(f"{row.file} {row.name}".strip())


def _count(row: Row) -> str:
    requests = f", {console.count(row.captured, 'request')}" if row.captured else ""
    refused = row.refused.total()
    errors = f", {refused} with errors on both sides" if refused else ""
    return console.count(row.compared, "XR") + requests + errors


def _totals(rows: Sequence[Row]) -> Iterator[str]:
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
