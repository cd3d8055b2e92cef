"""The load to the knee, for a moment: that it runs, and where it stops."""

import json
from pathlib import Path

import pytest
from support import benchmarks


def run(output: Path, *flags: str) -> list[dict[str, float]]:
    """Run the load; return the report's entries."""
    result = benchmarks.run("scale.py", "--load", *flags, "--output", str(output))
    assert result.returncode == 0, result.stderr
    report: list[dict[str, float]] = json.loads(output.read_text())
    return report


@pytest.mark.attack
def test_load_rises_until_the_knee(tmp_path: Path) -> None:
    """No CPU answers 10,000 calls a second; any answers twenty."""
    flags = ["--points", "3x3", "--seconds", "0.1", "--rate", "20", "--factor", "500"]
    entries = run(tmp_path / "scale.json", *flags, "--p99", "5000")

    assert [entry["workers"] for entry in entries] == [1, 2]
    for entry in entries:
        assert entry["knee"] == 20
        first, *_, last = entry["steps"]  # type: ignore[misc] # a list of steps
        assert first["failures"] == 0
        assert last["offered"] > 5000
        assert last["answered"] < 0.95 * last["offered"] or last["p99_ms"] > 5000


@pytest.mark.serial
def test_load_that_is_never_fast_enough_has_no_knee(tmp_path: Path) -> None:
    flags = ["--workers", "1", "--points", "3x3", "--seconds", "0.3", "--rate", "20"]
    (entry,) = run(tmp_path / "scale.json", *flags, "--p99", "0.001")

    assert entry["knee"] == 0
    assert len(entry["steps"]) == 2  # type: ignore[arg-type] # a list; the rate is tried twice
