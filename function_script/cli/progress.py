"""Progress of long work on stderr: lines, and on a terminal how much of the last one is done.

Called by commands that build and push packages.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from function_script.cli import terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.tools.xpkg import Progress


@contextmanager
def shown(*, is_quiet: bool = False) -> Iterator[Progress]:
    """Shows it until the block ends."""
    from function_script.tools import xpkg  # noqa: PLC0415 - slow to import

    if is_quiet:
        yield xpkg.NullProgress()
    elif not sys.stderr.isatty():
        yield _Lines()
    else:
        terminal = _Terminal()
        try:
            yield terminal
        finally:
            terminal.close()


class _Lines:
    """For files and pipes."""

    def line(self, text: str) -> None:
        terminal.echo(text, err=True)

    def share(self, part: float) -> None:
        """A line says it all."""


class _Terminal:
    """Writes the last line again and again."""

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
        """Leave the last line as it is."""
        if self._text:
            terminal.echo(err=True)
        self._text = ""
