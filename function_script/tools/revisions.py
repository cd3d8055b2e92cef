"""The files of a git revision, in a directory of their own: nothing is checked out.

The repository may be anybody's: git reads its objects, and starts no hook, filter or other program
that its configuration names.
"""

import io
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from function_script.texts.errors import FatalError, InputError
from function_script.tools.remote import git, selection
from function_script.tools.remote.selection import FetchError

_SECONDS: Final = 60.0
_MAX_BYTES: Final = 256 << 20
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
    if Path(name).exists():
        yield Version(name=name, paths=[Path(name)])
        return
    with tempfile.TemporaryDirectory(prefix="function-script-") as directory:
        root = Path(os.path.realpath(directory))
        reader = _Reader(name, root)
        places = [(root / str(number), f"{name}:") for number in range(len(paths))]
        version = Version(
            name=name,
            paths=[
                reader.read(path, place) for path, (place, _) in zip(paths, places, strict=True)
            ],
            places=places,
        )
        try:
            yield version
        except FatalError as error:
            raise error.with_diagnostics(
                *(
                    replace(
                        problem,
                        message=version.rename(problem.message),
                        span=problem.span
                        and replace(problem.span, name=version.rename(problem.span.name)),
                    )
                    for problem in error.diagnostics
                )
            ) from error


class _Reader:
    """Reads a revision with git, whose home is a directory without anything."""

    def __init__(self, name: str, home: Path) -> None:
        self._name = name
        self._program = shutil.which("git")
        self._environment = git.isolate(home, _SETTINGS)

    def read(self, path: Path, target: Path) -> Path:
        """Write the folder of a path at the revision below ``target``; return the path there."""
        if not path.exists():
            raise InputError.of(f'cannot read "{path}": no such file or directory')
        folder = path if path.is_dir() else path.parent
        prefix = self._run(folder, "rev-parse", "--show-prefix").removesuffix(b"\n")
        if self._name.startswith("-"):
            # Git would read an option.
            raise self._fail("git has no such commit")
        revision = ("rev-parse", "--verify", "--quiet", f"{self._name}^{{commit}}")
        commit = self._run(folder, *revision).decode().strip()
        names = [os.fsdecode(prefix)] if prefix else []
        listing = self._run(folder, *git.LISTING, commit, "--", *names)
        self._write(folder, [*git.read_listing(listing)], target)
        result = target / os.fsdecode(prefix)
        result = result if path.is_dir() else result / path.name
        if not result.exists():
            raise self._fail(f'the commit has no "{path}"')
        return result

    def _write(self, folder: Path, entries: Sequence[git.Entry], target: Path) -> None:
        if sum(each.size_bytes for each in entries) > _MAX_BYTES:
            raise self._fail(f'the files in "{folder}" have more than {_MAX_BYTES >> 20} MiB')
        hashes = "".join(f"{each.blob}\n" for each in entries).encode()
        output = io.BytesIO(self._run(folder, "cat-file", "--batch", stdin=hashes))
        links: list[tuple[Path, bytes]] = []
        try:
            for entry in entries:
                name = os.fsdecode(entry.name)
                path = target / selection.check_name(name)
                if output.readline().split()[1:2] != [b"blob"]:
                    raise self._fail(f'the repository lacks the content of "{name}"')
                data = output.read(entry.size_bytes + 1)[:-1]
                path.parent.mkdir(parents=True, exist_ok=True)
                if entry.is_link:
                    links.append((path, data))
                else:
                    path.write_bytes(data)
            # Nothing is written through a link: all directories are there by now.
            for path, text in links:
                path.symlink_to(os.fsdecode(text))
        except (OSError, ValueError, FetchError) as error:
            raise self._fail(f"its files cannot be written: {error}") from error

    def _run(self, folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run git in a folder; return what it prints. Raises InputError."""
        try:
            result = subprocess.run(  # noqa: S603 - git itself; hashes and names are no options
                [self._program or "git", *arguments],
                cwd=folder,
                env=self._environment,
                input=stdin,
                capture_output=True,
                timeout=_SECONDS,
                check=True,
            )
        except FileNotFoundError as error:
            raise self._fail("the command git is not installed") from error
        except subprocess.TimeoutExpired as error:
            raise self._fail(f"git took longer than {_SECONDS:.0f} s") from error
        except subprocess.CalledProcessError as error:
            fatal = git.read_fatal(error.stderr.decode("utf-8", "replace"))
            reason = f"git says: {fatal}" if fatal else "git has no such commit"
            raise self._fail(reason) from error
        return result.stdout

    def _fail(self, reason: str) -> InputError:
        return InputError.of(
            f'cannot read "{self._name}", which is no path, as a revision: {reason}'
        )
