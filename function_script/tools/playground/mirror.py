"""The directory that is rendered: the folder's files with the page's texts over them.

Programs, `render` and `check` read this copy, so that all of them see what the page shows.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from function_script.texts.errors import InputError, cause_of
from function_script.tools.playground import folders

_PROGRAMS: Final = "programs"
_MAX_QUOTED: Final = 80


class Mirror:
    """A directory of the playground's own, written anew for every run."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory.resolve()
        self.programs = self.directory / _PROGRAMS
        self.programs.mkdir(parents=True, exist_ok=True)

    def write(self, texts: Mapping[str, str], folder: folders.Folder | None) -> None:
        """Write the page's texts, and what else the folder has on disk. Raises InputError.

        A text whose name no tool reads is left out, and so is an empty one that is new.
        """
        shutil.rmtree(self.directory)
        self.programs.mkdir(parents=True)
        paths = {} if folder is None else folder.find_paths()
        for name in {**texts, **paths}:
            parts = PurePosixPath(name).parts
            if ".." in parts:
                raise InputError.of(
                    f'cannot use "{name[:_MAX_QUOTED]}": it leads out of its folder'
                )
            is_below = len(parts) > 1 and parts[0] in folders.DIRECTORIES
            if not (name in folders.FILES or is_below) or (
                name not in paths and not texts[name].strip()
            ):
                continue
            try:
                if folder is None or name in texts:
                    data = texts[name].encode()
                else:
                    data = folder.read(paths[name])
                target = self.directory.joinpath(*parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            except (OSError, ValueError) as error:
                raise InputError.of(
                    f"cannot write {name[:_MAX_QUOTED]!r}: {cause_of(error)}"
                ) from error

    def strip(self, text: str) -> str:
        """Return a text in which the mirror's paths are those of the page."""
        return text.replace(f"{self.directory}/", "").replace(str(self.directory), ".")
