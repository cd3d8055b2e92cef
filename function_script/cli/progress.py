"""The progress of builds and pushes on stderr: lines, and percentages on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from function_script.cli import terminal

if TYPE_CHECKING:
    from function_script.tools.xpkg import Progress


@contextmanager
def display(*, is_quiet: bool = False) -> Iterator[Progress]:
    """Return a progress display for a ``with`` block."""
    from function_script.tools import xpkg  # noqa: PLC0415 - slow to import

    if is_quiet:
        yield xpkg.NullProgress()
    elif not sys.stderr.isatty():
        yield _Lines()
    else:
        progress = _Terminal()
        try:
            yield progress
        finally:
            progress.close()


class _Lines:
    """Prints lines into files and pipes."""

    def line(self, text: str) -> None:
        terminal.echo(text, err=True)

    def share(self, part: float) -> None:
        """Do nothing: lines are enough in a file."""


class _Terminal:
    """Rewrites the last line with its percentage."""

    def __init__(self) -> None:
        self._text = ""
        self._percent = -1

    def line(self, text: str) -> None:
        self.close()
        self._text, self._percent = text, -1
        terminal.echo(text, nl=False, err=True)

    def share(self, part: float) -> None:
        percent = int(part * 100)
        if percent != self._percent:
            self._percent = percent
            terminal.echo_again(f"{self._text} {percent:3} %")

    def close(self) -> None:
        """End the last line."""
        if self._text:
            terminal.echo(err=True)
        self._text = ""
