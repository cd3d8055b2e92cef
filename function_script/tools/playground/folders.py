"""The folders that the page can open, their files with their digests, saving, and the copy to run.

A folder can be opened if it has an XR and a Composition. Its files are those that `render` and
`check` read in it. Saving is atomic, and never over a version that the page has not seen.
"""

import hashlib
import os
import shutil
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from function_script.engines.registry import LANGUAGES
from function_script.texts.errors import InputError, cause_of
from function_script.tools import starters
from function_script.tools.project import Project, walk

COMPOSITION: Final = "composition.yaml"
XR: Final = "xr.yaml"
ADDABLE: Final = (
    "observed.yaml",
    "required.yaml",
    "functions.yaml",
    "credentials.yaml",
    "xrd.yaml",
)
"""Files that the page can add to a folder."""
DIRECTORIES: Final = ("programs", "context", "schemas")
"""Directories that are read to any depth."""
# The order on the page; the other files of a folder follow by name.
FILES: Final = (COMPOSITION, XR, *ADDABLE, "definition.yaml")
_PROGRAMS: Final = "programs"
_MAX_QUOTED: Final = 80
_MAX_FILES: Final = 50
_MAX_FILE_BYTES: Final = 1 << 20
_MAX_FOLDERS: Final = 500


class UnfitError(ValueError):
    """A file cannot be shown and written back as it is; the text is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file's text with line feeds between lines, and the digest of its bytes."""

    text: str
    digest: str
    has_crlf: bool = False

    @classmethod
    def of(cls, data: bytes) -> "File":
        """Read bytes; raises UnfitError."""
        if len(data) > _MAX_FILE_BYTES:
            raise UnfitError("it is larger than 1 MiB")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UnfitError("it is not UTF-8 text") from error
        unix_text = text.replace("\r\n", "\n")
        has_crlf = unix_text != text
        if "\r" in unix_text or (has_crlf and text.count("\r\n") != text.count("\n")):
            raise UnfitError("its line ends are mixed")
        return cls(text=unix_text, digest=to_digest(data), has_crlf=has_crlf)

    def encode(self, text: str) -> bytes:
        """Return the bytes of another text with the line ends of this file."""
        return (text.replace("\n", "\r\n") if self.has_crlf else text).encode()


def to_digest(data: bytes) -> str:
    """Return the digest by which the page recognises a version of a file."""
    return hashlib.sha256(data).hexdigest()


