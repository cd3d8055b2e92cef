"""The command `test`: exit codes, golden files, reports."""

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias
from xml.etree import ElementTree as ET

import pytest
from support.case_projects import folder, project
from support.commands import Run
from support.notes import without_note
from support.timing import PATIENCE_SECONDS

Printed: TypeAlias = Callable[..., str]
GOOD = "expect: {ready: false}"
BAD = "expect: {ready: true}"


@pytest.fixture(autouse=True)
def outside_ci(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the tests run is not what they are about."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def printed(run: Run) -> Printed:
    """Return what the command prints on both streams, with fixed times."""

    def printed(*args: str, code: int = 0) -> str:
        output = run("test", *args, code=code)
        return re.sub(r"in [0-9.]+ s\b", "in TIME", output.out + without_note(output.err))

    return printed


def test_command_succeeds_when_all_cases_pass(tmp_path: Path, printed: Printed) -> None:
    project(tmp_path, a=GOOD, b=GOOD)
    assert printed() == "PASS   a\nPASS   b\n2 passed in TIME\n"


def test_failure(tmp_path: Path, printed: Printed) -> None:
    project(tmp_path, a=GOOD, b=BAD)
    assert printed(code=1) == (
        "PASS   a\n"
        "FAIL   b\n"
        "\n"
        "  error: ready: expected the XR to be ready\n"
        "    --> b.case.yaml:1:10\n"
        "    |\n"
        "  1 | expect: {ready: true}\n"
        "    |          ^^^^^\n"
        "    = hint: it says: Unready resources: database\n"
        "\n"
        "  printed:\n"
        "  size 2\n"
        "  size 2\n"
        "\n"
        "1 passed, 1 failed in TIME\n"
    )


def test_invalid_case_fails_alone(tmp_path: Path, printed: Printed) -> None:
    project(tmp_path, a="expct: {}", b=GOOD)
    output = printed(code=1)
    assert 'did you mean "expect"?' in output
    assert "PASS   b" in output


def test_golden_files(tmp_path: Path, printed: Printed) -> None:
    case = folder(project(tmp_path) / "tests" / "one", case="description: one")
    missing = printed(code=1)
    assert 'there is no "tests/one/expected.yaml" to compare with' in missing
    assert "written at" not in missing
    assert printed("--update", code=1) == (
        "SEED   tests/one\n  wrote tests/one/expected.yaml, to be reviewed\n1 seeded in TIME\n"
    )
    assert printed() == "PASS   tests/one\n1 passed in TIME\n"

    golden = case / "expected.yaml"
    reviewed = golden.read_text()
    golden.write_text(reviewed.replace("port: 80\n", "port: 81\n"))
    output = printed(code=1)
    assert "\n  --- tests/one/expected.yaml\n  +++ rendered\n" in output
    assert "\n  -    port: 81\n  +    port: 80\n" in output

    expected = "UPDATE tests/one\n  wrote tests/one/expected.yaml, to be reviewed\n"
    assert printed("--update") == f"{expected}1 updated in TIME\n"
    assert golden.read_text() == reviewed


def test_exact_documents_are_those_of_render(tmp_path: Path, printed: Printed, run: Run) -> None:
    """What the command shows with its events is what a case that expects nothing expects."""
    project(tmp_path, a="description: a")
    printed("--update", code=1)
    assert (tmp_path / "a.expected.yaml").read_text() == run(
        "render", "xr.yaml", "composition.yaml", "-r"
    ).out


def test_update_leaves_alone_what_agrees(tmp_path: Path, printed: Printed) -> None:
    """Comments and layout are the author's, as long as the documents are the same."""
    case = folder(project(tmp_path) / "tests" / "one", case="description: one")
    printed("--update", code=1)
    golden = case / "expected.yaml"
    golden.write_text(f"# reviewed\n{golden.read_text()}")
    before = golden.read_text()
    assert printed("--update") == "PASS   tests/one\n1 passed in TIME\n"
    assert golden.read_text() == before


def test_single_files_have_golden_files_beside_them(tmp_path: Path, printed: Printed) -> None:
    project(tmp_path, a="description: a", b="expect: {documents: own.yaml, ready: false}")
    printed("--update", code=1)
    assert (tmp_path / "a.expected.yaml").is_file()
    assert (tmp_path / "own.yaml").read_text() == (tmp_path / "a.expected.yaml").read_text()
    assert printed() == "PASS   a\nPASS   b\n2 passed in TIME\n"


IN_CI = [
    pytest.param(["--ci"], {}, id="flag"),
    pytest.param([], {"CI": "true"}, id="variable"),
    pytest.param([], {"FUNCTION_SCRIPT_TEST_CI": "1"}, id="our-variable"),
]


@pytest.mark.parametrize(("args", "variables"), IN_CI)
def test_snapshots_are_not_written_in_ci(
    tmp_path: Path,
    printed: Printed,
    monkeypatch: pytest.MonkeyPatch,
    args: list[str],
    variables: dict[str, str],
) -> None:
    """A case that expects nothing fails there, and --update is refused."""
    project(tmp_path, a="description: a")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert 'documents: there is no "a.expected.yaml" to compare with' in printed(*args, code=1)
    assert not (tmp_path / "a.expected.yaml").exists()
    assert "--update" in printed(*args, "--update", code=2)


def test_selection_runs_only_some_cases(tmp_path: Path, printed: Printed) -> None:
    project(tmp_path, small=GOOD, large=BAD)
    assert printed("--run", "^sm") == "PASS   small\n1 passed in TIME\n"
    assert printed("small.case.yaml") == "PASS   small\n1 passed in TIME\n"
    text = printed("--run", "medium", code=1)
    assert 'cannot find a case whose name matches "medium" among 2' in text
    assert "hint: the cases are large, small" in text
    assert "--run" in printed("--run", "(", code=2)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        pytest.param(".", "cannot find a case in ", id="none"),
        pytest.param("nope", "no such file or directory", id="no-path"),
        pytest.param("xr.yaml", "as a case", id="no-case"),
    ],
)
def test_run_without_a_case_is_a_failure(
    tmp_path: Path, printed: Printed, path: str, message: str
) -> None:
    """A run that checks nothing must not look like success."""
    project(tmp_path)
    assert message in printed(path, code=1)


