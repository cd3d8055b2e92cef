"""`render operation`: from files to documents, as the official command has them."""

from pathlib import Path

import pytest

from function_script import documents
from function_script.request.values import Object
from function_script.texts.errors import FatalError, InputError
from function_script.texts.source import Source
from function_script.tools import local_pool
from function_script.tools.render import command, loading, renderer
from function_script.tools.render.output import OutputOptions

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


def indented(text: str, columns: int) -> str:
    """The text further to the right."""
    return "".join(f"{' ' * columns}{line}\n" for line in text.splitlines())


def write_files(directory: Path, kind: str, spec: str = SPEC, **files: str) -> Path:
    """A directory with an Operation, or the template of one, of this kind."""
    head = f"apiVersion: ops.crossplane.io/v1alpha1\nkind: {kind}\nmetadata:\n  name: demo\nspec:\n"
    if kind == "Operation":
        text = head + indented(spec, 2)
    else:
        text = f"{head}  operationTemplate:\n    metadata: {{labels: {{a: b}}}}\n    spec:\n"
        text += indented(spec, 6)
    for name, content in {"operation": text, **files}.items():
        (directory / f"{name}.yaml").write_text(content)
    return directory


def render(directory: Path, sections: OutputOptions | None = None) -> list[Object]:
    """The documents that are printed."""
    options = command.Options(
        rendering=renderer.Options(print=print),
        output=sections or OutputOptions(),
        report=print,
    )
    with local_pool.open_pool(None) as pool:
        paths = loading.find_operation_paths(directory)
        text = command.render_operation(paths, options, pool)
    return [item.value for item in documents.read_source(Source(name="", text=text))]


@pytest.mark.parametrize("kind", ["Operation", "CronOperation", "WatchOperation"])
def test_operations_and_templates_are_run(tmp_path: Path, kind: str) -> None:
    operation, report = render(write_files(tmp_path, kind))
    assert operation["kind"] == "Operation"
    assert operation["metadata"]["name"] == "demo"
    assert operation["metadata"].get("labels") == (None if kind == "Operation" else {"a": "b"})
    assert operation["status"]["pipeline"] == [{"step": "report", "output": {"seen": "nobody"}}]
    assert report["metadata"] == {"name": "nobody"}


def test_watched_object_is_required_by_every_step(tmp_path: Path) -> None:
    """As the cluster does it."""
    operation, report = render(write_files(tmp_path, "WatchOperation", watched=WATCHED))
    assert report["metadata"] == {"name": "shop"}
    (step,) = operation["spec"]["pipeline"]
    assert step["requirements"]["requiredResources"][0]["name"] == "shop"


def test_context_is_handed_over_by_steps_that_are_shown(tmp_path: Path) -> None:
    """The official command adds them to the Operation, and they are part of what it prints."""
    (tmp_path / "context").mkdir()
    (tmp_path / "context" / "zone.yaml").write_text("a: b\n")
    operation, _, context = render(write_files(tmp_path, "Operation"), OutputOptions(context=True))
    assert context["fields"] == {"zone": {"a": "b"}, "seen": "nobody"}
    assert [step["step"] for step in operation["spec"]["pipeline"]] == [
        "crossplane-render-inject-context",
        "report",
        "crossplane-render-extract-context",
    ]


@pytest.mark.parametrize(("kind", "place"), [("Operation", "16:22"), ("CronOperation", "19:26")])
def test_positions_are_in_the_file(tmp_path: Path, kind: str, place: str) -> None:
    """In a template as well."""
    broken = SPEC.replace("def main(req):", "def main(req):\n            return 1 // 0")
    with pytest.raises(FatalError) as caught:
        render(write_files(tmp_path, kind, broken))
    span = caught.value.diagnostics[0].span
    assert str(span) == f"{tmp_path / 'operation.yaml'}:{place}"


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("Operation", "spec.pipeline[0].functionRef: is required"),
        ("CronOperation", "spec.operationTemplate.spec.pipeline[0].functionRef: is required"),
    ],
)
def test_fields_are_named_from_the_root(tmp_path: Path, kind: str, field: str) -> None:
    spec = "mode: Pipeline\npipeline:\n  - step: lonely\n"
    with pytest.raises(InputError) as caught:
        render(write_files(tmp_path, kind, spec))
    (problem,) = caught.value.diagnostics
    assert problem.message == field
    assert problem.span is not None


def test_other_kinds_are_refused(tmp_path: Path) -> None:
    (tmp_path / "operation.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n")
    with pytest.raises(InputError, match='cannot use Pod "x" as an Operation'):
        render(tmp_path)


def test_operation_that_is_over_is_told(tmp_path: Path) -> None:
    """Nothing would happen, which nobody wants to see."""
    write_files(tmp_path, "Operation")
    with (tmp_path / "operation.yaml").open("a") as file:
        file.write('status: {conditions: [{type: Succeeded, status: "True"}]}\n')
    with pytest.raises(InputError, match="it has run already"):
        render(tmp_path)
