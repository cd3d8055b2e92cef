"""The tutorial, done to the letter: every command run, every change made, in their order."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from notes import without_note

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGES = sorted((Path(__file__).resolve().parents[1] / "docs" / "tutorial").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Reader:
    """Somebody who does what a page says, beginning in an empty directory."""

    def __init__(self, directory: Path, environment: Mapping[str, str] | None = None) -> None:
        """Begin in a directory, with the commands of this environment unless PATH is another."""
        self.directory = directory
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.environment = environment or {**os.environ, "PATH": path}

    def follow(self, kind: str, text: str) -> None:
        """Do what one block says; blocks of other kinds are only for reading."""
        if kind == "console":
            for session in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, shown = session.partition("\n")
                self.run(command, shown)
        elif kind == "diff":
            self.change(*_named(text))
        elif kind == "yaml":
            name, content = _named(text)
            (self.directory / name).write_text(content)

    def run(self, command: str, shown: str) -> None:
        """Run a command: it prints what is shown, where ``...`` stands for anything."""
        program, *arguments = shlex.split(command)
        if program == "cd":
            self.directory /= arguments[0]
            return
        done = subprocess.run(
            [program, *arguments],
            cwd=self.directory,
            env={**self.environment, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        pattern = re.escape(shown.strip("\n")).replace(re.escape("..."), ".*")
        printed = (done.stdout + without_note(done.stderr)).strip("\n")
        assert re.fullmatch(pattern, printed, re.DOTALL), f"{command} printed:\n{printed}"

    def change(self, name: str, lines: str) -> None:
        """Make a change as a diff shows it; the lines before it must be there once."""
        path = self.directory / name
        text = path.read_text()
        before, after = _side(lines, " -"), _side(lines, " +")
        assert text.count(before) == 1, f"{name} has not once:\n{before}"
        path.write_text(text.replace(before, after))


def _named(text: str) -> tuple[str, str]:
    """The file that the first line of a block names in a comment, and the other lines."""
    first, _, rest = text.partition("\n")
    assert first.startswith("# "), first
    return first.removeprefix("# "), rest


def _side(lines: str, marks: str) -> str:
    return "".join(line[1:] for line in lines.splitlines(keepends=True) if line[0] in marks)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_newcomer_gets_through(page: Path, tmp_path: Path) -> None:
    """Every step of the page works for somebody who has nothing but the page."""
    reader = Reader(tmp_path)
    blocks = BLOCK.findall(page.read_text())
    assert {kind for kind, _ in blocks} >= {"console", "diff"}
    for kind, text in blocks:
        reader.follow(kind, text)
