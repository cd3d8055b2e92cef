"""`check` as SARIF, which has what the standard requires, and the page with its rules."""

import json
from pathlib import Path

from generate import check_page, parts
from support import generated
from support.check_helpers import LINE, found, ours
from support.commands import Run
from support.paths import ROOT

from function_script.tools.check import rules
from function_script.tools.check.report import render_sarif

PAGE = ROOT / "docs" / "reference" / "check.md"
BROKEN = ours("GoTemplate", "inline: '{{ uper }}'")
UNUSED = ours("GoTemplate", "modules: {a: A}", "inline: |", "  text")


def test_log_has_what_the_standard_requires(tmp_path: Path) -> None:
    log = json.loads(render_sarif(found(tmp_path, BROKEN, UNUSED)))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("/sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "function-script"
    assert [rule["id"] for rule in driver["rules"]] == [rule.name for rule in rules.RULES]
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    assert run["columnKind"] == "unicodeCodePoints"
    for result in run["results"]:
        assert result["message"]["text"]
        assert result["level"] in {"error", "warning"}
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        (location,) = result["locations"]
        region = location["physicalLocation"]["region"]
        assert region["startLine"] >= 1
        assert 1 <= region["startColumn"] < region["endColumn"]


def test_result_says_what_the_finding_says(tmp_path: Path) -> None:
    (result,) = json.loads(render_sarif(found(tmp_path, BROKEN)))["runs"][0]["results"]
    region = {"startLine": LINE + 2, "startColumn": 19, "endColumn": 23}
    uri = (tmp_path / "composition.yaml").as_uri()
    assert result == {
        "ruleId": "program",
        "ruleIndex": [rule.name for rule in rules.RULES].index("program"),
        "level": "error",
        "message": {
            "text": 'cannot parse inline: function "uper" not defined\ndid you mean "upper"?'
        },
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": uri}, "region": region},
                "logicalLocations": [{"name": "step-0", "kind": "member"}],
            }
        ],
    }


def test_command_writes_it_with_relative_paths(here: Path, run: Run) -> None:
    """Reviews look for files below the root of the repository, with blanks escaped."""
    (here / "a b.yaml").write_text(BROKEN)
    text = run("check", "a b.yaml", "-o", "sarif", code=1).out
    assert len(json.loads(text)["runs"][0]["results"]) == 1
    assert '"uri": "a%20b.yaml"' in text


def test_table_of_rules_is_fresh(*, update_goldens: bool) -> None:
    page = parts.fill(PAGE, check_page.section())
    generated.check(PAGE, page, update=update_goldens)
