"""A stand-in for the command of Docker or Podman, which records its command lines."""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self, TypeAlias

import pytest

# The first words of a command line, and then the exit code, stdout and stderr.
Answer: TypeAlias = tuple[list[str], int, str, str]

_CALLS: Final = "calls.jsonl"
_ANSWERS: Final = "answers.json"
# A command line without an answer succeeds and prints nothing. It is called often, so it starts
# without what an environment adds.
_PROGRAM: Final = f"""\
#!{sys.executable} -IS
import json, pathlib, sys
folder = pathlib.Path(__file__).parent
with (folder / "{_CALLS}").open("a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
for words, code, out, err in json.loads((folder / "{_ANSWERS}").read_text()):
    if sys.argv[1 : 1 + len(words)] == words:
        sys.stdout.write(out)
        sys.stderr.write(err)
        sys.exit(code)
"""


@dataclass(frozen=True, slots=True)
class DockerCommand:
    """The stand-in in ``folder``, the first of PATH."""

    folder: Path

    @classmethod
    def install(cls, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Self:
        """Put the stand-in into a folder, and the folder before the others of PATH."""
        file = folder / "docker"
        file.write_text(_PROGRAM)
        file.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder), prepend=":")
        command = cls(folder)
        command.set_answers()
        return command

    def set_answers(self, *answers: Answer) -> None:
        """Set the answers to later command lines; the first that fits counts."""
        (self.folder / _ANSWERS).write_text(json.dumps(answers))

    def read_calls(self) -> list[str]:
        """Return the command lines so far, with NAME for a generated name."""
        lines = (self.folder / _CALLS).read_text().splitlines()
        texts = [" ".join(json.loads(line)) for line in lines]
        return [re.sub("function-script-[0-9a-f]{12}", "NAME", text) for text in texts]
