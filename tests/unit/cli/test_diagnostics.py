"""`--diagnostics`: problems for other programs, in one shape for all commands."""

import json
from pathlib import Path

import jsonschema
import pytest
from support import one_step
from support.commands import Run
from support.paths import ROOT

SCHEMA = json.loads((ROOT / "docs/reference/diagnostics.schema.json").read_text())
XRD = one_step.xrd("spec: {type: object, properties: {size: {type: integer}}}")
XR = f"{one_step.XR}spec: {{size: 1}}\n"
FAILING = """\
def main(req):
    return helper(req)

def helper(req):
    return req[1]
"""
PRINTING = 'def main(req):\n    print("hello")\n    return {}\n'
CASE = "xr: xr.yaml\ncomposition: composition.yaml\nexpect: {resources: {a: {kind: B}}}\n"


def composition(script: str) -> str:
    return one_step.composition("StarlarkScript", script, field="script")


@pytest.fixture(name="folder", autouse=True)
def fixture_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {"xr": XR, "xrd": XRD, "composition": composition(FAILING), "case": CASE}
    for name, text in files.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


def objects(text: str) -> list[dict[str, object]]:
    """The lines of a stream, each of which fits the schema."""
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        jsonschema.validate(line, SCHEMA)
    return lines


def test_error_of_render_is_on_stderr(run: Run) -> None:
    out, err = run("render", "--diagnostics", "line", code=1)
    assert out == ""
    (line,) = (line for line in err.splitlines() if ": error: " in line)
    assert line.startswith("composition.yaml:18:20: error: cannot run main: ")
    out, err = run("render", "--diagnostics", "json", code=1)
    assert out == ""
    (problem,) = (each for each in objects(err) if each["severity"] == "error")
    assert (problem["file"], problem["line"], problem["column"]) == ("composition.yaml", 18, 20)
    related = problem["related"]
    assert related[0]["file"] == "composition.yaml"


def test_warning_and_output_of_render_are_lines(folder: Path, run: Run) -> None:
    (folder / "composition.yaml").write_text(composition(PRINTING))
    (folder / "xr.yaml").write_text(XR.replace("size", "sise"))
    out, err = run("render", "--diagnostics", "json")
    assert out.startswith("---\n")
    warning, printed = objects(err)[-2:]
    assert (warning["severity"], warning["file"], warning["line"]) == ("warning", "xr.yaml", 4)
    assert (printed["severity"], printed["message"]) == ("info", "hello")
    lines = run("render", "--diagnostics", "line").err
    assert "xr.yaml:4:8: warning: unknown field of the XR: spec.sise" in lines


def test_warning_looks_like_an_error(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In colour where errors are; each stands apart from what follows."""
    (folder / "xr.yaml").write_text(XR.replace("size", "sise"))
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    warning, error = run("render", code=1).err.split("\n\n")
    assert "\x1b[1;33mwarning:\x1b[0m" in warning
    assert error.startswith("\x1b[1;31merror:\x1b[0m")
    assert error.endswith("\n")


REPORTS = {
    "check": (["check", "--xrd", "xrd.yaml"], {"rule": "xr-field", "line": 4}),
    "test": (["test"], {"case": ".", "severity": "error", "file": "composition.yaml"}),
    "validate": (
        ["validate", "xrd.yaml", "xr.yaml"],
        {"kind": "XThing", "name": "demo", "file": "xr.yaml", "line": 4, "column": 8},
    ),
}


@pytest.mark.parametrize(("command", "expected"), REPORTS.values(), ids=REPORTS)
def test_report_is_on_stdout(
    command: list[str], expected: dict[str, object], folder: Path, run: Run
) -> None:
    (folder / "xr.yaml").write_text(XR.replace("size", "sise"))
    out, _ = run(*command, "--diagnostics", "json", code=1)
    assert any(expected.items() <= each.items() for each in objects(out))
    out, _ = run(*command, "--diagnostics", "line", code=1)
    assert any(": error: " in line or ": warning: " in line for line in out.splitlines())


ERRORS = {
    "compare": ["compare", "none.yaml"],
    "plan": ["plan", "--cluster", "dump.yaml"],
}


@pytest.mark.parametrize("command", ERRORS.values(), ids=ERRORS)
def test_error_has_the_form(command: list[str], folder: Path, run: Run) -> None:
    """Commands whose report is about changes have their errors in this form."""
    for name in ("composition", "dump"):
        (folder / f"{name}.yaml").write_text("a: [\n")
    out, err = run(*command, "--diagnostics", "json", code=1)
    (problem, *_) = objects(err)
    assert (out, problem["severity"]) == ("", "error")
    _, err = run(*command, "--diagnostics", "line", code=1)
    assert "error: " in err.splitlines()[0]


@pytest.mark.parametrize("form", ["json", "line"])
def test_report_without_problems_is_empty(form: str, folder: Path, run: Run) -> None:
    (folder / "composition.yaml").write_text(composition(PRINTING))
    (folder / "case.yaml").write_text(CASE.replace("{a: {kind: B}}", "{}"))
    for command in (["check"], ["test"], ["validate", "xrd.yaml", "xr.yaml"]):
        assert run(*command, "--diagnostics", form).out == ""


def test_other_output_has_no_second_form(run: Run) -> None:
    for command in (["check"], ["test"], ["validate", "xrd.yaml", "xr.yaml"]):
        run(*command, "--output", "json", "--diagnostics", "line", code=2)
