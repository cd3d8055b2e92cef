"""``check --watch`` and ``test --watch``: real processes, real files."""

import re
from pathlib import Path

from support.commands import Run
from support.watching import watching_command

from function_script.tools import starters


def test_check_watches_program_and_xrd(tmp_path: Path) -> None:
    """Hidden folders are not watched."""
    starters.write("starlark", tmp_path)
    hidden = tmp_path / ".git" / "index"
    hidden.parent.mkdir()
    hidden.write_text("1")
    with watching_command(["check"], tmp_path, begin="0 errors") as watch:
        hidden.write_text("22")
        watch.replace("xr.yaml", "name: shop", "name: other")
        assert "index" not in watch.wait_for("stderr", "xr.yaml: changed, and nothing is different")
        watch.replace("xrd.yaml", "image:\n", "picture:\n")
        assert re.search(r"\d\d:\d\d:\d\d xrd.yaml: changed\n", watch.wait_for("stderr", "changed"))
        assert "image" in watch.wait_for("stdout", "1 error")
        watch.replace("xrd.yaml", "picture:\n", "image:\n")
        watch.wait_for("stdout", "0 errors")
        watch.replace("xr.yaml", "replicas: 2", "replicas: two")
        watch.wait_for("stderr", "xr.yaml: changed\n")
        watch.wait_for("stdout", "1 error")


def test_check_reports_a_directory_without_compositions_and_goes_on(tmp_path: Path) -> None:
    with watching_command(["check"], tmp_path, begin="cannot check .", stream="stderr") as watch:
        starters.write("jinja", tmp_path)
        assert "0 errors" in watch.wait_for("stdout", "0 errors")


def test_check_cannot_watch_stdin(run: Run) -> None:
    assert "stdin" in run("check", "-", "--watch", code=2).err


def test_cases_run_again_after_a_change_outside_their_folder(tmp_path: Path) -> None:
    starters.write("starlark", tmp_path)
    with watching_command(["test", "tests", "--ci"], tmp_path, begin="3 passed") as watch:
        watch.replace("composition.yaml", '"port": 80', '"port": 81')
        assert "1 failed" in watch.wait_for("stdout", "1 failed")
        assert "composition.yaml: changed" in watch.wait_for("stderr", "changed\n")
        watch.replace("composition.yaml", '"port": 81', '"port": 80')
        watch.wait_for("stdout", "3 passed")
