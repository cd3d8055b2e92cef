"""Print text of unknown origin without control characters, and the progress of long commands.

This is the only module that calls `click.echo`.
"""

from __future__ import annotations

import re
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click

from function_script.texts.diagnostics import Diagnostic, Form, to_form
from function_script.tools.progress import Progress

# C0 except tab and line feed, DEL and C1; half surrogates; line ends; bidirectional formatting.
_CONTROL: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028-\u202e\u2066-\u2069]"
)
# A CI system takes such a line of output for a command; blanks before it do not count. Older ones
# stand anywhere in a line.
_CI_COMMAND: Final = re.compile(r"^[^\S\n]*:(?=:[A-Za-z])|#(?=#\[[A-Za-z])", re.MULTILINE)
# Help in fewer columns would break words.
_MIN_WIDTH: Final = 40
_COLOUR: Final = re.compile(r"(\x1b\[(?:0|1|1;3[0-7]|3[0-7])m)")


# A command that has printed nothing for so long shows that it is at work.
_SILENCE_SECONDS: Final = 2.0
_PERIOD_SECONDS: Final = 0.5
_CLEAR: Final = "\r\x1b[K"


def escape(text: str) -> str:
    """Write control characters as JSON does, so that JSON stays the same value.

    The first character of what a CI system would take for a command is written so, too.
    """
    text = _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return _CI_COMMAND.sub(lambda match: f"{match[0][:-1]}\\u{ord(match[0][-1]):04x}", text)


def width() -> int:
    """Return the number of columns: the variable COLUMNS, those of the terminal, or 80."""
    return max(shutil.get_terminal_size().columns, _MIN_WIDTH)


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print text or JSON."""
    _print(escape(text), err=err, nl=nl)


def form() -> Form:
    """Return the form of problems that the running command was given."""
    context = click.get_current_context(silent=True)
    return "text" if context is None else context.params.get("diagnostics") or "text"


def echo_problem(
    problem: Diagnostic, severity: str, form_: Form | None = None, *, is_last: bool = False
) -> None:
    """Print a problem on stderr, by default in the form of the running command.

    Behind a frame is an empty line, unless it ``is_last``.
    """
    if (chosen := form_ or form()) != "text":
        echo(to_form(problem, severity, chosen), err=True)
        return
    from function_script.tools import console  # noqa: PLC0415 - only problems need it

    columns, is_colourful = console.columns_of(sys.stderr), console.is_colourful(sys.stderr)
    frame = console.to_frame(problem, severity, columns, colourful=is_colourful)
    echo_coloured(frame if is_last else f"{frame}\n", err=True)


def echo_text(text: str) -> None:
    """Print on stderr what has no position, such as the output of programs."""
    if form() == "json":
        text = to_form(Diagnostic(message=text.rstrip("\n")), "info", "json")
    echo(text, err=True)


def echo_note(text: str) -> None:
    """Print a note on stderr."""
    if form() == "json":
        echo_problem(Diagnostic(message=text), "note")
    else:
        echo(f"note: {text}", err=True)


def echo_coloured(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text; sequences that set colours are printed as they are."""
    parts = _COLOUR.split(text)
    # The expression is a group, so that the sequences themselves are at the odd places.
    text = "".join(part if index % 2 else escape(part) for index, part in enumerate(parts))
    _print(text, err=err, nl=nl, color=True)


def echo_exact(text: str) -> None:
    """Print a result unchanged to a file or a pipe; escape it on a terminal."""
    # With color=True click removes no sequences.
    _print(escape(text) if sys.stdout.isatty() else text, nl=False, color=True)


def _print(text: str, *, err: bool = False, nl: bool = True, color: bool | None = None) -> None:
    with _lock:
        if _activity is not None:
            _activity.clear()
        click.echo(text, err=err, nl=nl, color=color)


@contextmanager
def show_activity(name: str) -> Iterator[None]:
    """Show on a terminal, within a ``with`` block, that a command which prints nothing is at work.

    ``name`` is the command's. Only its main thread begins and ends such blocks, one at a time.
    """
    global _activity  # noqa: PLW0603 # the one last line of the one terminal
    if not sys.stderr.isatty():
        yield
        return
    _activity = activity = _Activity(name)
    try:
        yield
    finally:
        with _lock:
            _activity = None
            activity.end()


class _Activity:
    """The last line of the terminal while a command prints nothing: its name, and its seconds."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._start = self._printed = time.monotonic()
        self._is_shown = False
        self._is_ended = threading.Event()
        # Something else writes on the last line.
        self.is_paused = False
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while not self._is_ended.wait(_PERIOD_SECONDS):
            with _lock:
                now = time.monotonic()
                is_silent = now - self._printed >= _SILENCE_SECONDS
                # The block may have ended while this thread waited for the lock.
                if is_silent and not self.is_paused and not self._is_ended.is_set():
                    self._is_shown = True
                    seconds = int(now - self._start)
                    click.echo(f"{_CLEAR}{self._name}: {seconds} s", err=True, nl=False, color=True)

    def clear(self) -> None:
        """Clear the line before something is printed; the caller holds the lock."""
        if self._is_shown:
            click.echo(_CLEAR, err=True, nl=False, color=True)
        self._is_shown = False
        self._printed = time.monotonic()

    def end(self) -> None:
        """Clear the line for good; the caller holds the lock."""
        self._is_ended.set()
        self.clear()


_lock: Final = threading.RLock()
_activity: _Activity | None = None


def print_sandbox_note(*, is_quiet: bool = False) -> None:
    """Print on stderr which measures the sandbox lacks here; nothing if it is as in production.

    Raises SandboxError if programs cannot run.
    """
    from function_script.sandbox import system  # noqa: PLC0415 - slow to import

    system.check_programs()
    text = "" if is_quiet else system.note()
    if text:
        echo_note(text)


@contextmanager
def show_progress(*, is_quiet: bool = False) -> Iterator[Progress]:
    """Return a progress display for a ``with`` block."""
    if is_quiet:
        yield Progress()
    elif not sys.stderr.isatty():
        yield _LineProgress()
    else:
        progress = _TerminalProgress()
        _pause_activity(is_paused=True)
        try:
            yield progress
        finally:
            progress.close()
            _pause_activity(is_paused=False)


def _pause_activity(*, is_paused: bool) -> None:
    with _lock:
        if _activity is not None:
            _activity.clear()
            _activity.is_paused = is_paused


class _LineProgress(Progress):
    """Prints lines into files and pipes."""

    def line(self, text: str) -> None:
        echo(text, err=True)


class _TerminalProgress(Progress):
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
            # Over the last line.
            _print(f"\r{escape(self._text)} {percent:3} %", err=True, nl=False)

    def close(self) -> None:
        """End the last line."""
        if self._text:
            echo(err=True)
        self._text = ""
