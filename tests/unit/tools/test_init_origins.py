"""A new project names the package and the installation that the user has, and no other."""

import json
from importlib import metadata
from pathlib import Path

import pytest
from support.commands import Run

from function_script import documents
from function_script.cli import execute
from function_script.engines.registry import LANGUAGES
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts import release
from function_script.texts.source import Source
from function_script.tools import starters
from function_script.tools.starters import origins

DIGEST = "sha256:" + "0123456789abcdef" * 4
HOME = "git+https://git.example.org/team/function-script"


def load(project: Path, name: str) -> Object:
    """The one object of a file."""
    source = Source(name=name, text=(project / name).read_text())
    (document,) = documents.read_source(source)
    return document.value


PACKAGES = {
    "in a team's repository": (
        "localhost:5000/team/function-script:v1.2.3",
        ("localhost:5000/team/function-script", ">=v1.2.3", "team-function-script"),
    ),
    "a pre-release": (
        "registry.example.net/function-script:0.3.0-rc.1",
        ("registry.example.net/function-script", ">=0.3.0-rc.1", "function-script"),
    ),
    "by digest": (
        f"registry.example.net/a.b/my_team/function-script@{DIGEST}",
        ("registry.example.net/a.b/my_team/function-script", DIGEST, "a-b-myteam-function-script"),
    ),
    "the default": (release.REFERENCE, (release.PACKAGE, f">=v{release.VERSION}", None)),
}


@pytest.mark.parametrize(("package", "expected"), PACKAGES.values(), ids=PACKAGES)
def test_package_is_the_same_in_every_file(
    tmp_path: Path, package: str, expected: tuple[str, str, str | None]
) -> None:
    """Its name is what Crossplane gives to the Function that it installs as a dependency.

    The starters of all languages have the same words for it: see the test below.
    """
    project = tmp_path / "my-app"
    flags = [] if package == release.REFERENCE else ["--package", package]
    assert execute(["init", str(project), *flags]) == 0
    name, constraint, function = expected
    function = function or origins.parse_package(package).object_name
    manifest = load(project, "functions.yaml")
    assert objects.find_path(manifest, "spec.package") == package
    assert objects.find_path(manifest, "metadata.name") == function
    dependency = objects.find_path(load(project, "crossplane.yaml"), "spec.dependsOn[0]")
    assert (dependency["package"], dependency["version"]) == (name, constraint)
    composition = load(project, "composition.yaml")
    assert objects.find_path(composition, "spec.pipeline[0].functionRef.name") == function
    assert execute(["render", str(project)]) == 0


WORDS = (
    *("FUNCTION_NAME", "PACKAGE_REFERENCE", "PACKAGE_NAME", "PACKAGE_CONSTRAINT"),
    "INSTALL_REQUIREMENT",
)


def test_words_of_the_starters_are_all_replaced() -> None:
    for language in LANGUAGES:
        text = "".join(starters.load(language).values())
        assert [word for word in WORDS if word in text] == []
        assert text.count(release.REFERENCE) == 1


WRONG_PACKAGES = {
    "no registry": ("function-script", "as the name of a package in a registry"),
    "no version": ("registry.example.org/a", "as the name of a package"),
    "latest": ("registry.example.org/function-script:latest", "is not a version"),
    "a branch": ("registry.example.org/function-script:main", "is not a version"),
    "another name": ("registry.example.org/a:v1.0.0", 'must be "function-script"'),
}


@pytest.mark.parametrize(("package", "message"), WRONG_PACKAGES.values(), ids=WRONG_PACKAGES)
def test_wrong_package_is_refused(tmp_path: Path, run: Run, package: str, message: str) -> None:
    assert message in run("init", tmp_path / "my-app", "--package", package, code=1).err
    assert list(tmp_path.iterdir()) == []


