"""Do what a page says, to the letter: run its commands, write its files, make its changes.

``Walk(directory, home=...).follow(page)`` runs against the ``function-script`` that the page has
installed, or that is first on ``path``. Every command is run, or is excused by a reason.
"""

import os
import re
import subprocess
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from support.notes import without_note

_BLOCK: Final = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_FILE: Final = re.compile(r"# ([\w./-]+\.\w+)\n")
_COMMENT: Final = re.compile(r"\s+# .*")
# After the command, so that `cd` and `export` hold for the next one.
_REMEMBER: Final = '\ncode=$?; pwd > "$WALK/directory"; env -0 > "$WALK/variables"; exit $code\n'
_OWN_VARIABLES: Final = {"WALK", "_", "PWD", "OLDPWD", "SHLVL"}
_SECONDS: Final = 300
# The commands that need more than this machine has, by their beginnings, and what they need.
OUTSIDE: Final = {
    r"docker ": "Docker",
    r"kubectl ": "a cluster",
    r"crossplane ": "Crossplane's own command",
    r"cosign ": "a key, and a registry",
    r"function-script package (push|inspect) registry\.example\.org/": "a registry",
    r"function-script package build --runtime-image ": "the image that docker saved",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block of a page; ``kind`` is the word after its fence."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of a page. ``output`` is what a console shows, None where nothing is shown."""

    text: str
    output: str | None


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, those in lists without their indentation."""
    return [
        Block(kind=match[2], text=textwrap.dedent(match[3]))
        for match in _BLOCK.finditer(page.read_text())
    ]


def commands(block: Block) -> Iterator[Command]:
    """Yield the commands of a ``console`` block, which shows output, or of an ``sh`` block."""
    if block.kind == "console":
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield Command(text=command, output=output)
    elif block.kind == "sh":
        for line in block.text.replace("\\\n", " ").splitlines():
            command = _COMMENT.sub("", line).strip()
            if command:
                yield Command(text=command, output=None)


class Walk:
    """A shell and an editor of somebody who begins in ``directory`` with an empty ``home``.

    ``environment`` is passed on, but for HOME; ``path`` comes first in its PATH.
    ``excused`` has a reason for each pattern of commands that are not run; ``meant`` has the
    command to run for one that stands for it.
    """

    def __init__(
        self,
        directory: Path,
        *,
        home: Path,
        path: Sequence[Path] = (),
        environment: Mapping[str, str] = os.environ,
        excused: Mapping[str, str] = OUTSIDE,
        meant: Mapping[str, str] | None = None,
    ) -> None:
        self.directory = directory
        self.executed: list[str] = []
        self.excuses: set[str] = set()
        self._excused = excused
        self._meant = meant or {}
        self._state = home / ".walk"
        self._state.mkdir(parents=True)
        entries = [*map(str, path), environment["PATH"]]
        own = {"HOME": str(home), "NO_COLOR": "1", "PATH": os.pathsep.join(entries)}
        # With CI set, `test` writes no file.
        author = {name: text for name, text in environment.items() if name != "CI"}
        self._variables = {**author, **own}

    def follow(self, page: Path) -> None:
        """Do what each block of the page says, in their order."""
        for block in blocks(page):
            self.do(block)

    def do(self, block: Block) -> None:
        """Run the block's commands, write its file or make its change."""
        name, content = _named(block)
        if block.kind in {"console", "sh"}:
            for command in commands(block):
                self._obey(command)
        elif block.kind == "diff":
            self._change(self.directory / name, content)
        elif block.kind in {"yaml", "json"} and name:
            path = self.directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def _obey(self, command: Command) -> None:
        for pattern in self._excused:
            if re.match(pattern, command.text):
                self.excuses.add(pattern)
                return
        result = self._run(self._meant.get(command.text, command.text))
        self.executed.append(command.text)
        printed = (result.stdout + without_note(result.stderr)).strip("\n")
        if command.output is None:
            assert result.returncode == 0, f"{command.text} failed:\n{printed}"
        else:
            expected = command.output.strip("\n")
            pattern = re.escape(expected).replace(re.escape("..."), ".*")
            matches = re.fullmatch(pattern, printed, re.DOTALL)
            assert matches, f"{command.text} printed:\n{printed}"

    def _run(self, command: str) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            ["sh", "-c", command + _REMEMBER],
            cwd=self.directory,
            env={**self._variables, "WALK": str(self._state)},
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
        self.directory = Path((self._state / "directory").read_text().removesuffix("\n"))
        pairs = (self._state / "variables").read_text().removesuffix("\0").split("\0")
        variables = dict(pair.split("=", 1) for pair in pairs)
        self._variables = {
            name: value for name, value in variables.items() if name not in _OWN_VARIABLES
        }
        return result

    def _change(self, path: Path, lines: str) -> None:
        text = path.read_text()
        before, after = _side(lines, " -"), _side(lines, " +")
        assert text.count(before) == 1, f"{path.name} has not once:\n{before}"
        path.write_text(text.replace(before, after))


def _named(block: Block) -> tuple[str, str]:
    """Return the path that the block's first line has in a comment, and the other lines."""
    match = _FILE.match(block.text)
    return (match[1], block.text[match.end() :]) if match else ("", block.text)


def _side(lines: str, marks: str) -> str:
    return "".join(line[1:] for line in lines.splitlines(keepends=True) if line[0] in marks)
