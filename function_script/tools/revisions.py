"""The files of a git revision, in a directory of their own: nothing is checked out.

The repository may be anybody's: git reads its objects, and starts no hook, filter or other program
that its configuration names.
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from function_script.texts.errors import FatalError, InputError, cause_of
from function_script.tools.remote import selection
from function_script.tools.remote.selection import FetchError

if TYPE_CHECKING:
    from function_script.tools.remote import git

_MAX_BYTES: Final = 256 << 20
# With a line for each file.
_MAX_OUTPUT_BYTES: Final = 2 * _MAX_BYTES
_PROGRAMS: Final = "programs"
_SETTINGS: Final = {
    # The user may read files of somebody else, as in a container of CI.
    "safe.directory": "*",
    # A folder of the project that looks like a repository is none.
    "safe.bareRepository": "explicit",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """Another version of some paths; ``name`` is that of the command line."""

    name: str
    paths: Sequence[Path]
    places: Sequence[tuple[Path, str]] = ()

    def rename(self, text: str) -> str:
        """Return a text with paths as git writes them: ``main:platform/xr.yaml``."""
        for directory, prefix in self.places:
            text = text.replace(f"{directory}{os.sep}", prefix).replace(str(directory), prefix)
        return text


@contextmanager
def open_version(name: str, paths: Sequence[Path]) -> Iterator[Version]:
    """Yield what a path holds, or else ``paths`` at a git revision of their repositories.

    A path has no more than its folder there. Raises InputError; an error of the ``with`` block
    names files as `Version.rename`.
    """
    # An empty name is no path, as of a variable that is not set: it would be this directory.
    if name and Path(name).exists():
        yield Version(name=name, paths=[Path(name)])
        return
    with tempfile.TemporaryDirectory(prefix="function-script-") as directory:
        root = Path(os.path.realpath(directory))
        places = [(root / str(number), f"{name}:") for number in range(len(paths))]
        read: list[Path] = []
        for path, (place, _) in zip(paths, places, strict=True):
            if not path.exists():
                raise InputError.of(f'cannot read "{path}": no such file or directory')
            try:
                read.append(_read(name, path, place, root))
            except FetchError as error:
                text = f'cannot read "{name}", which is no path, as a revision: {error.reason}'
                raise InputError.of(text) from error
        version = Version(name=name, paths=read, places=places)
        try:
            yield version
        except FatalError as error:
            problems = (problem.rename(version.rename) for problem in error.diagnostics)
            raise error.with_diagnostics(*problems) from error


def _read(name: str, path: Path, target: Path, home: Path) -> Path:
    """Write the folder of a path at a revision below ``target``; return the path there.

    ``home`` is a directory without anything. Raises FetchError.
    """
    from function_script.tools.remote import git  # noqa: PLC0415 - slow, for a revision alone

    folder = path if path.is_dir() else path.parent
    environment = git.isolate(home, _SETTINGS)
    command = git.Git([git.find_program()], folder, environment, _MAX_OUTPUT_BYTES)
    prefix = command.run("rev-parse", "--show-prefix").removesuffix(b"\n")
    try:
        # Git would read an option.
        revision = "" if name.startswith("-") else f"{name}^{{commit}}"
        commit = command.run("rev-parse", "--verify", "--quiet", revision).decode().strip()
    except FetchError as error:
        raise FetchError("git has no such commit") from error
    entries = [*_list_files(command, commit, *([os.fsdecode(prefix)] if prefix else []))]
    if sum(each.size_bytes for each in entries) > _MAX_BYTES:
        raise FetchError(f'the files in "{folder}" have more than {_MAX_BYTES >> 20} MiB')
    links: list[tuple[Path, bytes]] = []
    try:
        for entry, data in command.read_files(entries):
            file = target / selection.check_name(os.fsdecode(entry.name))
            file.parent.mkdir(parents=True, exist_ok=True)
            if entry.is_link:
                links.append((file, data))
            else:
                file.write_bytes(data)
        # Nothing is written through a link: all directories are there by now.
        for file, text in links:
            file.symlink_to(os.fsdecode(text))
    except (OSError, ValueError) as error:
        raise FetchError(f"its files cannot be written: {cause_of(error)}") from error
    result = target / os.fsdecode(prefix)
    result = result if path.is_dir() else result / path.name
    if not result.exists():
        raise FetchError(f'the commit has no "{path}"')
    # The commands follow a link that their command line names, and nobody has named this one.
    if not Path(os.path.realpath(result)).is_relative_to(target):
        raise FetchError(f'in the commit "{path}" is a link, which leads out of its folder')
    return result


def _list_files(command: "git.Git", commit: str, *names: str) -> Iterator["git.Entry"]:
    """Yield files and links. Raises FetchError for a submodule that may have programs."""
    for entry in command.list_files(commit, *names):
        name = os.fsdecode(entry.name)
        if not entry.is_submodule:
            yield entry
        elif _PROGRAMS in Path(name).parts:
            # A program of all files there would be another one without it.
            raise FetchError(f'"{name}" is a submodule, whose files are not in the commit')
