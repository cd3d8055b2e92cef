"""The loop of `--watch`: what counts as a change."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from function_script.tools import watcher
from function_script.tools.validate.evaluator import EVALUATOR


def find_change(polls: Iterator[list[Path]], written: Path | None = None) -> list[Path]:
    """The files of the first change, by what the polls yield."""
    EVALUATOR._slow_seconds = 99
    rounds = watcher.watch(lambda: EVALUATOR._slow_seconds, lambda: next(polls), written)
    assert next(rounds) == ([], 0)
    return next(rounds)[0]


def test_file_that_an_editor_removes_at_once_is_no_change(tmp_path: Path) -> None:
    """Nor is a folder that is watched no more: each change has a name."""
    file, scratch, other = tmp_path / "a" / "b.yaml", tmp_path / "a" / "4913", tmp_path / "other"
    file.parent.mkdir()
    other.mkdir()
    file.write_text("a: 1")
    (other / "c.yaml").write_text("c: 1")

    def poll() -> Iterator[list[Path]]:
        yield from [[file.parent, other]] * 2
        yield from [[file.parent]] * 2
        scratch.write_text("")
        yield [file.parent]
        scratch.unlink()
        yield from [[file.parent]] * 3
        file.write_text("a: 22")
        while True:
            yield [file.parent]

    assert find_change(poll()) == [file]


def test_file_that_is_gone_is_a_change(tmp_path: Path) -> None:
    """The task does not list it from then on."""
    file, rest = tmp_path / "observed.yaml", tmp_path / "xr.yaml"
    file.write_text("a: 1")
    rest.write_text("a: 1")

    def poll() -> Iterator[list[Path]]:
        yield from [[rest, file]] * 3
        file.unlink()
        while True:
            yield [rest]

    assert find_change(poll()) == [file]


def test_file_that_the_task_writes_is_no_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a report, in whatever way both are named."""
    monkeypatch.chdir(tmp_path)
    report, case = tmp_path / "report.xml", Path("case.yaml")

    def poll() -> Iterator[list[Path]]:
        yield from [[Path()]] * 3
        report.write_text("1")
        yield from [[Path()]] * 3
        case.write_text("a: 1")
        while True:
            yield [Path()]

    assert find_change(poll(), report) == [case]
