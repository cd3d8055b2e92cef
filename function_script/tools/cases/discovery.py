"""Find the files of cases: ``case.yaml`` in a folder of its own, or ``NAME.case.yaml``."""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from function_script.texts import field_names
from function_script.texts.errors import InputError

FOLDER_FILE: Final = "case.yaml"
SUFFIX: Final = ".case.yaml"
_INPUTS: Final = {
    *("composition.yaml", "xr.yaml", "xrd.yaml", "definition.yaml", "functions.yaml"),
    *("observed.yaml", "required.yaml", "credentials.yaml", "context.yaml"),
}
_SKIPPED: Final = {"node_modules", "__pycache__"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFile:
    """The file of a case."""

    path: Path

    @property
    def is_folder(self) -> bool:
        """Report whether the case has a folder of its own, with further files."""
        return self.path.name == FOLDER_FILE

    @property
    def name(self) -> str:
        """Return the folder, or the file without ``.case.yaml``."""
        if self.is_folder:
            return self.path.parent.as_posix()
        return self.path.as_posix().removesuffix(SUFFIX)

    def snapshot(self, number: int | None = None) -> Path:
        """Return the file of expected documents; ``number`` counts steps of a sequence from 1."""
        ending = "expected.yaml" if number is None else f"expected-{number}.yaml"
        if self.is_folder:
            return self.path.with_name(ending)
        return self.path.with_name(f"{self.path.name.removesuffix(SUFFIX)}.{ending}")


def is_case(path: Path) -> bool:
    """Report whether a file's name is that of a case."""
    return path.name == FOLDER_FILE or path.name.endswith(SUFFIX)


def is_input(path: Path) -> bool:
    """Report whether a file's name is that of a case, or of what cases read without naming it."""
    # Some file systems take names in capitals for the same.
    lower = path.with_name(path.name.lower())
    return is_case(lower) or lower.name in _INPUTS


def find(paths: Iterable[Path], pattern: re.Pattern[str] | None = None) -> list[CaseFile]:
    """Return the cases at and below ``paths`` whose name matches, each once, in order of names.

    Raises InputError for a path that is not a case, and if there is no case at all.
    """
    paths = list(paths)
    by_path = {path: CaseFile(path=path) for start in paths for path in _list_files(start)}
    cases = [case for _, case in sorted(by_path.items())]
    if not cases:
        names = ", ".join(f'"{path}"' for path in paths)
        raise InputError.of(
            f"cannot find a case in {names}",
            hint=f"a case is a folder with {FOLDER_FILE}, or a file NAME{SUFFIX}",
        )
    matches = [case for case in cases if pattern is None or pattern.search(case.name)]
    if not matches and pattern is not None:
        raise InputError.of(
            f'cannot find a case whose name matches "{pattern.pattern}" among {len(cases)}',
            hint=f"the cases are {field_names.listed(case.name for case in cases)}",
        )
    return matches


def _list_files(start: Path) -> Iterator[Path]:
    if start.is_dir():
        for folder, folders, names in os.walk(start):
            folders[:] = [
                name for name in folders if not name.startswith(".") and name not in _SKIPPED
            ]
            yield from (Path(folder, name) for name in names if is_case(Path(name)))
    elif not start.exists():
        raise InputError.of(f'cannot read "{start}": no such file or directory')
    elif is_case(start):
        yield start
    else:
        hint = f"it must be named {FOLDER_FILE} or NAME{SUFFIX}"
        raise InputError.of(f'cannot use "{start}" as a case', hint=hint)
