"""The command ``test``: find cases, run them in parallel, report the verdicts."""

import re
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from function_script.texts.diagnostics import Form
from function_script.texts.errors import FatalError, InputError
from function_script.tools import local_pool
from function_script.tools.cases import parser, runner, verdicts
from function_script.tools.cases.loader import FileCache
from function_script.tools.cases.model import Case, find_cases
from function_script.tools.cases.verdicts import CaseVerdict, Status
from function_script.tools.project import Project, write_named

_WRITERS: Final = {"json": verdicts.to_json, "junit": verdicts.to_junit}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The flags. ``print`` gets the chosen output, unless that goes to ``file``.

    While another output goes to a file, ``print`` gets text. ``is_quiet``: the text leaves out
    cases that passed. ``form`` is that of problems; unless it is text, nothing else is printed.
    """

    run_options: runner.RunOptions
    pattern: re.Pattern[str] | None
    fails_fast: bool
    output: Literal["text", "json", "junit"]
    file: Path | None
    is_quiet: bool = False
    colourful: bool
    form: Form = "text"
    print: Callable[[str], None]


def run(paths: Sequence[Path], options: Options, files: FileCache) -> bool:
    """Run the cases and report whether all passed; ``files`` loads what they name.

    Raises InputError if there is no case, or if the report cannot be written.
    """
    started = time.monotonic()
    cases = find_cases(paths, options.pattern)
    if options.file is not None:
        # Before the cases, which may take minutes.
        write_named(options.file, None)
    prints_text = options.output == "text" or options.file is not None
    results: list[CaseVerdict] = []
    with closing(run_all(cases, options.run_options, files)) as stream:
        for verdict in stream:
            results.append(verdict)
            if prints_text:
                _print_verdict(verdict, options)
            if options.fails_fast and verdict.status is Status.FAILED:
                break
    summary = verdicts.to_summary(results, of=len(cases), seconds=time.monotonic() - started)
    if prints_text and options.form == "text":
        options.print(summary)
    if options.output == "text":
        text = "\n".join([*map(verdicts.to_text, results), summary, ""])
    else:
        text = _WRITERS[options.output](results)
    if options.file is not None:
        is_expected = any(options.file.absolute() in each.expected for each in results)
        if is_expected or files.is_input(options.file):
            raise InputError.of(f'cannot write "{options.file}": a case reads it')
        write_named(options.file, text.encode(errors="backslashreplace"))
    elif options.output != "text":
        options.print(text.rstrip("\n"))
    return verdicts.is_success(results)


def _print_verdict(verdict: CaseVerdict, options: Options) -> None:
    if options.form != "text":
        for line in verdicts.to_lines(verdict, options.form):
            options.print(line)
    elif not (options.is_quiet and verdict.status is Status.PASSED):
        options.print(verdicts.to_text(verdict, colourful=options.colourful))


def run_all(
    cases: Sequence[Path], options: runner.RunOptions, files: FileCache | None = None
) -> Generator[CaseVerdict]:
    """Yield verdicts, always in the same order; as many cases run at once as the pool has workers.

    Closing the generator cancels the cases that have not begun. By default, cases may read what is
    beside them, and beside their Compositions.
    """
    files = files or FileCache(Project.of(cases))
    parsed: list[Case] = []
    for file in cases:
        started = time.monotonic()
        try:
            parsed.append(parser.parse(file, files))
        except FatalError as error:
            verdict = CaseVerdict(file)
            verdict.problems += ((problem, "") for problem in error.diagnostics)
            verdict.seconds = time.monotonic() - started
            yield verdict
    if not parsed:
        return
    preload = local_pool.engines_in({case.setup.origin.document.text for case in parsed})
    with (
        options.rendering.servers,
        local_pool.open_pool(preload, options.pool) as pool,
    ):
        executor = ThreadPoolExecutor(max_workers=options.pool.workers)
        try:
            yield from executor.map(lambda case: runner.run(case, pool, options), parsed)
        finally:
            executor.shutdown(cancel_futures=True)
