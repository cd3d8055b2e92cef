"""Files of git revisions, of repositories that may mean harm."""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest
from e2e.remote_sources import needs_git

from function_script.texts.errors import InputError
from function_script.tools import revisions

pytestmark = needs_git


def git(*arguments: str, stdin: bytes = b"") -> str:
    """Run git as a user would, in the current directory."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    result = subprocess.run(
        ["git", *identity, *arguments], input=stdin, capture_output=True, check=True
    )
    return result.stdout.decode().strip()


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose last commit is `before`, with other files in its work tree."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    root = tmp_path / "repository"
    (root / "platform/programs").mkdir(parents=True)
    monkeypatch.chdir(root)
    git("init", "--quiet")
    (root / "platform/a.yaml").write_bytes(b"old: 1\r\n")
    (root / "platform/programs/p.star").write_text("$Id$\n")
    (root / "platform/link").symlink_to("../outside")
    (root / "other.yaml").write_text("other: 1\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", "one")
    git("tag", "before")
    (root / "platform/a.yaml").write_text("new: 1\n")
    return root


def test_folder_at_a_revision_has_the_bytes_of_its_commit() -> None:
    with revisions.open_version("before", [Path("platform"), Path("other.yaml")]) as version:
        folder, file = version.paths
        assert sorted(each.name for each in folder.iterdir()) == ["a.yaml", "link", "programs"]
        assert (folder / "a.yaml").read_bytes() == b"old: 1\r\n"
        assert (folder / "link").readlink() == Path("../outside")
        assert file.read_text() == "other: 1\n"
        assert version.rename(f'cannot read "{folder / "a.yaml"}"') == (
            'cannot read "before:platform/a.yaml"'
        )
    assert not folder.exists()
    assert Path("platform/a.yaml").read_text() == "new: 1\n"


@pytest.mark.parametrize(("folder", "is_read"), [("", True), ("programs/", False)])
def test_submodule_with_programs_is_an_error(folder: str, *, is_read: bool) -> None:
    """The commit has none of its files, and a step may run all files of a folder."""
    entry = f"160000,{git('rev-parse', 'HEAD')},platform/{folder}sub"
    git("update-index", "--add", "--cacheinfo", entry)
    git("commit", "--quiet", "--message", "two")
    expected = nullcontext() if is_read else pytest.raises(InputError, match="is a submodule")
    with expected, revisions.open_version("HEAD", [Path("platform")]) as version:
        assert (version.paths[0] / "a.yaml").is_file()


def test_name_of_a_path_is_that_path() -> None:
    Path("before").mkdir()
    with revisions.open_version("before", [Path("platform")]) as version:
        assert version.paths == [Path("before")]


def test_error_about_a_revision_names_files_as_git_does() -> None:
    with (
        pytest.raises(InputError, match=r'cannot read "HEAD:platform/x"'),
        revisions.open_version("HEAD", [Path("platform")]) as version,
    ):
        raise InputError.of(f'cannot read "{version.paths[0] / "x"}"')


@pytest.mark.parametrize(
    ("name", "path", "reason"),
    [
        pytest.param("mian", "platform", "git has no such commit", id="unknown"),
        pytest.param("--all", "platform", "git has no such commit", id="option"),
        pytest.param("", "platform", "git has no such commit", id="empty, and no path"),
        pytest.param("HEAD:platform", "platform", "git has no such commit", id="tree"),
        pytest.param("HEAD", "new", 'has no "new"', id="new folder"),
        pytest.param("HEAD", "new/a.yaml", 'has no "new/a.yaml"', id="file in a new folder"),
        pytest.param("HEAD", "platform/b.yaml", 'has no "platform/b.yaml"', id="new file"),
        pytest.param("HEAD", "absent", "no such file or directory", id="no folder"),
        pytest.param("HEAD", "..", "git says: not a git repository", id="no repository"),
    ],
)
def test_revision_that_cannot_be_read_is_an_error(name: str, path: str, reason: str) -> None:
    Path("new").mkdir()
    Path("new/a.yaml").touch()
    Path("platform/b.yaml").touch()
    with pytest.raises(InputError) as error, revisions.open_version(name, [Path(path)]):
        pass
    assert reason in str(error.value)


def test_file_that_was_a_link_out_of_its_folder_is_not_followed(tmp_path: Path) -> None:
    """A command would read any file of the machine: its command line names the path."""
    (tmp_path / "secret.yaml").write_text("secret: 1\n")
    Path("platform/a.yaml").unlink()
    Path("platform/a.yaml").symlink_to(tmp_path / "secret.yaml")
    git("commit", "--quiet", "--all", "--message", "two")
    Path("platform/a.yaml").unlink()
    Path("platform/a.yaml").touch()
    with (
        pytest.raises(InputError, match=r'"platform/a.yaml" is a link, which leads out'),
        revisions.open_version("HEAD", [Path("platform/a.yaml")]),
    ):
        pass


def test_machine_without_git_gets_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(InputError, match="the command git is not installed"),
        revisions.open_version("HEAD", [Path("platform")]),
    ):
        pass


def test_large_revision_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revisions, "_MAX_BYTES", 3)
    with (
        pytest.raises(InputError, match='the files in "platform" have more than'),
        revisions.open_version("HEAD", [Path("platform")]),
    ):
        pass


# Each runs a command of the repository when some command of git reads a file, or needs one.
TRAPS = """
[core]
  fsmonitor = touch {trap}
  hooksPath = {hooks}
  sshCommand = touch {trap};
  pager = touch {trap};
  alternateRefsCommand = touch {trap};
  attributesFile = {attributes}
