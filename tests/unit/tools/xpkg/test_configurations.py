"""Configurations: what of a project is put into the package, and what is refused."""

from pathlib import Path

import pytest
from support.commands import Run

from function_script.texts.errors import InputError
from function_script.tools.xpkg import image_loader, images, packages
from function_script.tools.xpkg.inspector import inspect, read_package
from function_script.tools.xpkg.manifest import Contents
from function_script.tools.xpkg.packages import Built

META = """\
apiVersion: meta.pkg.crossplane.io/v1
kind: Configuration
metadata: {name: apps}
"""
DEPENDENCY = """\
spec:
  dependsOn:
  - {apiVersion: pkg.crossplane.io/v1, kind: Function, package: r.io/function-a, version: ">=v1"}
"""
COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: apps}
"""
XRD = """\
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: apps.example.org}
"""
XR = """\
apiVersion: example.org/v1
kind: App
metadata: {name: shop}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with what people keep beside a Composition."""
    files = {
        "crossplane.yaml": META,
        "composition.yaml": COMPOSITION,
        "apis/xrd.yaml": XRD,
        "xr.yaml": XR,
        "ci.yaml": "on: push\n",
        ".venv/lib/broken.yaml": "{",
        "notes.md": "# Notes",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def build(project: Path, examples: Path | None = None, *ignore: str) -> Built:
    """The project's package."""
    contents = Contents(package_root=project, examples=examples, ignore=ignore)
    (built,) = packages.build(contents, output=project / "apps.xpkg")
    return built


def test_package_has_only_files_that_crossplane_takes(project: Path) -> None:
    built = build(project)
    assert read_package(built.path) == f"---\n{META}---\n{XRD}---\n{COMPOSITION}---\n"
    assert [name.removeprefix(f"{project}/") for name in built.package.left_out] == [
        "ci.yaml",
        "xr.yaml",
    ]


@pytest.mark.parametrize("examples", ["xr.yaml", "examples"])
def test_examples_are_a_layer_of_their_own(project: Path, examples: str) -> None:
    (project / "examples").mkdir()
    (project / "examples" / "shop.yaml").write_text(XR)
    built = build(project, project / examples)
    (image,) = image_loader.load(built.path)
    assert image_loader.find_file(image, "examples.yaml") is None
    assert len(image.layers) == 2
    layers = inspect(str(built.path)).parts[0].layers
    assert [layer["kind"] for layer in layers] == ["base", "upbound"]
    unlabelled = images.Image(config={}, layers=image.layers)
    assert image_loader.find_file(unlabelled, "examples.yaml") == f"---\n{XR}---\n".encode()


def test_examples_below_the_metadata_are_no_content(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Either path may be relative, and an example may be a link to content."""
    (project / "examples").mkdir()
    (project / "examples" / "linked.yaml").symlink_to("../apis/xrd.yaml")
    (project / "examples" / "more.yaml").write_text(COMPOSITION)
    monkeypatch.chdir(project)
    assert build(project, Path("examples")).package.files


MISTAKES = {
    "same-name": ({"more.yaml": COMPOSITION}, 'Composition "apps".*several of this name'),
    "kind": (
        {"more.yaml": COMPOSITION.replace("Composition", "Compositon")},
        'Compositon "apps" into the package: it takes one Configuration',
    ),
    "environment": (
        {"more.yaml": COMPOSITION.replace("Composition", "EnvironmentConfig")},
        r"(?s)one Configuration.*leave the file out: --ignore PATTERN",
    ),
    "type": (
        {"crossplane.yaml": META.replace("Configuration", "Config")},
        r"crossplane\.yaml:1: .*0 objects",
    ),
    "no-name": ({"crossplane.yaml": META.replace("name:", "nme:")}, "metadata.nme: there is no"),
    **{
        word: ({"crossplane.yaml": f"{META}spec: {{{word}}}\n"}, rf"crossplane\.yaml:4.*{word[:9]}")
        for word in ("dependson: []", "crossPlane: {}")
    },
    **{
        word: ({"crossplane.yaml": META + DEPENDENCY.replace(old, word)}, message)
        for old, word, message in (
            (">=v1", "latest", r'dependsOn\[0\].version: "latest" is no constraint'),
            ('">=v1"', "1", "version: must be a string"),
            ("version", "versions", "versions: unknown field"),
            ("Function", "Functions", r'kind: must be one of.*"Functions"'),
            ("kind: Function, ", "", "kind: is required"),
            ("package", "packge", "packge: unknown field"),
        )
    },
    "packages": ({"apis/crossplane.yaml": META}, r"(?s)instead of one.*/apis/crossplane\.yaml"),
}


@pytest.mark.parametrize(("files", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_told(project: Path, files: dict[str, str], message: str) -> None:
    """An object of Crossplane's that does not belong is a mistake, and no file to leave out."""
    for name, text in files.items():
        (project / name).write_text(text)
    with pytest.raises(InputError, match=message):
        build(project)


@pytest.mark.parametrize("name", ["observed.yaml", "tests/first/required.yaml"])
def test_cluster_of_a_test_is_left_out(project: Path, name: str) -> None:
    """An EnvironmentConfig is of Crossplane's group, and no part of a package."""
    environment = COMPOSITION.replace("Composition", "EnvironmentConfig")
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_text(environment)
    built = build(project)
    assert str(project / name) in built.package.left_out
    assert "EnvironmentConfig" not in read_package(built.path)


@pytest.mark.parametrize("name", ["composition.yaml", "crossplane.yaml", "link.xpkg"])
def test_file_of_the_package_is_not_written_over(project: Path, name: str) -> None:
    (project / "link.xpkg").symlink_to("composition.yaml")
    with pytest.raises(InputError, match="the package is built of it"):
        packages.build(Contents(package_root=project), output=project / name)
    assert (project / "composition.yaml").read_text() == COMPOSITION


def test_files_can_be_ignored(project: Path) -> None:
    (project / "tests").mkdir()
    (project / "tests" / "composition.yaml").write_text(COMPOSITION)
    built = build(project, None, "tests/*")
    assert read_package(built.path) == f"---\n{META}---\n{XRD}---\n{COMPOSITION}---\n"


def test_functions_that_no_dependency_installs_are_named(project: Path, run: Run) -> None:
    """A Function that a package installs has the name of its repository."""
    step = "  - {step: s, functionRef: {name: %s}}\n"
    steps = step % "team-function-a" + step % "function-b"
    (project / "composition.yaml").write_text(f"{COMPOSITION}spec:\n  pipeline:\n{steps}")
    package = (
        "  - {apiVersion: v1, kind: Function, package: registry.example.org/team/function-%s}\n"
    )
    dependencies = package % "a" + package % "b"
    (project / "crossplane.yaml").write_text(f"{META}spec:\n  dependsOn:\n{dependencies}")
    text = run("package", "build", "--package-root", project, "-o", project / "x.xpkg").err
    assert text.endswith("\nno package in dependsOn is installed as: function-b\n")


def test_example_needs_a_kind(project: Path) -> None:
    """Crossplane's own command wants one."""
    with pytest.raises(InputError, match="no apiVersion or no kind"):
        build(project, project / "ci.yaml")


def test_package_is_no_output_of_the_command(
    project: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(project)
    flags: list[str] = []
    for name in ("amd64", "arm64"):
        image = images.Image(config={**images.EMPTY.config, "architecture": name})
        Path(f"{name}.tar").write_bytes(images.to_docker_archive(image))
        flags += ["--runtime-image", f"{name}.tar"]
    for each in ([], flags):
        err = run("package", "build", "-o", "-", *each, code=1).err
        assert 'cannot write the package to "-"' in err
    assert not [*Path().glob("-*")]


def test_directory_with_the_metadata_is_found(
    project: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """It is the current one if no flag names another and crossplane.yaml is there."""
    monkeypatch.chdir(project)
    output = run("package", "build", "-o", "x.xpkg")
    assert output.out.startswith("x.xpkg sha256:")
    assert output.err == "left out: ci.yaml, xr.yaml\n"
    assert run("package", "build", "-o", "x.xpkg", "--quiet").err == ""
