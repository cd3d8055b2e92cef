"""The output of ``--watch``: the first result, and others when they differ."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import click

from function_script.cli import exit_codes, terminal
from function_script.texts.errors import FatalError

Result = TypeVar("Result")

# Changed files that a note lists; a checkout of another branch changes many.
_MAX_FILES: Final = 5


def watch(
    run: Callable[[], Result],
    files: Callable[[], Iterable[Path]],
    show: Callable[[Result], object],
    *,
    output_file: Path | None = None,
    compare: Callable[[Result, Result], str] | None = None,
) -> None:
    """Show the result of ``run``, and again when it is another one after a file changed.

    Results go to stdout, errors and, unless the command is quiet, notes to stderr. ``compare``
    returns the unified diff of two results, which is shown in place of a later one. Only an
    interrupt ends it; see `watcher.watch`, also for ``output_file``.
    """
    from function_script.tools import console, watcher  # noqa: PLC0415 - slow to import

    is_quiet = click.get_current_context().params["quiet"]

    def note(text: str) -> None:
        if not is_quiet:
            terminal.echo(text, err=True)

    last: Result | None = None
    for changed, outcome in watcher.watch(run, files, output_file):
        if isinstance(outcome, FatalError):
            if changed:
                note(_describe(changed, is_different=True))
            exit_codes.report_problem(outcome)
            if not changed:
                note("watching: Ctrl-C ends it")
            continue
        if last is None:
            show(outcome)
            note("watching: Ctrl-C ends it")
        elif compare is None:
            note(_describe(changed, is_different=last != outcome))
            if last != outcome:
                show(outcome)
        else:
            text = compare(last, outcome)
            note(_describe(changed, is_different=bool(text)))
            is_colourful = console.is_colourful(sys.stdout)
            terminal.echo_coloured(console.colour_diff(text) if is_colourful else text, nl=False)
        last = outcome


def _describe(changed: Sequence[Path], *, is_different: bool) -> str:
    files = ", ".join(map(str, changed[:_MAX_FILES]))
    if len(changed) > _MAX_FILES:
        files += f" and {len(changed) - _MAX_FILES} more files"
    text = "changed" if is_different else "changed, and nothing is different"
    return f"{time.strftime('%H:%M:%S')} {files}: {text}"
