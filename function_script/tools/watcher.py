"""Repeat a command's work whenever a file changes.

Polls the files, which works on every file system.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from function_script.texts.errors import FatalError
from function_script.tools.project import walk
from function_script.tools.validate.evaluator import EVALUATOR

Result = TypeVar("Result")

_POLL_SECONDS: Final = 0.03
# A poll of a large directory takes long: wait this many times as long, to use little CPU.
_IDLE_FACTOR: Final = 10
# An editor empties a file before it writes it: wait this long until files stop changing.
_SETTLE_SECONDS: Final = 0.01
_MAX_SETTLE_POLLS: Final = 20

# Time of the last write, size and inode of a file; None: there is no such file.
Stamp: TypeAlias = tuple[int, int, int] | None
# By path of the task: its file, or the files below it.
State: TypeAlias = dict[Path, dict[Path, Stamp]]


def watch(
    run: Callable[[], Result],
    files: Callable[[], Iterable[Path]],
    output_file: Path | None = None,
) -> Iterator[tuple[list[Path], Result | FatalError]]:
    """Yield the result of ``run``, or its error, at once and whenever a file changes, for ever.

    Each comes with the files that changed, at first none. ``files`` are those that ``run`` reads,
    which may be directories. It is called before every poll: a directory may get new ones, and
    ``run`` may find files that others name. ``run`` writes ``output_file``: its changes do not
    count.
    """

    def look() -> State:
        state = poll(files())
        if output_file is not None:
            for path, below in state.items():
                below.pop(path / os.path.relpath(output_file, path), None)
        return state

    changed: list[Path] = []
    while True:
        state = look()
        outcome: Result | FatalError
        EVALUATOR.begin_report()
        try:
            outcome = run()
        except FatalError as error:
            outcome = error
        # Files that this run has found are new to the state, and did not change.
        state = {**look(), **state}
        yield changed, outcome
        changed = _wait(look, state)


def _wait(look: Callable[[], State], state: State) -> list[Path]:
    """Wait for a change, and until files stop changing. Return the files that changed."""
    while True:
        begin = time.perf_counter()
        while not _find_changes(state, now := look()):
            seconds = time.perf_counter() - begin
            time.sleep(max(_POLL_SECONDS, _IDLE_FACTOR * seconds))
            begin = time.perf_counter()
        before = stamps(state)
        for _ in range(_MAX_SETTLE_POLLS):
            time.sleep(_SETTLE_SECONDS)
            earlier, now = now, look()
            after = stamps(now)
            # A file that had content and is empty or missing is being written.
            is_incomplete = any(
                _size(stamp) and not _size(after.get(path)) for path, stamp in before.items()
            )
            if earlier == now and not is_incomplete:
                break
        # An editor may make a file and remove it at once.
        if changed := _find_changes(state, now):
            return changed


def _find_changes(before: State, after: State) -> list[Path]:
    """Return the files that differ. A file that is watched no longer did not change by that."""
    earlier, now = stamps(before), stamps(after)
    now |= {file: _stamp(file) for file in earlier if file not in now}
    return sorted(file for file in now if earlier.get(file) != now[file])


def _size(stamp: Stamp) -> int:
    return 0 if stamp is None else stamp[1]


def stamps(state: State) -> dict[Path, Stamp]:
    """Return the stamps of a state by file."""
    return {file: stamp for files in state.values() for file, stamp in files.items()}


def poll(paths: Iterable[Path]) -> State:
    """Return the stamps of files, and of those below directories."""
    return {
        path: {file: _stamp(file) for file in (walk(path) if path.is_dir() else [path])}
        for path in paths
    }


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino)