[filter "trap"]
  smudge = touch {trap}
  process = touch {trap}
  required = true
[diff "trap"]
  textconv = touch {trap};
  command = touch {trap};
[alias]
  cat-file = !touch {trap}
  rev-parse = !touch {trap}
[pager]
  ls-tree = touch {trap};
[extensions]
  partialClone = trap
[remote "trap"]
  url = {url}
  promisor = true
  uploadpack = touch {trap};
"""


@pytest.mark.parametrize(
    ("url", "is_whole"),
    [
        pytest.param("", True, id="whole"),
        pytest.param("{root}", False, id="lazy fetch from a folder"),
        pytest.param("ssh://localhost/a", False, id="lazy fetch by SSH"),
        pytest.param("ext::touch {trap}", False, id="lazy fetch by a command"),
    ],
)
def test_repository_that_means_harm_runs_no_command(
    repository: Path, tmp_path: Path, url: str, *, is_whole: bool
) -> None:
    trap, attributes, hooks = (tmp_path / name for name in ("trap", "attributes", "hooks"))
    attributes.write_text("* filter=trap diff=trap export-subst ident\n")
    hooks.mkdir()
    for name in ("post-checkout", "post-index-change", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {trap}\n")
        (hooks / name).chmod(0o755)
    blob = git("rev-parse", "HEAD:platform/a.yaml")
    if not is_whole:
        (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
    url = url.format(root=repository, trap=trap)
    traps = TRAPS.format(trap=trap, hooks=hooks, attributes=attributes, url=url)
    with (repository / ".git/config").open("a") as config:
        config.write(traps)
    git("config", "core.repositoryFormatVersion", "1")
    assert not trap.exists()
    lacks = pytest.raises(InputError, match='lacks the content of "platform/a')
    with (
        nullcontext() if is_whole else lacks,
        revisions.open_version("HEAD", [repository / "platform"]) as version,
    ):
        assert (version.paths[0] / "programs/p.star").read_text() == "$Id$\n"
    assert not trap.exists()


def test_environment_of_the_user_names_no_other_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(tmp_path))
    with revisions.open_version("before", [Path("platform")]) as version:
        assert (version.paths[0] / "a.yaml").exists()


def _tree(entries: Sequence[tuple[str, str, str]]) -> str:
    """Write a tree with any entries; return its hash."""
    data = b"".join(
        f"{mode} {name}".encode() + b"\0" + bytes.fromhex(each) for mode, name, each in entries
    )
    return git("hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=data)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("..", id="above"),
        pytest.param("../../target", id="path above"),
        pytest.param("link", id="through a link"),
        pytest.param("/target", id="absolute"),
    ],
)
def test_tree_that_means_harm_writes_nothing_elsewhere(
    repository: Path, tmp_path: Path, name: str
) -> None:
    target = tmp_path / "target"
    target.mkdir()
    blob = git("hash-object", "-w", "--stdin", stdin=b"a: 1\n")
    link = git("hash-object", "-w", "--stdin", stdin=str(target).encode())
    inner = _tree([("100644", "file", blob), ("120000", "inner", link)])
    folder = _tree([("120000", "link", link), ("40000", name, inner)])
    root = _tree([("40000", "platform", folder)])
    commit = git("commit-tree", root, "-m", "bad")
    with suppress(InputError), revisions.open_version(commit, [repository / "platform"]):
        pass
    assert not [*target.iterdir()]
    assert not (tmp_path / "file").exists()


def test_import_of_revisions_leaves_out_what_fetches() -> None:
    """A comparison of two directories does not pay for it."""
    code = "import sys, function_script.tools.revisions; print('ssl' in sys.modules)"
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert completed.stdout == b"False\n"
