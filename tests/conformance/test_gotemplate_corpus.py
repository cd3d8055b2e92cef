"""Conformance of GoTemplate with Go's engine: the shared corpus, rendered and compared by byte.

A row passes when stage and text are Go's, and for errors the position. Rows that differ on
purpose are listed with reasons in gotemplate/differences.txt; one that starts to match fails.
"""

import copy
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
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


def differences() -> dict[str, str]:
    """Return the rows that differ on purpose, each with its reason."""
    lines = DIFFERENCES.read_text().splitlines()
    pairs = (line.split(": ", 1) for line in lines if line and not line.startswith("#"))
    return dict(pairs)


@pytest.mark.parametrize(
    ("part", "floor"),
    [
        pytest.param("spec", 0.0, id="own-snippets"),
        pytest.param("real", REAL_FLOOR, id="templates-of-public-repositories"),
    ],
)
def test_corpus_renders_or_fails_as_in_go(part: str, floor: float) -> None:
    """A row that is listed as different but matches Go must leave the list."""
    shared = json.loads((CORPUS / "spec-data.json").read_text())
    outcomes = [_outcome(row, shared) for row in _rows(part)]
    failed = {outcome.id: outcome.text for outcome in outcomes if not outcome.passed}
    listed = {row for row in differences() if row.startswith(part)}
    assert {row: text for row, text in failed.items() if row not in listed} == {}
    assert listed - failed.keys() == set()
    assert len(outcomes) - len(failed) >= floor * len(outcomes)


def test_listed_differences_are_of_the_corpus() -> None:
    assert [row for row in differences() if not row.startswith(("spec/", "real-"))] == []
