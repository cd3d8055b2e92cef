"""`render operation`: from files to documents, as the official command has them."""

from pathlib import Path
from textwrap import indent

import pytest
import yaml
from support.commands import Run

SPEC = """\
mode: Pipeline
pipeline:
  - step: report
    functionRef:
      name: function-script
    input:
      apiVersion: script.fn.crossplane.io/v1beta1
      kind: StarlarkScript
      script: |
        def main(req):
            found = req["required_resources"].get("ops.crossplane.io/watched-resource")
            name = found["items"][0]["resource"]["metadata"]["name"] if found else "nobody"
            report = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
            return {
                "desired": {"resources": {"report": {"resource": report}}},
                "context": dict(req["context"], seen = name),
                "output": {"seen": name},
            }
"""
WATCHED = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"


def write_files(directory: Path, kind: str, spec: str = SPEC, **files: str) -> Path:
    """A directory with an Operation, or the template of one, of this kind."""
    head = f"apiVersion: ops.crossplane.io/v1alpha1\nkind: {kind}\nmetadata:\n  name: demo\nspec:\n"
    if kind == "Operation":
        text = head + indent(spec, "  ")
    else:
        text = f"{head}  operationTemplate:\n    metadata: {{labels: {{a: b}}}}\n    spec:\n"
        text += indent(spec, " " * 6)
    for name, content in {"operation": text, **files}.items():
        (directory / f"{name}.yaml").write_text(content)
    return directory


COMMAND = ("render", "operation", "--include-full-operation")


@pytest.mark.parametrize("kind", ["Operation", "CronOperation", "WatchOperation"])
def test_operations_and_templates_are_run(tmp_path: Path, kind: str, run: Run) -> None:
    operation, report = yaml.safe_load_all(run(*COMMAND, write_files(tmp_path, kind)).out)
    assert operation["kind"] == "Operation"
    assert operation["metadata"]["name"] == "demo"
    assert operation["metadata"].get("labels") == (None if kind == "Operation" else {"a": "b"})
    assert operation["status"]["pipeline"] == [{"step": "report", "output": {"seen": "nobody"}}]
    assert report["metadata"] == {"name": "nobody"}


@pytest.mark.parametrize("kind", ["Operation", "CronOperation"])
def test_warning_of_a_step_is_printed_at_its_line(tmp_path: Path, kind: str, run: Run) -> None:
    data = '{"name": name}, "data": {"a": "%s" % {}.get("x")}}'
    spec = SPEC.replace('{"name": name}}', data)
    folder = write_files(tmp_path, kind, spec)
    (number,) = (
        number
        for number, line in enumerate((folder / "operation.yaml").read_text().split("\n"), 1)
        if "report = " in line
    )
    printed = run("render", "operation", folder).err
    assert "warning: main returned desired.resources.report.resource.data.a" in printed
    assert f"operation.yaml:{number}:" in printed
    assert "warning" not in run("render", "operation", folder, "-r").err


def test_watched_object_is_required_by_every_step(tmp_path: Path, run: Run) -> None:
    """The cluster does the same."""
    folder = write_files(tmp_path, "WatchOperation", watched=WATCHED)
    operation, report = yaml.safe_load_all(run(*COMMAND, folder).out)
    assert report["metadata"] == {"name": "shop"}
    (step,) = operation["spec"]["pipeline"]
    assert step["requirements"]["requiredResources"][0]["name"] == "shop"
    moved = (folder / "watched.yaml").rename(tmp_path / "namespace.yaml")
    _, report = yaml.safe_load_all(run(*COMMAND, folder, "--watched-resource", moved).out)
    assert report["metadata"] == {"name": "shop"}


def test_context_is_handed_over_by_steps_that_are_shown(tmp_path: Path, run: Run) -> None:
    """The official command adds them to the Operation, and they are part of what it prints."""
    (tmp_path / "context").mkdir()
    (tmp_path / "context" / "zone.yaml").write_text("a: b\n")
    printed = run(*COMMAND, "--include-context", write_files(tmp_path, "Operation"))
    operation, _, context = yaml.safe_load_all(printed.out)
    assert context["fields"] == {"zone": {"a": "b"}, "seen": "nobody"}
    assert [step["step"] for step in operation["spec"]["pipeline"]] == [
        "crossplane-render-inject-context",
        "report",
        "crossplane-render-extract-context",
    ]


@pytest.mark.parametrize(("kind", "place"), [("Operation", "16:22"), ("CronOperation", "19:26")])
def test_positions_are_in_the_file(tmp_path: Path, kind: str, place: str, run: Run) -> None:
    broken = SPEC.replace("def main(req):", "def main(req):\n            return 1 // 0")
    printed = run(*COMMAND, write_files(tmp_path, kind, broken), code=1)
    assert f"--> {tmp_path / 'operation.yaml'}:{place}\n" in printed.err


@pytest.mark.parametrize("flags", [(), ("--explain-functions",)], ids=["run", "explain"])
@pytest.mark.parametrize(
    ("kind", "root", "place"),
    [("Operation", "spec", "8:7"), ("CronOperation", "spec.operationTemplate.spec", "11:11")],
)
def test_problem_of_a_field_is_named_from_the_root(
    tmp_path: Path, kind: str, root: str, place: str, flags: tuple[str, ...], run: Run
) -> None:
    spec = "mode: Pipeline\npipeline:\n  - step: lonely\n"
    printed = run(*COMMAND, *flags, write_files(tmp_path, kind, spec), code=1)
    field = f"{root}.pipeline[0].functionRef: is required"
    assert f"error: {field}\n  --> {tmp_path / 'operation.yaml'}:{place}\n" in printed.err


@pytest.mark.parametrize("flags", [(), ("--explain-functions",)], ids=["run", "explain"])
@pytest.mark.parametrize(("kind", "place"), [("Operation", "9:21"), ("CronOperation", "12:25")])
def test_function_that_cannot_run_is_told_at_its_name(
    tmp_path: Path, kind: str, place: str, flags: tuple[str, ...], run: Run
) -> None:
    spec = "mode: Pipeline\npipeline:\n  - step: a\n    functionRef: {name: function-other}\n"
    printed = run(*COMMAND, *flags, write_files(tmp_path, kind, spec), code=1)
    assert 'nothing says how function "function-other" runs' in printed.err
    assert f"--> {tmp_path / 'operation.yaml'}:{place}\n" in printed.err


def test_other_kinds_are_refused(tmp_path: Path, run: Run) -> None:
    (tmp_path / "operation.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n")
    assert 'cannot use Pod "x" as an Operation' in run(*COMMAND, tmp_path, code=1).err


def test_operation_that_is_over_is_told(tmp_path: Path, run: Run) -> None:
    """Nothing would happen, which nobody wants to see."""
    write_files(tmp_path, "Operation")
    with (tmp_path / "operation.yaml").open("a") as file:
        file.write('status: {conditions: [{type: Succeeded, status: "True"}]}\n')
    assert "it has run already" in run(*COMMAND, tmp_path, code=1).err
