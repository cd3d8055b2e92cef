"""The loop of `--watch`: what counts as a change."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from function_script.texts.errors import FatalError
from function_script.tools import watcher


class Ended(Exception):  # noqa: N818 - it ends the loop, which is no error
    """The display has what the test waits for."""


class Recorder:
    """Records the files of each change; the first change ends the loop."""

    def __init__(self) -> None:
        self.changes: list[list[Path]] = []

    def show_first(self, result: int) -> None:
        del result

    def show_next(self, changed: Sequence[Path], before: int, result: int) -> None:
        del before, result
        self.changes.append(list(changed))
        raise Ended

    def show_error(self, changed: Sequence[Path], error: FatalError) -> None:
        raise AssertionError(changed, error)


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

    polls = poll()
    display = Recorder()
    with pytest.raises(Ended):
        watcher.watch(watcher.Task(run=lambda: 0, files=lambda: next(polls)), display)
    assert display.changes == [[file]]


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

    polls = poll()
    display = Recorder()
    with pytest.raises(Ended):
        watcher.watch(watcher.Task(run=lambda: 0, files=lambda: next(polls)), display)
    assert display.changes == [[file]]
