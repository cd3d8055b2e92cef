"""The sandbox of a local command: which languages its workers are born with."""

import os
from pathlib import Path

import pytest

from function_script import inputs
from function_script.engines.language import Language
from function_script.engines.registry import ENGINE_MODULES
from function_script.sandbox import outcome
from function_script.tools import local_pool
from function_script.tools.project import Project


@pytest.mark.parametrize(("type_", "language"), inputs.LANGUAGES.items(), ids=str)
def test_language_of_every_input_kind_is_guessed(
    tmp_path: Path, type_: tuple[str, str], language: Language
) -> None:
    """It is the only guess for a file that holds an input of the kind."""
    file = tmp_path / "composition.yaml"
    file.write_text(f"apiVersion: {type_[0]}\nkind: {type_[1]}\n")
    assert local_pool.engines_of([file], Project([tmp_path])) == (language.engine_module,)


def test_language_can_be_guessed(tmp_path: Path) -> None:
    """A pipeline of all kinds makes workers ready for all languages."""
    file = tmp_path / "composition.yaml"
    file.write_text("\n".join(f"kind: {kind}" for _, kind in inputs.LANGUAGES))
    assert set(local_pool.engines_of([file], Project([tmp_path]))) == set(ENGINE_MODULES)


def test_languages_below_a_directory_are_guessed(tmp_path: Path) -> None:
    """`check` and `compare` take directories; a file that is no text spoils nothing."""
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.yml").write_text("kind: StarlarkScript\n")
    (tmp_path / "deep" / "c.txt").write_text("kind: JinjaTemplate\n")
    (module,) = local_pool.engines_of([tmp_path], Project([tmp_path]))
    assert "starlark" in module


def test_file_that_is_not_there_gives_no_language(tmp_path: Path) -> None:
    """The command itself reports it later."""
    assert local_pool.engines_of([tmp_path / "none.yaml"], Project([tmp_path])) == ()


def test_pipe_is_left_to_its_reader(tmp_path: Path) -> None:
    """It can be read only once, as in ``render xr.yaml <(make-composition)``."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert local_pool.engines_of([pipe], Project(named=[pipe])) == ()


def test_error_of_a_local_run_has_no_advice_about_a_server() -> None:
    """A command has no --workers, and nobody tries it again."""
    failed = outcome.queue_full_error(1, 2)
    assert "--workers" in str(failed.error)
    (problem,) = local_pool.error_of(failed).diagnostics
    assert problem.hint == local_pool.BUSY
    (problem,) = local_pool.error_of(failed, "set by --timeout").diagnostics
    assert problem.hint == "set by --timeout"
