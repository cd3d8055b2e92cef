"""Starter projects are good ones: everything the toolbox can ask of them holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from function_script.cli import execute
from function_script.engines.registry import LANGUAGES
from function_script.errors import InputError
from function_script.tools import starters

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=LANGUAGES)
def project(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A new project in each language, as the current directory."""
    directory = tmp_path / "my-project"
    assert execute(["init", str(directory), "--language", request.param]) == 0
    monkeypatch.chdir(directory)
    return directory


@pytest.mark.parametrize(
    "args",
    [
        ("test", "--ci"),
        ("check", "--strict", "."),
        ("validate", "xrd.yaml", "xr.yaml,composition.yaml"),
        ("render", "."),
        ("package", "build", "--examples", "xr.yaml"),
    ],
    ids=lambda args: args[0],
)
@pytest.mark.usefixtures("project")
def test_a_new_project_is_fine(args: tuple[str, ...]) -> None:
    """Each command that its README names succeeds."""
    assert execute(args) == 0


def test_languages_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same project in another language renders to the same."""
    texts = set()
    for language in LANGUAGES:
        starters.write(language, tmp_path / language)
        capsys.readouterr()
        assert execute(["render", str(tmp_path / language)]) == 0
        texts.add(capsys.readouterr().out)
    assert len(texts) == 1


def test_tests_of_a_project_can_fail(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistake in the program is found by its cases."""
    composition = project / "composition.yaml"
    composition.write_text(
        composition.read_text().replace('port": 80', 'port": 81').replace("port: 80", "port: 81")
    )
    assert execute(["test", "--ci"]) == 1
    assert "first-reconcile" in capsys.readouterr().out


def test_quiet_tells_only_what_was_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The next steps are left out; the files are the result."""
    assert execute(["init", str(tmp_path / "new"), "--quiet"]) == 0
    message = capsys.readouterr()
    assert str(tmp_path / "new" / "xr.yaml") in message.out.splitlines()
    assert message.err == ""


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A file that is there stays as it is, and no other is written beside it."""
    (tmp_path / "xr.yaml").write_text("mine")
    with pytest.raises(InputError, match=r'"xr.yaml" is there already'):
        starters.write("jinja", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["xr.yaml"]
