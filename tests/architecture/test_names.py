"""Names and the version are those of function_script/texts/release.py, wherever they are repeated.

`make names` rewrites what differs.
"""

import shutil
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from support import spellings
from support.paths import ROOT

import function_script
from function_script import documents
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts import release
from function_script.texts.source import Source

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# Commands that end a text here are shown as mistakes, or tested as such.
ABOUT_INSTALLING = {"tests/architecture/test_names.py"}


def test_place_has_the_names_of_the_release(*, update_goldens: bool) -> None:
    """References of the package with their version, constraints on it, and the source."""
    differing = spellings.differing()
    if update_goldens:
        for name, text in differing.items():
            (ROOT / name).write_text(text, "utf-8", "surrogateescape")
        differing = spellings.differing()
    assert sorted(differing) == []


def test_distribution_has_the_names_of_the_release() -> None:
    """pyproject.toml takes the version from the file, and repeats name and source."""
    project = PYPROJECT["project"]
    assert project["name"] == release.DISTRIBUTION
    assert project["dynamic"] == ["version"]
    assert project["urls"]["Source"] == release.SOURCE
    dynamic = PYPROJECT["tool"]["setuptools"]["dynamic"]
    assert dynamic["version"] == {"attr": "function_script.texts.release.VERSION"}
    assert function_script.__version__ == release.VERSION
    assert metadata.version(release.DISTRIBUTION) == release.VERSION


def load(path: Path) -> Object:
    """The first object of a manifest."""
    stream = documents.read_source(Source(name=path.name, text=path.read_text()))
    return next(iter(stream)).value


@pytest.mark.parametrize(
    "path",
    sorted(ROOT.glob("examples/**/function*.yaml")),
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_manifest_installs_the_release(path: Path) -> None:
    """Each Function of ours in the examples, read as YAML and not as text."""
    function = load(path)
    assert objects.find_path(function, "metadata.name") == "function-script"
    assert objects.find_path(function, "spec.package") == release.REFERENCE


def test_name_that_is_not_published_is_nowhere() -> None:
    """Anybody could publish something under it; the release file alone knows what it will be."""
    assert not release.IS_IN_REGISTRY
    with_it = {name for name, text in spellings.texts() if release.PUBLISHED_PACKAGE in text}
    assert with_it == {"function_script/texts/release.py"}
    readme = (ROOT / "README.md").read_text()
    assert "No release has been published yet" in readme


INSTALLS = [
    "pip install function-script",
    "pip3 install --upgrade 'function-script[cel]'",
    "python -m pip install Function_Script==0.1.0",
    "pipx run function-script render .",
    "uvx function-script",
    "uv tool install function-script",
    "uv pip install x function.script>=0.1",
    "see `pip install function-script`.",
]


@pytest.mark.parametrize("text", INSTALLS)
def test_installation_by_the_bare_name_is_seen(text: str) -> None:
    """However it is spelled; the index takes case and separators for the same."""
    assert spellings.unpublished_installs(text)


def test_files_never_install_by_the_bare_name() -> None:
    """The name is not on the index: who installs it gets nothing, or somebody else's code."""
    assert not release.IS_ON_INDEX
    installs = {
        name: spellings.unpublished_installs(text)
        for name, text in spellings.texts(with_tests=True)
        if name not in ABOUT_INSTALLING
    }
    assert {name: lines for name, lines in installs.items() if lines} == {}


COPIED = ("function_script", "docs", "examples", "package", "README.md", "pyproject.toml")


def test_new_version_is_one_line_and_one_command(tmp_path: Path) -> None:
    """The version changes in the release file alone; the rewrite brings every other place along."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.png")
            shutil.copytree(source, tmp_path / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(source, tmp_path / name)
    path = tmp_path / "function_script" / "texts" / "release.py"
    path.write_text(path.read_text().replace(f'"{release.VERSION}"', '"7.8.9"'))
    differing = spellings.differing(tmp_path)
    expected = {"README.md", "examples/install/function.yaml", "package/README.md"}
    assert expected <= set(differing)
    for name, text in differing.items():
        (tmp_path / name).write_text(text)
    assert spellings.differing(tmp_path) == {}
    old = f"function-script:v{release.VERSION}"
    assert [name for name, text in spellings.texts(tmp_path) if old in text] == []
    function = load(tmp_path / "examples" / "install" / "function.yaml")
    package = f"{release.PACKAGE}:v7.8.9"
    assert objects.find_path(function, "spec.package") == package


def test_publishing_the_package_is_one_line_and_one_command() -> None:
    """Manifests then name it; commands that push still name the reader's own registry."""
    published = spellings.Names(
        version="1.0.0", package=release.PUBLISHED_PACKAGE, source=spellings.names().source
    )
    function = (ROOT / "examples" / "install" / "function.yaml").read_text()
    assert f"package: {release.PUBLISHED_PACKAGE}:v1.0.0" in published.rewrite(function)
    push = "package push registry.example.org/function-script:v0.1.0 function-script.xpkg"
    assert published.rewrite(push) == push.replace("v0.1.0", "v1.0.0")
    kubectl = "kubectl wait function.pkg.crossplane.io/function-script"
    assert published.rewrite(kubectl) == kubectl
