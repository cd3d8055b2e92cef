"""Files for editors: the schema judges as the CRDs do, snippets are good programs."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import jsonschema
import pytest
from conformance import input_corpus
from support.commands import Run
from support.paths import ROOT
from support.render_helpers import composition

from function_script.cli import commands, execute
from function_script.request import objects
from function_script.request.values import Object
from function_script.tools import editor, sources, structural_schema
from function_script.tools.editor import schema
from function_script.tools.project import Project
from function_script.tools.validate import catalog, openapi
from function_script.tools.validate.catalog import Catalog

CATALOG = Catalog(document.value for document in catalog.bundled())
SCHEMA = schema.build()
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)
KINDS = {"Composition", "Operation", "CronOperation", "WatchOperation"}
# Editors read patterns as JavaScript does: `$` is the end, with no line break before it.
ONLY_IN_PYTHON = "90s\n"


def pipelines() -> Iterator[object]:
    """All Compositions and Operations that this project shows to people."""
    folders = [ROOT / "examples", *(ROOT / "function_script" / "engines").glob("*/starter")]
    for path in sorted(path for folder in folders for path in folder.rglob("*.yaml")):
        for document in sources.load([str(path)], Project([path.parent])):
            if document.value.get("kind") in KINDS:
                yield pytest.param(document.value, id=str(path.relative_to(ROOT)))


def inputs(folder: str) -> list[object]:
    """The inputs of a folder of the corpus that are of a kind with a CRD."""
    return [
        pytest.param(case.value, id=case.id)
        for case in input_corpus.read_folder(folder)
        if CATALOG.find(*objects.api_version_and_kind(case.value)) is not None
        if case.value.get("ttl") != ONLY_IN_PYTHON
    ]


def problems(value: object) -> list[str]:
    """Return the messages of the schema's validator."""
    return [error.message for error in VALIDATOR.iter_errors(value)]


def test_editor_schema_is_a_schema() -> None:
    assert SCHEMA["$schema"] == jsonschema.Draft7Validator.META_SCHEMA["$id"]
    jsonschema.Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("value", list(pipelines()))
def test_examples_are_accepted(value: Object) -> None:
    """No editor marks what we show."""
    assert problems(value) == []


@pytest.mark.parametrize("value", inputs("accepted"))
def test_editor_schema_accepts_inputs_that_the_crds_accept(value: Object) -> None:
    """Null counts as absent there and here."""
    assert problems(composition({"input": value})) == []


@pytest.mark.parametrize("value", inputs("refused"))
def test_editor_schema_refuses_inputs_that_the_crds_refuse(value: Object) -> None:
    """The schema refuses nothing else: rules in CEL are for `validate`."""
    result = CATALOG.find(*objects.api_version_and_kind(value))
    copy = structural_schema.complete(value, result)
    refused = [*openapi.check(copy, result)[0], *structural_schema.unknown_fields(copy, result)]
    assert bool(problems(composition({"input": value}))) == bool(refused)


SCRIPT = {"apiVersion": "script.fn.crossplane.io/v1beta1", "kind": "StarlarkScript", "script": "x"}
MISTAKES = {
    "field": ({"input": {**SCRIPT, "scirpt": "x"}}, "'scirpt' was unexpected"),
    "kind": ({"input": {**SCRIPT, "kind": "Starlark"}}, "'Starlark' is not one of"),
    "version": (
        {"input": {**SCRIPT, "apiVersion": "script.fn.crossplane.io/v1"}},
        "'script.fn.crossplane.io/v1beta1' was expected",
    ),
    "type": ({"input": {**SCRIPT, "script": 1}}, "1 is not of type"),
    "api": ({"input": {"kind": "StarlarkScript"}}, "'apiVersion' is a required"),
    "step": ({"stepp": "a"}, "'stepp' was unexpected"),
    "function": ({"functionRef": {}}, "'name' is a required property"),
}


@pytest.mark.parametrize(("step", "message"), MISTAKES.values(), ids=MISTAKES)
def test_usual_mistakes_are_marked(step: Object, message: str) -> None:
    assert message in "\n".join(problems(composition(step)))


