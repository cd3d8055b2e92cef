"""The files that a command may read and write: one rule for all of them.

A command reads what its command line names, and what is really below the project's root: a
directory that the command line names, or the directory of a Composition that it names. A link or a
path that leads out of it is refused, whichever file it stands in, unless ``--allow-outside`` allows
its target. Files are written below a root only, and never through a link.
"""

import codecs
import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, Self

from function_script.inputs import beneath
from function_script.texts.errors import InputError, cause_of
from function_script.texts.source import Source

FLAG: Final = "--allow-outside"
STDIN: Final = "-"
"""The argument of a command that stands for stdin."""
SUFFIXES: Final = (".yaml", ".yml")
"""The endings of the files that are read in a directory."""
# Nothing in these directories is written by hand.
_OF_TOOLS: Final = {"node_modules", "__pycache__"}


class Project:
    """Files below ``roots``, those that the command line names, and those that are ``allowed``.

    ``named`` and ``allowed`` may be files and directories. Links are followed where the command
    line names them, and where they stay below a root. ``allowed`` is None in a command without the
    flag.
    """

    def __init__(
        self,
        roots: Iterable[Path] = (),
        *,
        named: Iterable[Path] = (),
        allowed: Iterable[Path] | None = None,
    ) -> None:
        self._roots = {_absolute(root): _resolve(root) for root in roots}
        named = [*named]
        self._files = {path for path in named if not path.is_dir()}
        directories = (path for path in named if path.is_dir())
        self._allowed = [_resolve(path) for path in (*directories, *(allowed or ()))]
        self._has_flag = allowed is not None

    @classmethod
    def of(
        cls,
        arguments: Iterable[Path],
        *,
        named: Iterable[Path | None] = (),
        allowed: Iterable[Path] | None = None,
    ) -> Self:
        """Return the project of arguments: directories, and files with what is beside them.

        ``named`` are the paths of flags; None: a flag that is not set.
        """
        paths = [*arguments]
        roots = [path if path.is_dir() else path.parent for path in paths]
        set_paths = (path for path in named if path is not None)
        return cls(roots, named=(*paths, *set_paths), allowed=allowed)

    def with_root(self, root: Path) -> "Project":
        """Return the project with one more root."""
        project = Project()
        project._has_flag = self._has_flag
        project._roots = {_absolute(root): _resolve(root), **self._roots}
        project._files, project._allowed = self._files, self._allowed
        return project

    def load(self, path: Path) -> Source:
        """Load a text file; raises InputError."""
        data = self.read(path)
        try:
            return Source(name=str(path), text=data.decode("utf-8"))
        except UnicodeDecodeError as error:
            is_utf_16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
            hint = "it is UTF-16, as some shells write it: save it as UTF-8" if is_utf_16 else None
            raise InputError.of(f'cannot read "{path}": it is not UTF-8 text', hint=hint) from error

    def read(self, path: Path) -> bytes:
        """Return a file's bytes; raises InputError."""
        with self.open(path) as file, self._explain_errors("read", path):
            return beneath.read_bounded(file)

    def open(self, path: Path) -> BinaryIO:
        """Open a file; raises InputError."""
        with self._explain_errors("read", path):
            # A file that the command line names may be a pipe.
            is_named = path in self._files
            return path.open("rb") if is_named else beneath.open_file(self._real, path)

    def find_files(
        self, directory: Path, suffixes: Collection[str] = (), *, is_deep: bool = True
    ) -> list[Path]:
        """Return the files in a directory, or at any depth below it, sorted by path.

        ``suffixes`` are those of their names, such as ".yaml"; none: of any. Links to directories
        are not followed. Raises InputError.
        """
        files: list[Path] = []
        directories = [directory]
        while directories:
            place = directories.pop()
            with self._explain_errors("read", place):
                entries = beneath.list_entries(self._real, place)
            for entry in entries:
                path = place / entry.name
                if entry.is_directory and is_deep:
                    directories.append(path)
                elif entry.is_file and (not suffixes or path.suffix in suffixes):
                    files.append(path)
        return sorted(files)

    def resolve(self, path: Path) -> Path:
        """Return a path that may be read, without links. Raises InputError for any other."""
        with self._explain_errors("read", path):
            target = beneath.resolve(path)
            # What the command line names may be anywhere.
            if path not in self._files:
                beneath.find_root(self._real, target)
        return target

    def allows(self, path: Path) -> bool:
        """Report whether a path may be read."""
        try:
            self.resolve(path)
        except InputError:
            return False
        return True

    def write(self, path: Path, data: bytes, *, makes_parents: bool = False) -> None:
        """Write a file below a root, in place of one that is there. Raises InputError.

        ``makes_parents``: directories that are missing are made.
        """
        root, parts = self.locate(path)
        with self._explain_errors("write", path):
            beneath.replace(root, parts, data, makes_parents=makes_parents)

    def has_below(self, path: Path) -> bool:
        """Report whether a path is below a root if no part of it is a link."""
        target = _absolute(path)
        return any(target.is_relative_to(root) for root in self._roots)

    def locate(self, path: Path) -> tuple[Path, Sequence[str]]:
        """Return the root that a file would be written below, and the names from there to it.

        Raises InputError.
        """
        target = _absolute(path)
        for root, real in self._roots.items():
            if target.is_relative_to(root):
                return real, target.relative_to(root).parts
        names = " or ".join(f'"{root}"' for root in self._roots) or "the project"
        raise InputError.of(f'cannot write "{path}": it is outside of {names}')

    @property
    def _real(self) -> Sequence[Path]:
        return [*self._roots.values(), *self._allowed]

    @contextmanager
    def _explain_errors(self, verb: str, path: Path) -> Iterator[None]:
        try:
            yield
        except beneath.OutsideError as error:
            raise self._refuse(path, error.target) from error
        except (OSError, ValueError) as error:
            raise _failure(verb, path, error) from error

    def _refuse(self, path: Path, target: Path) -> InputError:
        roots = " or ".join(f'"{root}"' for root in self._roots) or "what the command line names"
        is_link = target != _absolute(path)
        leads = f'it leads to "{target}", which is outside of' if is_link else "it is outside of"
        # A path that leads nowhere is misspelt.
        helps = self._has_flag and target.exists()
        hint = f"{FLAG} {shlex.quote(str(target))} allows it" if helps else None
        return InputError.of(f'cannot read "{path}": {leads} {roots}', hint=hint)


