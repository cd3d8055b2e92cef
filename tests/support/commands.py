"""Run command lines in this process, and read what they print."""

import io
from typing import NamedTuple

import pytest

from function_script import cli


class Printed(NamedTuple):
    """What a command printed."""

    out: str
    err: str

    @property
    def text(self) -> str:
        """Both streams."""
        return self.out + self.err


class Run:
    """Runs commands, with the exit codes that are expected of them."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: object, code: int = 0, stdin: str | None = None) -> Printed:
        """Run the command of these words, which must end with ``code``; read what it printed."""
        self._capsys.readouterr()
        with pytest.MonkeyPatch.context() as patch:
            if stdin is not None:
                patch.setattr("sys.stdin", io.StringIO(stdin))
            ended = cli.execute([str(word) for word in words])
        printed = Printed(*self._capsys.readouterr())
        assert ended == code, printed
        return printed
