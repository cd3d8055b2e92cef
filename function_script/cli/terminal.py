"""Print text of unknown origin without control characters, and the progress of builds and pushes.

This is the only module that calls `click.echo`.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from function_script.tools.xpkg import Progress

# C0 except tab and line feed, DEL and C1; half surrogates; bidirectional formatting.
_CONTROL: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]"
)
# Help in fewer columns would break words.
_MIN_WIDTH: Final = 40
_COLOUR: Final = re.compile(r"(\x1b\[(?:0|1|1;3[0-7]|3[0-7])m)")


def escape(text: str) -> str:
    """Write control characters as JSON does, so that JSON stays the same value."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def width() -> int:
    """Return the number of columns: the variable COLUMNS, those of the terminal, or 80."""
    return max(shutil.get_terminal_size().columns, _MIN_WIDTH)


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print text or JSON."""
    click.echo(escape(text), err=err, nl=nl)


def echo_coloured(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text; sequences that set colours are printed as they are."""
    parts = _COLOUR.split(text)
    click.echo(
        "".join(part if index % 2 else escape(part) for index, part in enumerate(parts)),
        err=err,
        nl=nl,
        color=True,
    )


def echo_again(text: str) -> None:
    """Print over the last line of stderr."""
    click.echo(f"\r{escape(text)}", err=True, nl=False)


def echo_exact(text: str) -> None:
    """Print a result unchanged to a file or a pipe; escape it on a terminal."""
    # With color=True click removes no sequences.
    click.echo(escape(text) if sys.stdout.isatty() else text, nl=False, color=True)


def print_sandbox_note(*, is_quiet: bool = False) -> None:
    """Print on stderr which measures the sandbox lacks here; nothing if it is as in production.

    Raises SandboxError if programs cannot run.
    """
    from function_script.sandbox import system  # noqa: PLC0415 - slow to import

    system.check_programs()
    text = "" if is_quiet else system.note()
    if text:
        echo(f"note: {text}", err=True)


@contextmanager
def show_progress(*, is_quiet: bool = False) -> Iterator[Progress]:
    """Return a progress display for a ``with`` block."""
    from function_script.tools import xpkg  # noqa: PLC0415 - slow to import

    if is_quiet:
        yield xpkg.NullProgress()
    elif not sys.stderr.isatty():
        yield _LineProgress()
    else:
        progress = _TerminalProgress()
        try:
            yield progress
        finally:
            progress.close()


class _LineProgress:
    """Prints lines into files and pipes."""

    def line(self, text: str) -> None:
        echo(text, err=True)

    def share(self, part: float) -> None:
        """Do nothing: lines are enough in a file."""


class _TerminalProgress:
    """Rewrites the last line with its percentage."""

    def __init__(self) -> None:
        self._text = ""
        self._percent = -1

    def line(self, text: str) -> None:
        self.close()
        self._text, self._percent = text, -1
        echo(text, nl=False, err=True)

    def share(self, part: float) -> None:
        percent = int(part * 100)
        if percent != self._percent:
            self._percent = percent
            echo_again(f"{self._text} {percent:3} %")

    def close(self) -> None:
        """End the last line."""
        if self._text:
            echo(err=True)
        self._text = ""
