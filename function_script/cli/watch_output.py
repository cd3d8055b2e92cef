"""The output of ``--watch``. Only an interrupt ends it."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from function_script.cli import exit_codes, terminal, validate_options
from function_script.errors import FatalError

if TYPE_CHECKING:
    from function_script.tools.validate import Report
    from function_script.tools.watcher import Task
    from function_script.values import Object

# Changed files that a note lists; a checkout of another branch changes many.
_MAX_FILES: Final = 5


def watch_documents(task: Task[list[Object]], *, is_quiet: bool) -> None:
    """Print documents, and then their differences."""
    from function_script.tools import watcher  # noqa: PLC0415 - slow to import

    watcher.watch(task, _DocumentDisplay(is_quiet=is_quiet))


def watch_report(task: Task[Report], flags: validate_options.Flags, *, is_quiet: bool) -> None:
    """Print a validation report, and then every one that differs."""
    from function_script.tools import watcher  # noqa: PLC0415 - slow to import

    watcher.watch(task, _ReportDisplay(flags, is_quiet=is_quiet))


def watch_text(task: Task[str], *, is_quiet: bool) -> None:
    """Print a text, and then every one that differs."""
    from function_script.tools import watcher  # noqa: PLC0415 - slow to import

    watcher.watch(task, _TextDisplay(is_quiet=is_quiet))


class _Display:
    """Prints results to stdout, everything else to stderr."""

    def __init__(self, *, is_quiet: bool) -> None:
        self._is_quiet = is_quiet

    def show_error(self, changed: Sequence[Path], error: FatalError) -> None:
        if changed:
            self._note_change(changed, is_different=True)
        exit_codes.report_problem(error)
        if not changed:
            self._note_begin()

    def _note_begin(self) -> None:
        self._note("watching: Ctrl-C ends it")

    def _note_change(self, changed: Sequence[Path], *, is_different: bool) -> None:
        files = ", ".join(map(str, changed[:_MAX_FILES]))
        if len(changed) > _MAX_FILES:
            files += f" and {len(changed) - _MAX_FILES} more files"
        text = "changed" if is_different else "changed, and nothing is different"
        self._note(f"{time.strftime('%H:%M:%S')} {files}: {text}")

    def _note(self, text: str) -> None:
        if not self._is_quiet:
            terminal.echo(text, err=True)


class _DocumentDisplay(_Display):
    def show_first(self, result: list[Object]) -> None:
        from function_script import documents  # noqa: PLC0415 - slow to import

        terminal.echo_exact(documents.to_yaml_stream(result))
        self._note_begin()

    def show_next(
        self, changed: Sequence[Path], before: list[Object], result: list[Object]
    ) -> None:
        from function_script.tools import console  # noqa: PLC0415 - slow to import
        from function_script.tools.render import output  # noqa: PLC0415 - slow to import

        text = output.diff(before, result)
        self._note_change(changed, is_different=bool(text))
        if text:
            colourful = console.is_colourful(sys.stdout)
            text = console.colour_diff(text) if colourful else text
            terminal.echo_coloured(text, nl=False)


class _ReportDisplay(_Display):
    def __init__(self, flags: validate_options.Flags, *, is_quiet: bool) -> None:
        super().__init__(is_quiet=is_quiet)
        self._flags = flags

    def show_first(self, result: Report) -> None:
        validate_options.print_report(result, self._flags, is_quiet=self._is_quiet)
        self._note_begin()

    def show_next(self, changed: Sequence[Path], before: Report, result: Report) -> None:
        self._note_change(changed, is_different=before != result)
        if before != result:
            validate_options.print_report(result, self._flags, is_quiet=self._is_quiet)


class _TextDisplay(_Display):
    def show_first(self, result: str) -> None:
        terminal.echo_coloured(result)
        self._note_begin()

    def show_next(self, changed: Sequence[Path], before: str, result: str) -> None:
        self._note_change(changed, is_different=before != result)
        if before != result:
            terminal.echo_coloured(result)
