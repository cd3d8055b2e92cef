"""From paths to the files of cases below them.

Called by the command; a folder with ``case.yaml`` is a case, and so is a ``NAME.case.yaml``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from function_script.errors import InputError

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

FOLDER_FILE: Final = "case.yaml"
SUFFIX: Final = ".case.yaml"
_SKIPPED: Final = {"node_modules", "__pycache__"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFile:
    """The file of a case, and its name: the path without what all cases share."""

    path: Path

    @property
    def is_folder(self) -> bool:
        """Whether the case is a folder of its own, whose other files are its own too."""
        return self.path.name == FOLDER_FILE

    @property
    def name(self) -> str:
        """The folder, or the file without ``.case.yaml``."""
        if self.is_folder:
            return self.path.parent.as_posix()
        return self.path.as_posix().removesuffix(SUFFIX)

    def golden(self, number: int | None = None) -> Path:
        """The file with expected documents; ``number`` counts the steps of a sequence from 1."""
        ending = "expected.yaml" if number is None else f"expected-{number}.yaml"
        if self.is_folder:
            return self.path.with_name(ending)
        return self.path.with_name(f"{self.path.name.removesuffix(SUFFIX)}.{ending}")


def is_case(path: Path) -> bool:
    """Whether a file's name is that of a case."""
    return path.name == FOLDER_FILE or path.name.endswith(SUFFIX)


def find(paths: Iterable[Path], pattern: re.Pattern[str] | None = None) -> list[CaseFile]:
    """The cases at and below ``paths`` whose name matches, each once, in the order of names.

    Raises InputError for a path that is no case, and when there is no case at all.
    """
    paths = list(paths)
    found = {path: CaseFile(path=path) for start in paths for path in _files(start)}
    cases = [case for _, case in sorted(found.items())]
    if not cases:
        places = ", ".join(f'"{path}"' for path in paths)
        raise InputError.of(
            f"cannot find a case in {places}",
            hint=f"a case is a folder with {FOLDER_FILE}, or a file NAME{SUFFIX}",
        )
    chosen = [case for case in cases if pattern is None or pattern.search(case.name)]
    if not chosen and pattern is not None:
        raise InputError.of(
            f'cannot find a case whose name matches "{pattern.pattern}" among {len(cases)}'
        )
    return chosen


def _files(start: Path) -> Iterator[Path]:
    if start.is_dir():
        for folder, folders, names in os.walk(start):
            folders[:] = [name for name in folders if not _is_skipped(name)]
            yield from (Path(folder, name) for name in names if is_case(Path(name)))
    elif not start.exists():
        raise InputError.of(f'cannot read "{start}": no such file or directory')
    elif is_case(start):
        yield start
    else:
        hint = f"it must be named {FOLDER_FILE} or NAME{SUFFIX}"
        raise InputError.of(f'cannot use "{start}" as a case', hint=hint)


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED
