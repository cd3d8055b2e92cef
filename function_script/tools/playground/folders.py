"""The folders that the page can start from: those with an XR and a Composition.

Called by the server. Reads only text files of a folder that an author would edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.engines.registry import LANGUAGES
from function_script.errors import InputError
from function_script.tools import starters

if TYPE_CHECKING:
    from pathlib import Path

COMPOSITION: Final = "composition.yaml"
XR: Final = "xr.yaml"
# In this order they stand on the page; the rest of a folder follows by name.
_FIRST: Final = (COMPOSITION, XR, "observed.yaml", "required.yaml")
_OTHERS: Final = ("functions.yaml", "credentials.yaml", "xrd.yaml")
_MAX_FILES: Final = 50
_MAX_FILE_BYTES: Final = 1 << 20
_MAX_FOLDERS: Final = 500
_LEFT_OUT: Final = {"node_modules", "__pycache__"}


def find(root: Path) -> dict[str, Path | str]:
    """Folders at and below ``root`` that can be rendered, by their path from there.

    Behind them stand the starter projects, by their language. Raises InputError when there is no
    such directory.
    """
    if not root.is_dir():
        raise InputError.of(f'cannot open "{root}": it is not a directory')
    found: dict[str, Path | str] = {}
    for path in sorted(root.rglob(COMPOSITION)):
        folder = path.parent
        parts = folder.relative_to(root).parts
        if not (folder / XR).is_file() or any(_is_left_out(part) for part in parts):
            continue
        found["/".join(parts) or root.resolve().name] = folder
        if len(found) == _MAX_FOLDERS:
            break
    found |= {f"starter: {language}": language for language in LANGUAGES}
    return found


def load(folder: Path | str) -> dict[str, str]:
    """The texts of a folder by their path in it: what ``render FOLDER`` would read."""
    if isinstance(folder, str):
        texts = starters.load(folder)
        return {name: texts[name] for name in (*_FIRST, *_OTHERS) if name in texts}
    names = [name for name in (*_FIRST, *_OTHERS) if (folder / name).is_file()]
    programs = sorted(path for path in (folder / "programs").rglob("*") if path.is_file())
    names += [path.relative_to(folder).as_posix() for path in programs]
    return {
        name: (folder / name).read_text("utf-8", "replace")
        for name in names[:_MAX_FILES]
        if (folder / name).stat().st_size <= _MAX_FILE_BYTES
    }


def _is_left_out(part: str) -> bool:
    return part.startswith(".") or part in _LEFT_OUT
