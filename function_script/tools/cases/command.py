"""The command ``test``: find cases, run them, report the verdicts."""

import re
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from function_script.errors import InputError
from function_script.tools.cases import discovery, reports, session
from function_script.tools.cases.loader import FileCache
from function_script.tools.cases.runner import RunOptions
from function_script.tools.cases.verdicts import CaseVerdict, Status

_WRITERS: Final = {"json": reports.to_json, "junit": reports.to_junit}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The flags. ``print`` gets the chosen output, unless that goes to ``file``.

    While another output goes to a file, ``print`` gets text. ``is_quiet``: the text leaves out
    cases that passed.
    """

    run_options: RunOptions
    pattern: re.Pattern[str] | None
    fails_fast: bool
    jobs: int
    output: Literal["text", "json", "junit"]
    file: Path | None
    is_quiet: bool = False
    colourful: bool
    print: Callable[[str], None]


def run(paths: Sequence[Path], options: Options, files: FileCache | None = None) -> bool:
    """Run the cases and report whether all passed; ``files`` loads what they name.

    Raises InputError if there is no case, or if the report cannot be written.
    """
    started = time.monotonic()
    cases = discovery.find(paths, options.pattern)
    prints_text = options.output == "text" or options.file is not None
    verdicts: list[CaseVerdict] = []
    with closing(session.run_all(cases, options.run_options, options.jobs, files)) as results:
        for verdict in results:
            verdicts.append(verdict)
            if prints_text and not (options.is_quiet and verdict.status is Status.PASSED):
                options.print(reports.to_text(verdict, colourful=options.colourful))
            if options.fails_fast and verdict.status is Status.FAILED:
                break
    seconds = time.monotonic() - started
    summary = reports.to_summary(verdicts, of=len(cases), seconds=seconds)
    if prints_text:
        options.print(summary)
    _write_report(verdicts, summary, options)
    return reports.is_success(verdicts)


def _write_report(verdicts: Sequence[CaseVerdict], summary: str, options: Options) -> None:
    if options.output == "text":
        text = "\n".join([*map(reports.to_text, verdicts), summary, ""])
    else:
        text = _WRITERS[options.output](verdicts)
    if options.file is not None:
        try:
            options.file.write_text(text, encoding="utf-8")
        except OSError as error:
            cause = (error.strerror or str(error)).lower()
            raise InputError.of(f'cannot write "{options.file}": {cause}') from error
    elif options.output != "text":
        options.print(text.rstrip("\n"))