def test_fail_fast(tmp_path: Path, printed: Printed) -> None:
    project(tmp_path, a=GOOD, b=BAD, **{f"c{index}": GOOD for index in range(9)})
    output = printed("--fail-fast", "-j", "1", code=1)
    assert "1 passed, 1 failed, 9 not run in TIME" in output


def test_quiet_leaves_out_what_passed(tmp_path: Path, printed: Printed) -> None:
    project(tmp_path, a=GOOD, b=BAD)
    output = printed("--quiet", "--output-file", "report.txt", code=1)
    assert "PASS" not in output
    assert output.startswith("FAIL   b\n")
    assert output.endswith("1 passed, 1 failed in TIME\n")
    assert "PASS   a\n" in (tmp_path / "report.txt").read_text()


def test_json(tmp_path: Path, printed: Printed) -> None:
    project(tmp_path, a=GOOD, b=BAD)
    report = json.loads(printed("-o", "json", code=1))
    assert report["summary"] == {"passed": 1, "failed": 1, "seeded": 0, "updated": 0}
    good, bad = report["cases"]
    assert (good["name"], good["status"], good["problems"]) == ("a", "PASS", [])
    (problem,) = bad["problems"]
    assert (problem["file"], problem["line"], problem["column"]) == ("b.case.yaml", 1, 10)
    assert problem["message"] == "ready: expected the XR to be ready"


def test_junit_in_a_file(tmp_path: Path, printed: Printed) -> None:
    """CI reads the file, people the text; what XML cannot hold is replaced."""
    project(tmp_path, a=GOOD, b=BAD, c='expect: {status: {runs: "\\u0001"}}')
    output = printed("--output", "junit", "--output-file", "report.xml", code=1)
    assert output.endswith("1 passed, 2 failed in TIME\n")
    suite = ET.parse(tmp_path / "report.xml").getroot()[0]  # noqa: S314 - written by ourselves
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    failures = {case.get("name"): case.find("failure") for case in suite}
    assert failures["a"] is None
    assert failures["b"].get("message") == "ready: expected the XR to be ready"
    assert "b.case.yaml:1:10" in failures["b"].text


def test_text_in_a_file(tmp_path: Path, printed: Printed) -> None:
    project(tmp_path, a=GOOD)
    output = printed("--output-file", "report.txt")
    report = re.sub(r"in [0-9.]+ s\b", "in TIME", (tmp_path / "report.txt").read_text())
    assert report == output == "PASS   a\n1 passed in TIME\n"
    for path in ("nowhere/report.txt", "."):
        text = printed("--output-file", path, code=1)
        assert text.startswith(f'error: cannot write "{path}": '), text


def test_name_cannot_fake_the_line_of_another_case(tmp_path: Path, printed: Printed) -> None:
    project(tmp_path, a=BAD)
    (tmp_path / "a.case.yaml").rename(tmp_path / "a\nPASS   b.case.yaml")
    assert printed(code=1).startswith("FAIL   a PASS b\n")


def test_file_has_names_that_are_not_utf_8(tmp_path: Path, printed: Printed) -> None:
    project(tmp_path, a=GOOD)
    (tmp_path / "a.case.yaml").rename(tmp_path / os.fsdecode(b"\xff.case.yaml"))
    printed("-o", "json", "--output-file", "report.json")
    (case,) = json.loads((tmp_path / "report.json").read_text())["cases"]
    assert os.fsencode(case["name"]) == b"\xff"


def test_other_functions_are_left_out_on_demand(tmp_path: Path, printed: Printed) -> None:
    """A function that is not ours is called or skipped, as with `render`."""
    project(tmp_path, a="expect: {status: {runs: 1}}")
    step = "  - step: other\n    functionRef:\n      name: function-other\n"
    with (tmp_path / "composition.yaml").open("a") as file:
        file.write(step)
    assert "--function function-other=skip" in printed(code=1)
    assert printed("--function", "function-other=skip") == "PASS   a\n1 passed in TIME\n"


@pytest.mark.serial
def test_five_hundred_cases_take_few_seconds(tmp_path: Path, printed: Printed) -> None:
    """They share one sandbox: 500 small ones take 1 s on two cores, and may never take a minute."""
    case = "patch: {spec: {size: %d}}\nexpect: {resources: {database: {spec: {size: %d}}}}\n"
    project(tmp_path, **{f"c{index}": case % (index % 9, index % 9) for index in range(500)})
    started = time.monotonic()
    assert "500 passed" in printed("--jobs", "2")
    assert time.monotonic() - started < PATIENCE_SECONDS
