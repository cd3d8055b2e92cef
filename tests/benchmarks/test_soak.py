"""The soak, for a moment: that it runs, that it judges, and that the server bears it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT

BENCHMARKS = ROOT / "benchmarks"
# What depends on how busy the machine is, or on more time than this, is left out.
JUDGED = ("calls without an answer", "wrong answers", "good requests lost", "exit code")


@pytest.mark.attack
@pytest.mark.parametrize("flags", [["--mtls"], []], ids=["mtls", "plaintext"])
def test_short_soak_is_borne(tmp_path: Path, flags: list[str]) -> None:
    """Workers are killed and programs are hostile: every call has an answer, and the right one."""
    output = tmp_path / "soak.json"
    load = ["--minutes", "0.07", "--rate", "10", "--hostile-rate", "2", "--kill-every", "0.7"]
    command = [sys.executable, "soak.py", *load, *flags, "--zygote-every", "2"]
    # The whole suite may run with a path that leaves out the script's own directory.
    path = os.pathsep.join(filter(None, (str(BENCHMARKS), os.environ.get("PYTHONPATH"))))
    result = subprocess.run(
        [*command, "--output", str(output)],
        cwd=BENCHMARKS,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert output.exists(), result.stderr
    report = json.loads(output.read_text())
    for line in report["judged"]:
        if line["what"].startswith(JUDGED):
            assert line["measured"] <= line["at_most"], result.stdout + result.stderr
    assert report["outcomes"]["good"] > 20
    assert report["outcomes"]["hostile"] >= 1
    assert report["killed"]["workers"] >= 2
    assert report["killed"]["zygotes"] >= 1
    assert len(report["lost"]) >= report["outcomes"].get("lost to a kill", 0)
    assert set(report["latency_ms"]) == {"alone", "hostile"}
