"""The file of a case: every mistake is told at once, at its place."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support.case_projects import folder, project
from support.paths import ROOT

from function_script.texts.errors import InputError
from function_script.tools.cases import model, parser
from function_script.tools.cases.loader import FileCache
from function_script.tools.project import Project

MISTAKES = {
    "key": ("expct: {}", ['1:1 expct: unknown field (did you mean "expect"?)']),
    "expectation": (
        "expect: {evnts: []}",
        ['1:10 expect.evnts: unknown field (did you mean "events"?)'],
    ),
    "ready": ("ready: [a]", ["1:1 ready: belongs to a step of steps (it says"]),
    "no-steps": ("steps: []", ["1:1 steps: must not be empty"]),
    "steps": (
        "steps: [{expct: 1}, {ready: 2}]",
        [
            '1:10 steps[0].expct: unknown field (did you mean "expect"?)',
            "1:22 steps[1].ready: must be a string or a list of strings",
        ],
    ),
    "step": (
        "steps: [{credentials: {}}]",
        ["1:10 steps[0].credentials: unknown field (it belongs to the case, beside steps)"],
    ),
    "expectation-beside-steps": (
        "expect: {}\nsteps: [{name: a}]",
        ["1:1 expect: belongs to a step of steps"],
    ),
    "empty-error": ("expect: {error: ''}", ["1:10 expect.error: must not be empty"]),
    "error-and-more": (
        "expect: {error: a, status: {}}",
        ["1:20 expect.status: cannot be expected together with an error"],
    ),
    "condition": (
        "expect: {conditions: [{status: 'True'}]}",
        ["1:23 expect.conditions[0].type: is required"],
    ),
    "event": (
        "expect: {events: [{mesage: a}, {}]}",
        [
            '1:20 expect.events[0].mesage: unknown field (did you mean "message"?)',
            "1:32 expect.events[1]: must not be empty",
        ],
    ),
    "paths": (
        "expect: {checks: [{path: 'a[', equals: 1}, {path: resource.a, equals: 1}]}",
        [
            "1:20 expect.checks[0].path: cannot read the path 'a[' at character 2",
            '1:45 expect.checks[1].path: there is no "resource" to look at (did you',
        ],
    ),
    "questions": (
        "expect: {checks: [{path: status}, {path: status, exists: 1, matches: '(', oneOf: []}]}",
        [
            "1:19 expect.checks[0]: must ask something: equals, exists, matches, oneOf",
            "1:50 expect.checks[1].exists: must be a boolean, not an integer",
            "1:61 expect.checks[1].matches: pattern: missing )",
            "1:75 expect.checks[1].oneOf: must be a list that is not empty",
        ],
    ),
    "no-file": ("observed: nope.yaml", ['1:1 cannot read "', "no such file"]),
    "no-path": ("observed: 1", ["1:1 observed: must be a path or an object"]),
    "item": ("required: [1]", ["1:12 required[0]: must be a path or an object"]),
    "xr": ("xr: [1]", ["1:1 xr: must be a path or an object, not a list"]),
    "both": (
        "{input: {}, composition: composition.yaml}",
        ["1:2 input: there can be a Composition or an input, not both"],
    ),
    "no-function": ("functions: {apiVersion: v1, kind: Pod}", ["1:1 cannot use a Pod"]),
}


def mistakes(path: Path) -> str:
    """What is wrong with a case, as lines of place, message and hint."""
    with pytest.raises(InputError) as caught:
        parser.parse(path, FileCache(Project([path.parent])))
    lines = []
    for problem in caught.value.diagnostics:
        assert problem.span.name == str(path)
        hint = f" ({problem.hint})" if problem.hint else ""
        lines.append(f"{problem.span.line}:{problem.span.column} {problem.message}{hint}")
    return "\n".join(lines)


@pytest.mark.parametrize(("case", "expected"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_have_a_place(tmp_path: Path, case: str, expected: list[str]) -> None:
    lines = mistakes(project(tmp_path, one=case) / "one.case.yaml")
    assert len(lines.splitlines()) == (1 if "no such file" in expected else len(expected))
    assert [part for part in expected if part not in lines] == [], lines


def test_files_with_mistakes_keep_their_own_place(tmp_path: Path) -> None:
    project(tmp_path, one="observed: bad.yaml")
    (tmp_path / "bad.yaml").write_text("a: 1\nb: [")
    with pytest.raises(InputError) as caught:
        parser.parse(tmp_path / "one.case.yaml", FileCache(Project([tmp_path])))
    assert caught.value.diagnostics[0].span.name == str(tmp_path / "bad.yaml")


def test_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    path = folder(tmp_path / "tests" / "a", case="description: a case") / "case.yaml"
    assert mistakes(path).splitlines() == [
        "1:1 composition: is required, as there is no composition.yaml in this directory or above",
        "1:1 xr: is required, as there is no xr.yaml",
    ]


@pytest.mark.parametrize("key", ["xr", "xrd", "composition", "input"])
def test_file_without_an_object_is_named(tmp_path: Path, key: str) -> None:
    """Without a problem the case would not run, and pass."""
    path = project(tmp_path, one=f"{key}: empty.yaml") / "one.case.yaml"
    (tmp_path / "empty.yaml").write_text("# Nothing yet.\n")
    assert f'1:1 {key}: "{tmp_path}/empty.yaml" holds 0 objects instead of one' in mistakes(path)


def test_composition_beyond_the_repository_is_not_found(tmp_path: Path) -> None:
    """What lies above the root of a repository belongs to others."""
    inner = project(tmp_path) / "inner"
    case = folder(inner / "tests", case="{xr: ../../xr.yaml, expect: {}}") / "case.yaml"
    case_ = parser.parse(case, FileCache(Project([tmp_path])))
    assert case_.setup.inputs.composition["kind"] == "Composition"
    (inner / ".git").mkdir()
    assert "composition: is required" in mistakes(case)


def test_reference_knows_every_key() -> None:
    page = (ROOT / "docs/reference/cases.md").read_text()
    fields = {*parser.CASE_FIELDS, *parser.STEP_FIELDS, *parser.EXPECT_FIELDS}
    keys = fields | {*parser.QUESTIONS}
    assert {key for key in keys if f"\n| `{key}` |" not in page} == set()


def test_discovery(tmp_path: Path) -> None:
    project(tmp_path, b="", a="")
    for name in ("c", ".hidden", "node_modules"):
        folder(tmp_path / name, case="", other="")
    files = model.find_cases([tmp_path, tmp_path / "a.case.yaml"])
    assert [model.name_of(case) for case in files] == [
        f"{tmp_path}/{name}" for name in ("a", "b", "c")
    ]


def test_discovery_refuses_a_folder_that_it_cannot_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cases would count as passed."""
    project(tmp_path, a="")
    (tmp_path / "secret").mkdir()

    def scandir(path: str, scan: Callable[[str], object] = os.scandir) -> object:
        if Path(path).name == "secret":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scan(path)

    # Root may read every folder.
    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(InputError, match=r'cannot read ".*/secret": permission denied'):
        model.find_cases([tmp_path])