def test_other_functions_and_other_files_are_left_alone() -> None:
    other: Object = {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources", "x": 1}
    assert problems(composition({"input": other})) == []
    assert problems({"apiVersion": "v1", "kind": "ConfigMap", "spec": 1}) == []


def test_operations_have_inputs_as_well() -> None:
    spec: Object = {"pipeline": [{"step": "a", "input": {**SCRIPT, "scirpt": "x"}}]}
    head: Object = {"apiVersion": "ops.crossplane.io/v1alpha1"}
    assert problems({**head, "kind": "Operation", "spec": spec})
    for kind in ("CronOperation", "WatchOperation"):
        assert problems({**head, "kind": kind, "spec": {"operationTemplate": {"spec": spec}}})


XR = """\
apiVersion: platform.example.org/v1alpha1
kind: App
metadata: {name: demo, namespace: default}
spec: {}
"""
OBSERVED = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: demo-config
  namespace: default
  annotations: {crossplane.io/composition-resource-name: config}
data: {name: demo}
"""


def filled(body: list[str]) -> str:
    """Return the text that an editor inserts for a snippet with all defaults."""
    text = re.sub(r"\$\{\d+:(.*?)\}", r"\1", "\n".join(body))
    return re.sub(r"(?<!\\)\$\d", "", text).replace("\\$", "$")


def snippet(name: str) -> str:
    """Return a step as the only one of the Composition that is a snippet, too."""
    bodies = editor.snippets()
    frame = filled(bodies["A Composition with an empty pipeline"]["body"])
    return frame + filled(bodies[name]["body"]).replace("\n", "\n  ")


STEPS = [name for name in editor.snippets() if "step" in name]


@pytest.mark.parametrize("name", STEPS)
def test_snippets_are_programs_without_mistakes(name: str, tmp_path: Path) -> None:
    path = tmp_path / "composition.yaml"
    path.write_text(snippet(name))
    (document,) = sources.load([str(path)], Project([path.parent]))
    assert problems(document.value) == []
    assert execute(["check", "--strict", str(path)]) == 0


@pytest.mark.parametrize("observed", ["", OBSERVED], ids=["first-reconcile", "later-one"])
@pytest.mark.parametrize("name", STEPS)
def test_snippets_render(name: str, observed: str, tmp_path: Path, run: Run) -> None:
    (tmp_path / "composition.yaml").write_text(snippet(name))
    (tmp_path / "xr.yaml").write_text(XR)
    (tmp_path / "observed.yaml").write_text(observed or "# nothing yet\n")
    assert "kind: ConfigMap\n" in (text := run("render", tmp_path).out)
    assert "data:\n  name: demo\n" in text


def test_files_are_where_editors_look(tmp_path: Path, run: Run) -> None:
    printed = run("editor", tmp_path)
    assert printed.out.splitlines() == [str(tmp_path / name) for name in editor.build()]
    assert editor.MODELINE + editor.SCHEMA in printed.err
    (schema_path,) = json.loads((tmp_path / editor.SETTINGS).read_text())["yaml.schemas"]
    assert json.loads((tmp_path / schema_path).read_text()) == SCHEMA
    assert "def get_xr(" in (tmp_path / "typings/__builtins__.pyi").read_text()


def test_settings_of_the_user_are_kept(tmp_path: Path, run: Run) -> None:
    run("editor", tmp_path)
    for name in (editor.SETTINGS, editor.SCHEMA):
        (tmp_path / name).write_text("mine")
    assert f"kept: {tmp_path / editor.SETTINGS}\n" in run("editor", tmp_path).err
    assert run("editor", tmp_path, "--quiet").err == ""
    assert (tmp_path / editor.SETTINGS).read_text() == "mine"
    assert json.loads((tmp_path / editor.SCHEMA).read_text()) == SCHEMA


def test_bash_completes_commands_and_flags() -> None:
    """A real bash runs the script that the command itself prints."""
    binary = Path(sys.executable).with_name("function-script")
    script = """
eval "$(_FUNCTION_SCRIPT_COMPLETE=bash_source function-script)"
complete_line() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    "$(complete -p function-script | sed -E 's/.*-F ([^ ]+).*/\\1/')" function-script
    echo "${COMPREPLY[@]}"
}
complete_line function-script pac
complete_line function-script package ""
complete_line function-script init --language j
"""
    completed = subprocess.run(
        ["bash", "--norc", "-c", script],
        env={**os.environ, "PATH": f"{binary.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.stdout.splitlines() == ["package", "build inspect push", "jinja"], (
        completed.stderr
    )
    assert {"package", "init"} <= set(commands.list_commands(click.Context(commands)))
