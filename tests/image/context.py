"""The files of a build: which of them a .dockerignore lets through, and COPY."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from image.dockerfile import DockerfileError


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A line of a .dockerignore; one with an exclamation mark lets files through again."""

    pattern: re.Pattern[str]
    is_exception: bool


def read_rules(path: Path) -> list[Rule]:
    """Read a .dockerignore."""
    lines = [line.strip() for line in path.read_text().splitlines()]
    return [
        Rule(pattern=_compile(line.lstrip("!")), is_exception=line.startswith("!"))
        for line in lines
        if line and not line.startswith("#")
    ]


def _compile(pattern: str) -> re.Pattern[str]:
    """Compile a pattern, which means a file or a directory with all that is in it."""
    parts = re.split(r"(\*\*/|\*)", pattern.strip("/"))
    spelled = {"**/": "(?:.*/)?", "*": "[^/]*"}
    return re.compile("".join(spelled.get(part, re.escape(part)) for part in parts) + "(?:/.*)?")


def is_ignored(name: str, rules: Sequence[Rule]) -> bool:
    """Tell whether a file is no part of the build: the last rule that matches decides."""
    for rule in reversed(rules):
        if rule.pattern.fullmatch(name):
            return not rule.is_exception
    return False


@contextmanager
def selected(source: Path, names: Sequence[str], rules: Sequence[Rule]) -> Iterator[list[Path]]:
    """Yield copies of files and directories of the build, without what the rules leave out."""
    with tempfile.TemporaryDirectory() as directory:
        paths = []
        for name in names:
            path = source / name
            inside = [path]
            if path.is_dir():
                inside = [p for p in path.rglob("*") if p.is_file() or p.is_symlink()]
            chosen = [p for p in inside if not is_ignored(str(p.relative_to(source)), rules)]
            if not path.exists() or not chosen:
                raise DockerfileError(f'"{name}" is not among the files of the build')
            for file in chosen:
                copy_path = Path(directory, file.relative_to(source))
                copy_path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, copy_path, follow_symlinks=False)
            paths.append(Path(directory, name))
        yield paths


def copy(paths: Sequence[Path], target: Path, *, is_directory: bool) -> None:
    """Copy files into a directory or to a name, and the content of directories, as COPY does."""
    if len(paths) > 1 and not is_directory:
        raise DockerfileError("COPY of several files needs a directory, which ends in /")
    for path in paths:
        if not path.exists():
            raise DockerfileError(f'"{path.name}" does not exist')
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            command = ["cp", "--archive", "--no-preserve=ownership", f"{path}/.", target]
        else:
            (target if is_directory else target.parent).mkdir(parents=True, exist_ok=True)
            command = ["cp", "--archive", "--no-preserve=ownership", path, target]
        subprocess.run(command, check=True)