class Folder:
    """A directory on disk, or the starter project of a language, which cannot be written.

    ``project`` has the files that may be read and written. ``opened_names`` are those that the page
    has got.
    """

    def __init__(
        self, directory: Path | None, project: Project | None = None, language: str = ""
    ) -> None:
        self.directory = directory
        self._project = project or Project()
        self._language = language
        self.opened_names: set[str] = set()
        self._lock = threading.Lock()

    def find_paths(self) -> dict[str, Path]:
        """Return the folder's files by their path in it; none for a starter. Raises InputError."""
        directory = self.directory
        if directory is None:
            return {}
        paths = [directory / name for name in FILES if (directory / name).is_file()]
        for each in DIRECTORIES:
            if (directory / each).is_dir():
                paths += self._project.find_files(directory / each)
        return {path.relative_to(directory).as_posix(): path for path in paths}

    def read(self, path: Path) -> bytes:
        """Return the bytes of one of its files; raises InputError."""
        return self._project.read(path)

    def load(self) -> tuple[dict[str, File], dict[str, str]]:
        """Load the files by their path in the folder, and the reasons against those left out."""
        if self.directory is None:
            texts = starters.load(self._language)
            return {name: File.of(texts[name].encode()) for name in FILES if name in texts}, {}
        files: dict[str, File] = {}
        unfit: dict[str, str] = {}
        for name, path in self.find_paths().items():
            if len(files) == _MAX_FILES:
                unfit[name] = f"the page shows {_MAX_FILES} files at most"
                continue
            try:
                files[name] = File.of(self.read(path))
            except (UnfitError, InputError) as error:
                unfit[name] = str(error)
        self.opened_names |= files.keys()
        return files, unfit

    def holds(self, texts: Mapping[str, str]) -> bool:
        """Report whether all texts of the page are saved; those of a starter never are."""
        files = {} if self.directory is None else self.load()[0]
        saved = (name in files and files[name].text == text for name, text in texts.items())
        return self.directory is not None and all(saved)

    def compute_digests(self) -> dict[str, str]:
        """Return the digest of every file that can be read."""
        digests = {}
        for name, path in self.find_paths().items():
            with suppress(InputError):
                digests[name] = to_digest(self.read(path))
        return digests

    def save(self, name: str, text: str, digest: str | None) -> tuple[str | None, File | None]:
        """Write a file and return its digest, if its digest on disk is ``digest``.

        ``digest`` None: the file must not exist. For another version on disk than the page has
        seen, return no digest and that version, None for a file that was deleted. Raises InputError
        for a file that is not the folder's, for a link, and when it cannot be written.
        """
        with self._lock:
            # Under the lock: two pages may save the same file, and one of them must lose.
            target = self._find_target(name)
            try:
                current = File.of(self._project.read(target)) if os.path.lexists(target) else None
            except UnfitError as error:
                raise InputError.of(f'cannot save "{name}": {error}') from error
            if (None if current is None else current.digest) != digest:
                return None, current
            data = text.encode() if current is None else current.encode(text)
            self._project.write(target, data)
        return to_digest(data), None

    def _find_target(self, name: str) -> Path:
        if self.directory is None:
            raise InputError.of(
                f'cannot save "{name}": a starter is no folder on disk',
                hint="make a project of it: function-script init my-project",
            )
        if name not in ADDABLE and name not in self.opened_names:
            raise InputError.of(f'cannot save "{name[:_MAX_QUOTED]}": the page has not opened it')
        return self.directory / name


def find(root: Path, project: Project) -> dict[str, Folder]:
    """Return the folders at and below ``root`` that can be rendered, by their path from there.

    ``project`` has the files that may be read. The starter projects follow, by language. Raises
    InputError if there is no such directory.
    """
    if not root.is_dir():
        raise InputError.of(f'cannot open "{root}": it is not a directory')
    result: dict[str, Folder] = {}
    for path in sorted(path for path in walk(root) if path.name == COMPOSITION):
        folder = path.parent
        if not (folder / XR).is_file():
            continue
        parts = folder.relative_to(root).parts
        result["/".join(parts) or root.resolve().name] = Folder(folder, project)
        if len(result) == _MAX_FOLDERS:
            break
    result |= {f"starter: {language}": Folder(None, language=language) for language in LANGUAGES}
    return result


class Mirror:
    """A directory of the playground's own, written anew for every run: a folder's files.

    The page's texts are over them. Programs, `render` and `check` read this copy, so that all of
    them see what the page shows.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory.resolve()
        self.programs = self.directory / _PROGRAMS
        self.programs.mkdir(parents=True, exist_ok=True)

    def write(self, texts: Mapping[str, str], folder: Folder) -> None:
        """Write the page's texts, and what else the folder has on disk. Raises InputError.

        A text whose name no tool reads is left out, and so is an empty one that is new.
        """
        shutil.rmtree(self.directory)
        self.programs.mkdir(parents=True)
        paths = folder.find_paths()
        for name in {**texts, **paths}:
            parts = PurePosixPath(name).parts
            if ".." in parts:
                raise InputError.of(
                    f'cannot use "{name[:_MAX_QUOTED]}": it leads out of its folder'
                )
            is_below = len(parts) > 1 and parts[0] in DIRECTORIES
            if not (name in FILES or is_below) or (name not in paths and not texts[name].strip()):
                continue
            try:
                data = texts[name].encode() if name in texts else folder.read(paths[name])
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
