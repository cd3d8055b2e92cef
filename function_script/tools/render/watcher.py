"""Render or validate again whenever a file changes, and show the difference.

Polls the files 20 times a second or more, which works on every file system.
"""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from function_script.errors import FatalError

Result = TypeVar("Result")
Result_contra = TypeVar("Result_contra", contravariant=True)

_POLL_SECONDS: Final = 0.03
# An editor empties a file before it writes it: wait this long until files stop changing.
_SETTLE_SECONDS: Final = 0.01
_MAX_SETTLE_POLLS: Final = 20

# By file: time of the last write, size and inode; None: there is no such file.
_State: TypeAlias = dict[Path, tuple[int, int, int] | None]


class Display(Protocol[Result_contra]):
    """Shows results to people."""

    def show_first(self, result: Result_contra) -> None:
        """Show the first result."""

    def show_next(
        self, changed: Sequence[Path], before: Result_contra, result: Result_contra
    ) -> None:
        """Show a result after these files ``changed``; ``before`` is the last result."""

    def show_error(self, error: FatalError) -> None:
        """Show an error; the next result is still compared with the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Generic[Result]):
    """The work to repeat: ``run`` reads ``files``, which may be directories.

    ``files`` is called before every poll, for a directory may get new ones.
    """

    run: Callable[[], Result]
    files: Callable[[], Iterable[Path]]


def watch(task: Task[Result], display: Display[Result]) -> None:
    """Run the task whenever a file changes. Ends only by an exception that is not a FatalError."""
    state = _poll(task.files())
    last = _run(task, display)
    if last is not None:
        display.show_first(last)
    while True:
        changed, state = _wait(task.files, state)
        result = _run(task, display)
        if result is None:
            continue
        if last is None:
            display.show_first(result)
        else:
            display.show_next(changed, last, result)
        last = result


def _run(task: Task[Result], display: Display[Result]) -> Result | None:
    try:
        return task.run()
    except FatalError as error:
        display.show_error(error)
        return None


def _wait(files: Callable[[], Iterable[Path]], before: _State) -> tuple[list[Path], _State]:
    """Wait for a change; return the files that changed, and the state of all files."""
    while (now := _poll(files())) == before:
        time.sleep(_POLL_SECONDS)
    for _ in range(_MAX_SETTLE_POLLS):
        time.sleep(_SETTLE_SECONDS)
        earlier, now = now, _poll(files())
        # A file that had content and is empty or missing is being written.
        is_incomplete = any(
            _size(stamp) and not _size(now.get(path)) for path, stamp in before.items()
        )
        if earlier == now and not is_incomplete:
            break
    changed = [path for path in {**before, **now} if before.get(path) != now.get(path)]
    return sorted(changed), now


def _size(stamp: tuple[int, int, int] | None) -> int:
    return 0 if stamp is None else stamp[1]


def _poll(paths: Iterable[Path]) -> _State:
    return {file: _stamp(file) for path in paths for file in _files(path)}


def _files(path: Path) -> Iterable[Path]:
    if not path.is_dir():
        return [path]
    return [
        Path(directory, name)
        for directory, _, names in os.walk(path)
        for name in sorted(names)
        if not name.startswith(".")
    ]


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino)
