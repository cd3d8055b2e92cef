"""Conformance of GoTemplate with Go's engine: the shared corpus, rendered and compared by byte.

A row passes when stage and text are Go's, and for errors the position. Rows that differ on
purpose are listed with reasons in gotemplate/differences.txt; one that starts to match fails.
"""

import copy
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from support.paths import ROOT

from function_script.engines.gotemplate.plain import GoFailure, render_text

CORPUS = ROOT.parent / "shared" / "corpus" / "gotemplate"
DIFFERENCES = Path(__file__).parent / "gotemplate" / "differences.txt"
REAL_FLOOR = 0.995
_POSITION = re.compile(r"template: [^:]+:[0-9]+(?::[0-9]+)?")

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not here")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of one row."""

    id: str
    passed: bool
    text: str


def _rows(part: str) -> Iterator[dict[str, object]]:
    with (CORPUS / f"{part}-cases.jsonl").open() as lines:
        for line in lines:
            yield json.loads(line)


def _render(row: dict[str, object], shared: dict[str, object]) -> tuple[str, str, str]:
    data = row["data"]
    data = copy.deepcopy(shared[data]) if isinstance(data, str) else data
    delims = row.get("delims", ("{{", "}}"))
    options = f"missingkey=default {row.get('options')}"
    # The last one counts; "invalid" is another name of the default.
    missing = re.findall(r"missingkey=(default|error|zero)", options)[-1]
    try:
        text = render_text(
            str(row["template"]),
            data,  # type: ignore[arg-type] # JSON objects
            delims=tuple(delims),  # type: ignore[arg-type] # two strings
            missing=missing,
        )
    except GoFailure as failure:
        return failure.stage, failure.output, failure.text
    return "ok", text, ""


@cache
def outcomes(part: str) -> tuple[Outcome, ...]:
    """Render all rows of a part of the corpus once."""
    shared = json.loads((CORPUS / "spec-data.json").read_text())
    return tuple(_outcome(row, shared) for row in _rows(part))


def _outcome(row: dict[str, object], shared: dict[str, object]) -> Outcome:
    stage, text, error = _render(row, shared)
    expected = str(row.get("error", ""))
    same_place = _positions(error) == _positions(expected)
    passed = stage == row["stage"] and text == row["output"] and same_place
    return Outcome(
        id=str(row["id"]),
        passed=passed,
        text=f"{row['id']}: {stage} {error or text!r}"[:500],
    )


def _positions(error: str) -> str | None:
    match = _POSITION.match(error)
    return match[0] if match is not None else None


@cache
def differences() -> dict[str, str]:
    """Return the rows that differ on purpose, each with its reason."""
    lines = DIFFERENCES.read_text().splitlines()
    pairs = (line.split(": ", 1) for line in lines if line and not line.startswith("#"))
    return dict(pairs)


def test_own_snippets_render_as_in_go() -> None:
    """Every snippet of the specification part renders, or fails, as with Go's engine."""
    failed = {o.id: o.text for o in outcomes("spec") if not o.passed}
    assert {row: text for row, text in failed.items() if row not in differences()} == {}


def test_real_templates_render_as_in_go() -> None:
    """At least 99.5 % of the templates of public repositories render as with Go's engine."""
    results = outcomes("real")
    failed = {o.id: o.text for o in results if not o.passed}
    assert {row: text for row, text in failed.items() if row not in differences()} == {}
    assert len(results) - len(failed) >= REAL_FLOOR * len(results)


def test_listed_differences_are_still_there() -> None:
    """A row that is listed as different but matches Go must leave the list."""
    failed = {o.id for part in ("spec", "real") for o in outcomes(part) if not o.passed}
    assert sorted(set(differences()) - failed) == []
