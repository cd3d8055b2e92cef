"""The command ``test``: find cases, run them, tell how it went.

Called by the command line with parsed flags.
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from function_script.errors import InputError
from function_script.tools.cases import discovery, reports, session
from function_script.tools.cases.verdicts import Status

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from function_script.tools.cases.runner import RunOptions
    from function_script.tools.cases.verdicts import Verdict

_WRITERS: Final = {"json": reports.to_json, "junit": reports.to_junit}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the flags say. ``report`` gets the chosen output unless it goes to ``file``.

    ``print`` gets lines for people; text is for them as long as another output goes to a file.
    ``is_quiet``: they are not told of cases that passed.
    """

    terms: RunOptions
    pattern: re.Pattern[str] | None
    fails_fast: bool
    jobs: int
    output: Literal["text", "json", "junit"]
    file: Path | None
    is_quiet: bool = False
    colourful: bool
    print: Callable[[str], None]


def run(paths: Sequence[Path], options: Options) -> bool:
    """Whether all is well. Raises InputError when there is no case, or no place for the report."""
    started = time.monotonic()
    cases = discovery.find(paths, options.pattern)
    is_told = options.output == "text" or options.file is not None
    verdicts: list[Verdict] = []
    with closing(session.run_all(cases, options.terms, options.jobs)) as running:
        for verdict in running:
            verdicts.append(verdict)
            if is_told and not (options.is_quiet and verdict.status is Status.PASSED):
                options.print(reports.to_text(verdict, colourful=options.colourful))
            if options.fails_fast and verdict.status is Status.FAILED:
                break
    seconds = time.monotonic() - started
    summary = reports.to_summary(verdicts, of=len(cases), seconds=seconds)
    if is_told:
        options.print(summary)
    _report(verdicts, summary, options)
    return reports.is_success(verdicts)


def _report(verdicts: Sequence[Verdict], summary: str, options: Options) -> None:
    if options.output == "text":
        text = "\n".join([*map(reports.to_text, verdicts), summary, ""])
    else:
        text = _WRITERS[options.output](verdicts)
    if options.file is not None:
        _write(options.file, text)
    elif options.output != "text":
        options.print(text.rstrip("\n"))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise InputError.of(f'cannot write "{path}": {cause}') from error
