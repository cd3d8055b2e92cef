"""`check`: which files and steps are looked at, and how the report is told."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from checking import LINE, composition, found, ours

from function_script import cli
from function_script.errors import InputError
from function_script.tools import check
from function_script.tools.check import rules

ROOT = Path(__file__).resolve().parents[2]
BROKEN = ours("GoTemplate", "inline: '{{ uper }}'")
UNUSED = ours("GoTemplate", "modules: {a: A}", "inline: |", "  text")


def test_every_step_of_every_file_is_checked(tmp_path: Path) -> None:
    """Files of directories to any depth, Operations, inputs alone; what is no YAML is a finding."""
    operation = composition(BROKEN).replace("apiextensions", "ops")
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "one.yaml").write_text(composition(BROKEN, BROKEN))
    (tmp_path / "a" / "two.yml").write_text(operation.replace("Composition", "Operation"))
    (tmp_path / "a" / "three.yaml").write_text("a: [\n")
    (tmp_path / "a" / "zero.yaml").write_text(BROKEN)
    (tmp_path / "a" / "other.txt").write_text(BROKEN)
    report = check.check([str(tmp_path)])
    assert (report.files, report.steps, report.count("error")) == (4, 4, 5)
    files = {
        (found.rule, found.step, Path(str(found.diagnostic.span).split(":")[0]).name)
        for found in report.findings
    }
    assert files == {
        ("program", "step-0", "one.yaml"),
        ("program", "step-1", "one.yaml"),
        ("program", "step-0", "two.yml"),
        ("program", "", "zero.yaml"),
        ("yaml", "", "three.yaml"),
    }


def test_programs_in_files_are_checked(tmp_path: Path) -> None:
    """Below programs/ beside the Composition, or where they are said to be."""
    text = ours("JinjaTemplate", "source: FileSystem", "fileSystem: {dirPath: site}")
    programs = tmp_path / "programs"
    (programs / "site").mkdir(parents=True)
    (programs / "site" / "main.j2").write_text("a\n{{ 1 | uper }}")
    (programs / "site" / "unused.j2").write_text("")
    for directory in (None, programs):
        (finding,) = found(tmp_path, text, programs=directory).findings
        assert str(finding.diagnostic.span) == f"{programs}/site/main.j2:2:8"
    (finding,) = found(tmp_path, text, programs=tmp_path).findings
    assert finding.rule == "input"
    assert "cannot find directory" in finding.diagnostic.message


def test_nothing_to_check_is_a_mistake(tmp_path: Path) -> None:
    """Else a wrong path would look like success."""
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: ConfigMap\n")
    with pytest.raises(InputError, match="no step there is one of ours"):
        check.check([str(tmp_path)])
    with pytest.raises(InputError, match="no such file or directory"):
        check.check([str(tmp_path / "absent.yaml")])


def test_json_has_everything(tmp_path: Path) -> None:
    """Positions are numbers, so that other programs can show them."""
    report = json.loads(check.render_json(found(tmp_path, UNUSED)))
    assert report == {
        "summary": {"files": 1, "steps": 1, "errors": 0, "warnings": 1},
        "findings": [
            {
                "rule": "unused-module",
                "severity": "warning",
                "step": "step-0",
                "message": 'input.modules["a"]: nothing uses this module',
                "hint": "take it out, or load it where it is wanted",
                "file": str(tmp_path / "composition.yaml"),
                "line": LINE + 2,
                "column": 17,
                "width": 1,
            }
        ],
    }


EXITS = [
    pytest.param(BROKEN, [], 1, "error: ", "1 error, 0 warnings", id="error"),
    pytest.param(UNUSED, [], 0, "warning: ", "0 errors, 1 warning", id="warning"),
    pytest.param(UNUSED, ["--strict"], 1, "warning: ", "0 errors, 1 warning", id="strict"),
]


@pytest.mark.parametrize(("text", "flags", "code", "begin", "end"), EXITS)
def test_exit_codes(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    flags: list[str],
    code: int,
    begin: str,
    end: str,
) -> None:
    """Errors fail, warnings only where that is wanted; the report is on stdout."""
    (tmp_path / "a.yaml").write_text(text)
    assert cli.execute(["check", str(tmp_path), *flags]) == code
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out.startswith(begin)
    assert said.out.endswith(f"\n\nChecked 1 step in 1 file: {end}\n")


def test_quiet_tells_nothing_but_findings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So nothing at all where nothing is wrong."""
    file = tmp_path / "a.yaml"
    file.write_text(UNUSED)
    assert cli.execute(["check", str(file), "--quiet"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("warning: ")
    assert "Checked" not in said
    file.write_text(ours("GoTemplate", "inline: text"))
    assert cli.execute(["check", str(file), "-q"]) == 0
    assert capsys.readouterr().out == ""


def test_json_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints nothing but the report, which a program can read."""
    (tmp_path / "a.yaml").write_text(BROKEN)
    assert cli.execute(["check", str(tmp_path), "-o", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["summary"]["errors"] == 1


def test_colours_of_severities(tmp_path: Path) -> None:
    """Errors are red, warnings yellow."""
    coloured = check.render_text(found(tmp_path, BROKEN, UNUSED), colourful=True)
    assert "\x1b[1;31merror:\x1b[0m" in coloured
    assert "\x1b[1;33mwarning:\x1b[0m" in coloured


def test_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    """- stands for it, as for other commands."""
    monkeypatch.setattr("sys.stdin", io.StringIO(BROKEN))
    (finding,) = check.check(["-"]).findings
    assert str(finding.diagnostic.span) == "stdin:3:13"


def test_all_examples_are_fine() -> None:
    """What we show has nothing that `check` would tell."""
    assert check.check([str(ROOT / "examples")]).findings == ()


def test_every_rule_is_explained() -> None:
    """The reference page has a row for each rule, in their order."""
    page = (ROOT / "docs" / "reference" / "check.md").read_text()
    rows = [f"| `{rule.name}` | {rule.severity} | {rule.means} |" for rule in rules.RULES]
    assert "\n".join(rows) in page


def test_inputs_of_other_apiversions_are_counted_and_told(tmp_path: Path) -> None:
    """What runs as an input of function-go-templating is checked as one."""
    document = "inline:\n  template: |\n    {{ .x | nope }}"
    other = f"apiVersion: template.fn.crossplane.io/v1beta1\nkind: GoTemplate\n{document}"
    shaped = other.replace("kind: GoTemplate", "kind: Whatever")
    report = found(tmp_path, f"{other}\nsource: Inline", f"{shaped}\nsource: Inline\nttl: 1d")
    assert report.steps == 2
    assert [(finding.step, finding.rule) for finding in report.findings] == [
        ("step-0", "other-input"),
        ("step-0", "program"),
        ("step-1", "other-input"),
        ("step-1", "other-input"),
        ("step-1", "program"),
    ]
    first, _, _, ttl, _ = (finding.diagnostic.message for finding in report.findings)
    assert first.startswith("input.apiVersion: this is read as an input of function-go-templating")
    assert ttl.startswith('input.ttl: is not looked at: cannot parse duration "1d"')


def test_inputs_that_were_to_run_here_are_counted(tmp_path: Path) -> None:
    """A kind of ours in another group, a program elsewhere; other functions' are not looked at."""
    report = found(
        tmp_path,
        "apiVersion: example.org/v1\nkind: JinjaTemplate\ninline: x",
        "apiVersion: example.org/v1\nkind: GoTemplate\nremote: git://example.org/x",
        "apiVersion: krm.kcl.dev/v1alpha1\nkind: KCLInput\nspec: {}",
    )
    assert [(finding.step, finding.rule) for finding in report.findings] == [
        ("step-0", "input"),
        ("step-1", "input"),
    ]
    assert report.steps == 2


def test_other_yaml_is_no_input(tmp_path: Path) -> None:
    """Though it has the fields of one, and runs where a step has it."""
    (tmp_path / "values.yaml").write_text("source: Inline\ninline: {template: '{{ .x | nope }}'}")
    (tmp_path / "more.yaml").write_text("source: somewhere\noptions: {}\n---\nkind: X\nsource: a")
    with pytest.raises(InputError, match="cannot check"):
        check.check([str(tmp_path)])
