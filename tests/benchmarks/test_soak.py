"""The soak, for a moment: that it runs, that it judges, and that the server bears it."""

import json
from pathlib import Path

import pytest
from support import benchmarks

# What depends on how busy the machine is, or on more time than this, is left out.
JUDGED = ("calls without an answer", "wrong answers", "good requests lost", "exit code")


@pytest.mark.attack
@pytest.mark.parametrize("flags", [["--mtls"], []], ids=["mtls", "plaintext"])
def test_short_soak_is_borne(tmp_path: Path, flags: list[str]) -> None:
    """Workers are killed and programs are hostile: every call has an answer, and the right one."""
    output = tmp_path / "soak.json"
    load = ["--minutes", "0.07", "--rate", "10", "--hostile-rate", "2", "--kill-every", "0.7"]
    kills = ["--zygote-every", "2", "--output", str(output)]
    result = benchmarks.run("soak.py", *load, *flags, *kills)
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
