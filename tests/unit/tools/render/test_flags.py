"""Flags of `render` that give several things at once, as the official command takes them."""

import json
from pathlib import Path

import click
import pytest
from support import one_step
from support.commands import Run
from support.paths import ROOT

from function_script.cli import render_options
from function_script.texts.errors import InputError
from function_script.texts.source import Source
from function_script.tools import bounded
from function_script.tools.project import Project
from function_script.tools.render import loading

PAIRS = {
    "one": (["a=1"], ",", [("a", "1")]),
    "two": (["a=1,b=2"], ",", [("a", "1"), ("b", "2")]),
    "repeated": (["a=1;b=2", "c=3"], ";", [("a", "1"), ("b", "2"), ("c", "3")]),
    "a-value-with-the-separator": (["a=1,2"], ",", [("a", "1,2")]),
    "json-with-the-separator": (['a={"b": "c;d"}'], ";", [("a", '{"b": "c;d"}')]),
    "escaped": (["a=1\\,b=2"], ",", [("a", "1,b=2")]),
    "value-with-an-equals-sign": (["a=b=c"], ",", [("a", "b=c")]),
}


@pytest.mark.parametrize(("texts", "separator", "pairs"), PAIRS.values(), ids=PAIRS)
def test_pairs_may_be_joined(
    texts: list[str], separator: str, pairs: list[tuple[str, str]]
) -> None:
    assert render_options.split_pairs(texts, "--flag", separator) == pairs


@pytest.mark.parametrize("text", ["a", "", "=1"])
def test_value_without_a_pair_is_wrong_usage(text: str) -> None:
    with pytest.raises(click.UsageError, match=r"--flag: .* is not of the form KEY=VALUE"):
        render_options.split_pairs([text], "--flag", ",")


def test_paths_may_be_joined(tmp_path: Path) -> None:
    odd = tmp_path / "a,b.yaml"
    odd.write_text("")
    assert render_options.split_paths([Path("a.yaml,b"), odd, Path("c")]) == [
        Path("a.yaml"),
        Path("b"),
        odd,
        Path("c"),
    ]


def test_schema_may_be_a_file(tmp_path: Path) -> None:
    """The official command walks it as a directory of one."""
    file = tmp_path / "core.json"
    file.write_text(json.dumps({"components": {}}))
    project = Project([tmp_path])
    assert loading.load_schemas(file, project) == [{"components": {}}]
    assert loading.load_schemas(tmp_path, project) == [{"components": {}}]
    other = tmp_path / "core.txt"
    other.write_text("{}")
    with pytest.raises(InputError, match=r"there is no \.json file"):
        loading.load_schemas(other, Project([tmp_path]))
    with pytest.raises(InputError, match="no such file"):
        loading.load_schemas(tmp_path / "nowhere", Project([tmp_path]))


@pytest.mark.parametrize("name", ["required", "observed"])
def test_object_of_the_cluster_has_a_kind(tmp_path: Path, name: str) -> None:
    """No API server has one without."""
    file = tmp_path / f"{name}.yaml"
    file.write_text("apiVersion: v1\nkind: A\n---\na: 1\n---\nb: 1\n")
    (document,) = bounded.read_documents(Source(name="xr.yaml", text="kind: XR"))
    paths = loading.find_render_paths(tmp_path, Project([tmp_path]))
    with pytest.raises(InputError) as caught:
        loading.load_inputs(paths, document, document)
    assert [problem.message for problem in caught.value.diagnostics] == [
        "cannot load document 2: its kind is missing",
        "cannot load document 3: its kind is missing",
    ]
    assert [str(problem.span) for problem in caught.value.diagnostics] == [
        f"{file}:4",
        f"{file}:6",
    ]


XRD = one_step.xrd("").partition("    served:")[0]
UNREADABLE = {
    "no-schema": ("    served: true\n", "versions[0].schema: is required"),
    "type": (
        "    served: 'true'\n    schema: {openAPIV3Schema: {}}\n",
        "versions[0].served: must be a boolean, not a string",
    ),
}


@pytest.mark.parametrize(("rest", "message"), UNREADABLE.values(), ids=UNREADABLE)
def test_xrd_that_makes_no_crd_is_refused(
    tmp_path: Path, run: Run, rest: str, message: str
) -> None:
    """Crossplane could not serve any of its XRs."""
    (tmp_path / "xr.yaml").write_text(one_step.XR)
    composition = one_step.composition("JinjaTemplate", "# nothing")
    (tmp_path / "composition.yaml").write_text(composition)
    (tmp_path / "xrd.yaml").write_text(XRD + rest)
    assert message in run("render", tmp_path, code=1).err


BUILTIN = ("render", ROOT / "examples" / "built-in-functions")


def test_explanation_has_a_line_for_each_step(run: Run) -> None:
    printed = run(*BUILTIN, "--explain-functions", "--function", "function-auto-ready=skip")
    settings, queue, ready = printed.out.splitlines()
    assert settings.startswith("settings: function-environment-configs is built in, as v")
    assert queue.startswith("queue: function-script runs here, in the sandbox: ")
    assert ready.startswith("ready: function-auto-ready is skipped: --function")


def test_strict_versions_refuse_a_builtin_function(run: Run) -> None:
    printed = run(*BUILTIN, "--strict-versions", code=1)
    assert "is built in; the Function names v0.4.0\n  --> " in printed.err


@pytest.mark.parametrize("flags", [[], ["--quiet"]], ids=["once", "quiet"])
def test_note_of_a_builtin_function_is_printed_once(run: Run, flags: list[str]) -> None:
    note = "note: function-auto-ready v0.7.0 is built in; the Function names v0.5.0"
    assert run(*BUILTIN, *flags).err.count(note) == (0 if flags else 1)
