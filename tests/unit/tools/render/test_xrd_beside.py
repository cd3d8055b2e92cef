"""The XRD beside a Composition, without a flag that names it."""

from pathlib import Path

import pytest
from support import one_step
from support.commands import Run

from function_script import cli

SPEC = "spec: {{type: object, properties: {{size: {{type: string, default: {}}}}}}}"
XR = f"{one_step.XR}spec: {{}}\n"
PROGRAM = """\
apiVersion: v1
kind: ConfigMap
metadata: {annotations: {script.fn.crossplane.io/composition-resource-name: a}}
data: {size: "{{ .observed.composite.resource.spec.size }}"}
"""
COMPOSITION = one_step.composition("GoTemplate", PROGRAM, fields="options: {missingKey: Default}\n")
NAMES = [
    pytest.param({"xrd.yaml": ("XThing", "large")}, "large", id="xrd"),
    pytest.param({"definition.yaml": ("XThing", "large")}, "large", id="definition"),
    pytest.param({"xrd.yaml": ("XOther", "large")}, None, id="of-another-kind"),
    pytest.param({"xrd.yml": ("XOther", "s"), "xrd.yaml": ("XThing", "m")}, "m", id="one-of-two"),
    pytest.param({"xrd.yml": ("XThing", "s"), "definition.yaml": ("XThing", "m")}, None, id="two"),
    pytest.param({"thing-xrd.yaml": ("XThing", "large")}, "large", id="word-at-the-end"),
    pytest.param({"03-thingDefinition.yml": ("XThing", "large")}, "large", id="other-word"),
    pytest.param(
        {"a-xrd.yaml": ("XOther", "s"), "b-xrd.yaml": ("XThing", "m")}, "m", id="one-of-two-words"
    ),
    pytest.param(
        {"a-xrd.yaml": ("XThing", "s"), "b-xrd.yaml": ("XThing", "m")}, None, id="two-words"
    ),
    pytest.param(
        {"xrd.yaml": ("XThing", "s"), "old-xrd.yaml": ("XThing", "m")}, "s", id="usual-name-first"
    ),
    pytest.param({"thing.yaml": ("XThing", "large")}, None, id="no-word"),
    pytest.param({}, None, id="none"),
]


def write(directory: Path, files: dict[str, tuple[str, str]]) -> list[str]:
    """Write an XR, its Composition and these XRDs; return the paths of the first two."""
    (directory / "xr.yaml").write_text(XR)
    (directory / "composition.yaml").write_text(COMPOSITION)
    for name, (kind, size) in files.items():
        (directory / name).write_text(one_step.xrd(SPEC.format(size), kind))
    return [str(directory / "xr.yaml"), str(directory / "composition.yaml")]


@pytest.mark.parametrize(("files", "size"), NAMES)
def test_files_are_rendered_with_the_xrd_beside_them(
    tmp_path: Path, run: Run, files: dict[str, tuple[str, str]], size: str | None
) -> None:
    output = run("render", *write(tmp_path, files))
    assert ("note: the XRD is " in output.err) is (size is not None)
    assert f"size: {size or '<no value>'}\n" in output.out


def test_xrd_none_renders_without_it(tmp_path: Path, run: Run) -> None:
    paths = write(tmp_path, {"xrd.yaml": ("XThing", "large")})
    output = run("render", *paths, "--xrd", "none")
    assert "the XRD is" not in output.err
    assert "size: <no value>\n" in output.out


@pytest.mark.parametrize(("name", "has_note"), [("definition.yaml", True), ("xrd.yaml", False)])
def test_directory_is_rendered_as_its_files_are(
    tmp_path: Path, run: Run, name: str, *, has_note: bool
) -> None:
    write(tmp_path, {name: ("XThing", "large")})
    output = run("render", tmp_path)
    assert "size: large\n" in output.out
    assert ("note: the XRD is " in output.err) is has_note
    assert run("render", tmp_path, "--quiet").err == ""


@pytest.mark.parametrize(("xrd", "size"), [("", "large"), ("xrd: none\n", "<no value>")])
def test_case_has_the_xrd_beside_the_composition(tmp_path: Path, xrd: str, size: str) -> None:
    write(tmp_path, {"definition.yaml": ("XThing", "large")})
    (tmp_path / "case.yaml").write_text(
        f"{xrd}expect: {{resources: {{a: {{data: {{size: '{size}'}}}}}}}}\n"
    )
    assert cli.execute(["test", str(tmp_path)]) == 0