def walk(directory: Path, *, is_strict: bool = False) -> Iterator[Path]:
    """Yield the files below a directory, but for hidden ones and those that tools put there.

    They are paths alone: a `Project` says which of them may be read. ``is_strict``: raises
    InputError for a directory that cannot be read, which else has no files.
    """

    def refuse(error: OSError) -> None:
        if is_strict:
            raise _failure("read", Path(error.filename), error) from error

    for folder, folders, names in os.walk(directory, onerror=refuse):
        folders[:] = [each for each in folders if each[0] != "." and each not in _OF_TOOLS]
        yield from (Path(folder, name) for name in names if name[0] != ".")


def create(directory: Path) -> Project:
    """Make a directory, with those above it, and return its project. Raises InputError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise _failure("write", directory, error) from error
    return Project([directory])


def write_named(path: Path, data: bytes | None) -> None:
    """Write a file that the command line names, through a link too. Raises InputError.

    Without data this changes nothing, and raises what is wrong with the name.
    """
    try:
        if path.is_file() or path.is_dir() or not path.exists():
            target = beneath.resolve(path)
            beneath.replace(target.parent, [target.name], data)
        elif data is not None:
            # A device or a pipe.
            path.write_bytes(data)
    except (OSError, ValueError) as error:
        raise _failure("write", path, error) from error


def _absolute(path: Path) -> Path:
    """Return the path from the root of the file system, with its links."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - which keeps ".."


def _resolve(path: Path) -> Path:
    try:
        return beneath.resolve(path)
    except OSError as error:
        raise _failure("read", path, error) from error


def _failure(verb: str, path: Path, error: OSError | ValueError) -> InputError:
    """Return the error of a call of the system, which refuses some names by a ValueError."""
    return InputError.of(f'cannot {verb} "{path}": {cause_of(error)}')
