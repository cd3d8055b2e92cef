"""The folders that the page can open, and the objects in their files.

A folder can be opened if it has an XR and a Composition; only files that an author edits are read.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from function_script.documents import Document
from function_script.engines.registry import LANGUAGES
from function_script.errors import InputError
from function_script.source import Source
from function_script.tools import sources, starters
from function_script.values import Object

COMPOSITION: Final = "composition.yaml"
XR: Final = "xr.yaml"
# The order on the page; the other files of a folder follow by name.
_FIRST: Final = (COMPOSITION, XR, "observed.yaml", "required.yaml")
_OTHERS: Final = ("functions.yaml", "credentials.yaml", "xrd.yaml")
_MAX_FILES: Final = 50
_MAX_FILE_BYTES: Final = 1 << 20
_MAX_FOLDERS: Final = 500
_IGNORED: Final = {"node_modules", "__pycache__"}


def find(root: Path) -> dict[str, Path | str]:
    """Return the folders at and below ``root`` that can be rendered, by their path from there.

    The starter projects follow, by language. Raises InputError if there is no such directory.
    """
    if not root.is_dir():
        raise InputError.of(f'cannot open "{root}": it is not a directory')
    result: dict[str, Path | str] = {}
    for path in sorted(root.rglob(COMPOSITION)):
        folder = path.parent
        parts = folder.relative_to(root).parts
        is_ignored = any(part.startswith(".") or part in _IGNORED for part in parts)
        if is_ignored or not (folder / XR).is_file():
            continue
        result["/".join(parts) or root.resolve().name] = folder
        if len(result) == _MAX_FOLDERS:
            break
    result |= {f"starter: {language}": language for language in LANGUAGES}
    return result


def load(folder: Path | str) -> dict[str, str]:
    """Load the texts of a folder by their path in it: the files that ``render FOLDER`` reads."""
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


def read_objects(files: Mapping[str, str], name: str) -> list[Document]:
    """Read the objects of one file of the page; none if there is no such file."""
    return sources.read(Source(name=name, text=files.get(name, "")))


def read_values(files: Mapping[str, str], name: str) -> list[Object]:
    """Read the objects of one file of the page as plain values."""
    return [document.value for document in read_objects(files, name)]


def read_one(files: Mapping[str, str], name: str, kind: str) -> Document:
    """Read the single object of a file; raises InputError unless there is exactly one."""
    documents = read_objects(files, name)
    if len(documents) != 1:
        raise InputError.of(
            f'cannot load {kind} from "{name}": it holds {len(documents)} objects instead of one'
        )
    return documents[0]
