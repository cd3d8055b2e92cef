"""The output of ``--watch``: what `watcher.watch` calls with the first result, and with others."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from function_script.cli import exit_codes, terminal
from function_script.cli.validate import ReportFlags, print_report
from function_script.texts.errors import FatalError

if TYPE_CHECKING:
    from function_script.request.values import Object
    from function_script.tools.validate.report import Report

# Changed files that a note lists; a checkout of another branch changes many.
_MAX_FILES: Final = 5


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


class DocumentDisplay(_Display):
    """Prints documents, and then their differences."""

    def show_first(self, result: list[Object]) -> None:
        """Print the documents, and that the watch begins."""
        from function_script import documents  # noqa: PLC0415 - slow to import

        terminal.echo_exact(documents.to_yaml_stream(result))
        self._note_begin()

    def show_next(
        self, changed: Sequence[Path], before: list[Object], result: list[Object]
    ) -> None:
        """Print the differences of the documents."""
        from function_script.tools import console  # noqa: PLC0415 - slow to import
        from function_script.tools.render import output  # noqa: PLC0415 - slow to import

        text = output.diff(before, result)
        self._note_change(changed, is_different=bool(text))
        if text:
            colourful = console.is_colourful(sys.stdout)
            text = console.colour_diff(text) if colourful else text
            terminal.echo_coloured(text, nl=False)


class ReportDisplay(_Display):
    """Prints a validation report, and then every one that differs."""

    def __init__(self, flags: ReportFlags, *, is_quiet: bool) -> None:
        super().__init__(is_quiet=is_quiet)
        self._flags = flags

    def show_first(self, result: Report) -> None:
        """Print the report, and that the watch begins."""
        print_report(result, self._flags, is_quiet=self._is_quiet)
        self._note_begin()

    def show_next(self, changed: Sequence[Path], before: Report, result: Report) -> None:
        """Print a report that differs."""
        self._note_change(changed, is_different=before != result)
        if before != result:
            print_report(result, self._flags, is_quiet=self._is_quiet)


class TextDisplay(_Display):
    """Prints a text, and then every one that differs."""

    def show_first(self, result: str) -> None:
        """Print the text, and that the watch begins."""
        terminal.echo_coloured(result)
        self._note_begin()

    def show_next(self, changed: Sequence[Path], before: str, result: str) -> None:
        """Print a text that differs."""
        self._note_change(changed, is_different=before != result)
        if before != result:
            terminal.echo_coloured(result)
