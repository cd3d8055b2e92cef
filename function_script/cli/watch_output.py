"""``render --watch``: what people see when a file was saved.

Called by the command ``render``. Never returns; only an interrupt ends it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from function_script.cli import exit_codes, terminal, validate_options

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from function_script.errors import FatalError
    from function_script.tools.render.watching import Task
    from function_script.tools.validate import Report
    from function_script.values import Object


def watch_documents(task: Task[list[Object]], *, is_quiet: bool) -> None:
    """Show documents, and then what is different in them."""
    from function_script.tools.render import watching  # noqa: PLC0415 - slow to import

    watching.watch(task, _Documents(is_quiet=is_quiet))


def watch_report(task: Task[Report], flags: validate_options.Flags, *, is_quiet: bool) -> None:
    """Show a report of validation, and then every other one in full."""
    from function_script.tools.render import watching  # noqa: PLC0415 - slow to import

    watching.watch(task, _Reports(flags, is_quiet=is_quiet))


class _Screen:
    """Results go to stdout, everything else to stderr."""

    def __init__(self, *, is_quiet: bool) -> None:
        self._is_quiet = is_quiet

    def error(self, error: FatalError) -> None:
        exit_codes.report_problem(error)

    def _begin(self) -> None:
        self._note("watching: Ctrl-C ends it")

    def _tell(self, changed: Sequence[Path], *, is_different: bool) -> None:
        files = ", ".join(map(str, changed))
        self._note(f"{files}: {'changed' if is_different else 'changed, and nothing is different'}")

    def _note(self, text: str) -> None:
        if not self._is_quiet:
            terminal.echo(text, err=True)


class _Documents(_Screen):
    def first(self, found: list[Object]) -> None:
        from function_script import documents  # noqa: PLC0415 - slow to import

        terminal.echo_exact(documents.to_yaml_stream(found))
        self._begin()

    def again(self, changed: Sequence[Path], before: list[Object], found: list[Object]) -> None:
        from function_script.tools import console  # noqa: PLC0415 - slow to import
        from function_script.tools.render import differences  # noqa: PLC0415 - slow to import

        text = differences.find(before, found)
        self._tell(changed, is_different=bool(text))
        if text:
            colourful = console.is_colourful(sys.stdout)
            shown = console.colour_diff(text) if colourful else text
            terminal.echo_coloured(shown, nl=False)


class _Reports(_Screen):
    def __init__(self, flags: validate_options.Flags, *, is_quiet: bool) -> None:
        super().__init__(is_quiet=is_quiet)
        self._flags = flags

    def first(self, found: Report) -> None:
        validate_options.tell(found, self._flags, is_quiet=self._is_quiet)
        self._begin()

    def again(self, changed: Sequence[Path], before: Report, found: Report) -> None:
        self._tell(changed, is_different=before != found)
        if before != found:
            validate_options.tell(found, self._flags, is_quiet=self._is_quiet)
