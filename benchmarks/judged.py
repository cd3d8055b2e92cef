"""What is asked of the speed, and whether a run of the benchmark shows it: a table in Markdown.

Ratios of server CPU per request to the functions that people use today, measured in the same
run under the names below; what was not measured is left out. A ratio is the median of those of
each round: what the host does for some seconds changes both sides of it.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GO_TEMPLATING = "function-go-templating"
STARLARK = "function-starlark"
# At as many calls at once as there are, or at most so many.
CLIENTS = 8


class Ratio(NamedTuple):
    """Our cost at a point to that of a peer, at most; with new documents, and with known ones.

    None: nothing is asked of it.
    """

    ours: str
    theirs: str
    observed: int
    produced: int
    new: float | None = None
    known: float | None = None
    few: bool = False


class Finding(NamedTuple):
    """One line of the table."""

    what: str
    at_most: float | None
    measured: float


RATIOS = (
    *(
        Ratio(language, GO_TEMPLATING, 3, 3, new=0.5, known=0.5)
        for language in ("jinja", "starlark", "gotemplate")
    ),
    Ratio("jinja", GO_TEMPLATING, 50, 50, new=0.16, known=0.16),
    Ratio("starlark", GO_TEMPLATING, 50, 50, new=0.22, known=0.22),
    Ratio("jinja", GO_TEMPLATING, 500, 50, new=0.2, known=0.13),
    # A third of this request is gRPC's library: 0.08 was asked of HTTP/2 of our own.
    Ratio("jinja", GO_TEMPLATING, 50, 3, new=0.12, known=0.12, few=True),
    Ratio("jinja", GO_TEMPLATING, 500, 3, new=0.08, known=0.08, few=True),
    *(
        Ratio(language, GO_TEMPLATING, 0, produced, new=limit, known=limit)
        for language in ("jinja", "starlark")
        for produced, limit in ((10, 0.6), (50, 0.8), (200, 0.8))
    ),
    Ratio("gotemplate", GO_TEMPLATING, 0, 10),
    *(
        Ratio("gotemplate", GO_TEMPLATING, observed, 50, new=0.2, known=0.2)
        for observed in (50, 500)
    ),
    Ratio("jinja", STARLARK, 50, 50, new=0.4, known=0.3),
    Ratio("starlark", STARLARK, 50, 50, new=0.55, known=0.55),
    Ratio("jinja", STARLARK, 500, 50, new=0.5, known=0.3),
    Ratio("starlark", STARLARK, 500, 50, new=0.65, known=0.65),
    Ratio("starlark", STARLARK, 50, 3, new=0.5, known=0.5, few=True),
    Ratio("starlark", STARLARK, 500, 3, new=0.5, known=0.5, few=True),
    *(
        Ratio(language, STARLARK, observed, produced, new=limit, known=limit)
        for language in ("jinja", "starlark")
        for observed, produced, limit in ((0, 10, 1.6), (3, 3, 1.1))
    ),
    *(
        Ratio(language, STARLARK, 0, produced)
        for language in ("jinja", "starlark")
        for produced in (50, 200)
    ),
    *(
        Ratio("gotemplate", STARLARK, observed, produced)
        for observed, produced in ((0, 10), (0, 50), (0, 200), (3, 3))
    ),
)
STATE_RATIO = 5
TAIL_RATIO = 4


def findings(rows: Sequence[dict[str, object]]) -> list[Finding]:
    """Everything that can be said about these rows of a run."""
    usual = [row for row in rows if row["clients"] == CLIENTS] or list(rows)
    return [*_ratios(usual), *_state(usual), *_tail(usual)]


def table(rows: Sequence[Finding]) -> str:
    """Return the findings as a table in Markdown."""
    lines = ["| what | at most | measured | reached |", "|---|---:|---:|---|"]
    for finding in rows:
        limit, reached = "", ""
        if finding.at_most is not None:
            limit = f"{finding.at_most:g}"
            reached = "yes" if finding.measured <= finding.at_most else "no"
        lines.append(f"| {finding.what} | {limit} | {finding.measured:.3g} | {reached} |")
    return "\n".join(lines)


def _ratios(rows: Sequence[dict[str, object]]) -> Iterator[Finding]:
    for ratio in RATIOS:
        for new in (True, False):
            point = (ratio.observed, ratio.produced, ratio.few, new)
            ours, theirs = _costs(rows, ratio.ours, point), _costs(rows, ratio.theirs, point)
            if ours and theirs:
                limit = ratio.new if new else ratio.known
                what = f"{ratio.ours} to {ratio.theirs}, {_named(point)}"
                pairs = zip(ours, theirs, strict=True)
                yield Finding(what, limit, statistics.median(a / b for a, b in pairs))


def _state(rows: Sequence[dict[str, object]]) -> Iterator[Finding]:
    for language in ("jinja", "starlark", "gotemplate"):
        many = _costs(rows, language, (500, 3, True, False))
        three = _costs(rows, language, (3, 3, False, False))
        if many and three:
            what = f"{language}: 3 touched of 500 observed to 3 of 3"
            # These are measured at other times, so that there are no pairs.
            ratio = statistics.median(many) / statistics.median(three)
            yield Finding(what, STATE_RATIO, ratio)


def _tail(rows: Sequence[dict[str, object]]) -> Iterator[Finding]:
    """The worst of each language."""
    for language in ("jinja", "starlark", "gotemplate"):
        tails = [
            float(str(row["p99_ms"])) / float(str(row["p50_ms"]))
            for row in rows
            if row["server"] == language
        ]
        if tails:
            yield Finding(f"{language}: p99 to p50, worst point", TAIL_RATIO, max(tails))


def _costs(
    rows: Sequence[dict[str, object]], server: str, point: tuple[int, int, bool, bool]
) -> list[float]:
    """Those of each round; none where nothing was measured."""
    fields = ("observed", "produced", "few", "new")
    for row in rows:
        if row["server"] == server and tuple(row[field] for field in fields) == point:
            return list(cast("list[float]", row["rounds_cpu_ms"]))
    return []


def _named(point: tuple[int, int, bool, bool]) -> str:
    observed, produced, few, new = point
    touched = ", 3 touched" if few else ""
    documents = "new" if new else "known"
    return f"{observed} observed{touched}, {produced} produced, {documents} documents"
