"""Render or validate again whenever a file changes, and show what is different then.

Called by the command line, which gives what to do, which files it reads, and where to show. Looks
at the files themselves, twenty times a second or more: that needs nothing but their directory.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeAlias, TypeVar

from function_script.errors import FatalError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Found = TypeVar("Found")
Shown_contra = TypeVar("Shown_contra", contravariant=True)

_LOOK_SECONDS: Final = 0.03
# An editor empties a file before it writes it: what changes is waited for this long.
_SETTLE_SECONDS: Final = 0.01
_MAX_SETTLING: Final = 20

# For each file: when it was written, its size, and which file it is; None: it is not there.
_State: TypeAlias = dict[Path, tuple[int, int, int] | None]


class Show(Protocol[Shown_contra]):
    """Where to tell people what there is."""

    def first(self, found: Shown_contra) -> None:
        """What is found first, or first after an error that came before anything."""

    def again(self, changed: Sequence[Path], before: Shown_contra, found: Shown_contra) -> None:
        """What is found after these files ``changed``, and what was found ``before``."""

    def error(self, error: FatalError) -> None:
        """What went wrong; what was found last stays what the next is compared with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Generic[Found]):
    """What is done again and again: ``run`` reads ``files``, which may be directories.

    ``files`` is asked each time, for a directory may get new ones.
    """

    run: Callable[[], Found]
    files: Callable[[], Iterable[Path]]


def watch(task: Task[Found], show: Show[Found]) -> None:
    """Never returns; an interrupt ends it, and so does an error that is no FatalError."""
    state = _look(task.files())
    shown = _run(task, show)
    if shown is not None:
        show.first(shown)
    while True:
        changed, state = _wait(task.files, state)
        found = _run(task, show)
        if found is None:
            continue
        if shown is None:
            show.first(found)
        else:
            show.again(changed, shown, found)
        shown = found


def _run(task: Task[Found], show: Show[Found]) -> Found | None:
    try:
        return task.run()
    except FatalError as error:
        show.error(error)
        return None


def _wait(files: Callable[[], Iterable[Path]], before: _State) -> tuple[list[Path], _State]:
    """The files that changed, once they have, and how all are now."""
    while (now := _look(files())) == before:
        time.sleep(_LOOK_SECONDS)
    for _ in range(_MAX_SETTLING):
        time.sleep(_SETTLE_SECONDS)
        earlier, now = now, _look(files())
        if earlier == now and not _is_being_written(now, before):
            break
    changed = [path for path in {**before, **now} if before.get(path) != now.get(path)]
    return sorted(changed), now


def _is_being_written(now: _State, before: _State) -> bool:
    """Whether a file that had something in it is empty or gone."""
    return any(was and was[1] and not _size(now.get(path)) for path, was in before.items())


def _size(stamp: tuple[int, int, int] | None) -> int:
    return 0 if stamp is None else stamp[1]


def _look(paths: Iterable[Path]) -> _State:
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
        found = path.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)