REQUIREMENTS = [
    f"{HOME}@v0.1.0",
    f"function-script @ {HOME}@v0.1.0",
    "./wheels/function_script-0.1.0-py3-none-any.whl",
    "https://files.example.org/function_script-0.1.0-py3-none-any.whl#sha256=00",
    "our-function-script==0.1.0",
    'C:\\wheels\\"quoted" $HOME.whl',
]


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_requirement_is_handed_to_pip_as_it_is(tmp_path: Path, requirement: str) -> None:
    project = tmp_path / "my-app"
    assert execute(["init", str(project), "--install", requirement]) == 0
    ci = load(project, "ci.yaml")
    assert objects.find_path(ci, "env.FUNCTION_SCRIPT") == requirement
    assert "REQUIRED" not in (project / "ci.yaml").read_text()


WRONG_REQUIREMENTS = [
    pytest.param("", "empty text", id="empty"),
    pytest.param(" ", "empty text", id="blank"),
    pytest.param("--index-url=https://example.org", "an option of pip", id="option"),
    pytest.param("a\nb", "line breaks", id="two lines"),
    pytest.param("a\x1b[1mb", "control characters", id="escape"),
    *(
        pytest.param(name, "is not published on the index", id=name)
        for name in (
            "function-script",
            "Function.Script",
            "function_script==0.1.0",
            "function-script[crypto]>=0.1",
            "function-script ; python_version > '3'",
        )
    ),
]


@pytest.mark.parametrize(("requirement", "message"), WRONG_REQUIREMENTS)
def test_wrong_requirement_is_refused(
    tmp_path: Path, run: Run, requirement: str, message: str
) -> None:
    """Anybody could register the bare name while it is not published."""
    assert not release.IS_ON_INDEX
    assert message in run("init", tmp_path / "my-app", "--install", requirement, code=1).err
    assert list(tmp_path.iterdir()) == []


COMMIT = "0123456789abcdef0123456789abcdef01234567"
GIT = {"vcs": "git", "requested_revision": "main", "commit_id": COMMIT}
URL = "https://git.example.org/team/function-script"
ORIGINS = {
    "a git URL": ({"url": URL, "vcs_info": GIT}, f"function-script @ git+{URL}@{COMMIT}"),
    "git over ssh, in a directory": (
        {"url": "ssh://git@git.example.org/f.git", "vcs_info": GIT, "subdirectory": "src"},
        f"function-script @ git+ssh://git@git.example.org/f.git@{COMMIT}#subdirectory=src",
    ),
    "the URL of a wheel": (
        {"url": "https://example.org/f.whl", "archive_info": {"hashes": {"sha256": "00"}}},
        "function-script @ https://example.org/f.whl#sha256=00",
    ),
    "without its hash": (
        {"url": "https://example.org/f.whl", "archive_info": {}},
        "function-script @ https://example.org/f.whl",
    ),
    "a checkout": ({"url": "file:///home/me/f", "dir_info": {"editable": True}}, ""),
    "a file": ({"url": "file:///home/me/f.whl", "archive_info": {}}, ""),
    "git on this machine": ({"url": "file:///home/me/f", "vcs_info": GIT}, ""),
    "a password": ({"url": "https://me:pw@example.org/f", "vcs_info": GIT}, ""),
    "a token": ({"url": "https://token@example.org/f", "vcs_info": GIT}, ""),
    "no object": (["no", "object"], ""),
    "no JSON": ("{", ""),
    "an index": (None, ""),
}


@pytest.mark.parametrize(("origin", "expected"), ORIGINS.values(), ids=ORIGINS)
def test_default_is_where_this_installation_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origin: object, expected: str
) -> None:
    """The origin that pip recorded is used if other machines can install from it."""
    record = tmp_path / "function_script-0.1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Name: function-script\nVersion: 0.1.0\n")
    if origin is not None:
        text = origin if isinstance(origin, str) else json.dumps(origin)
        (record / "direct_url.json").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert metadata.distribution("function-script").read_text("METADATA") == (
        "Name: function-script\nVersion: 0.1.0\n"
    )
    assert origins.installed_requirement() == expected
