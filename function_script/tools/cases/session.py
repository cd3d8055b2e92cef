"""Run many cases at once, in one sandbox for all that share a directory of programs.

Called by the command with the cases that were chosen.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from function_script.errors import FatalError
from function_script.limits import Limits
from function_script.sandbox import Pool, PoolOptions
from function_script.tools import local_pool
from function_script.tools.cases import parsing, running
from function_script.tools.cases.parts import Files
from function_script.tools.cases.verdicts import Problem, Status, Verdict
from function_script.tools.render.runners import FunctionCaller

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from function_script.tools.cases.discovery import CaseFile
    from function_script.tools.cases.model import Case
    from function_script.tools.cases.running import RunOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A case that can be run."""

    case: Case
    path: Path


def run_all(cases: Sequence[CaseFile], terms: RunOptions, jobs: int) -> Generator[Verdict]:
    """The verdicts as they come, always in the same order; ``jobs`` cases run at the same time.

    Who stops asking stops the cases that have not begun.
    """
    files = Files()
    groups: dict[Path | None, list[Parsed]] = {}
    for file in cases:
        parsed = _parse(file, files)
        if isinstance(parsed, Verdict):
            yield parsed
        else:
            groups.setdefault(parsed.case.setup.program.root, []).append(parsed)
    for root, group in groups.items():
        yield from _run_group(root, group, terms, jobs)


def _parse(file: CaseFile, files: Files) -> Parsed | Verdict:
    started = time.monotonic()
    try:
        return Parsed(case=parsing.parse(file, files), path=file.path)
    except FatalError as error:
        return Verdict(
            name=file.name,
            path=file.path,
            status=Status.FAILED,
            problems=tuple(Problem(diagnostic=problem) for problem in error.diagnostics),
            seconds=time.monotonic() - started,
        )


def _run_group(
    root: Path | None, group: Sequence[Parsed], terms: RunOptions, jobs: int
) -> Generator[Verdict]:
    texts = {parsed.case.setup.program.document.text for parsed in group}
    options = replace(pool_options(root, jobs), preload=local_pool.engines_in(texts))
    with Pool(options) as pool:
        bench = FunctionCaller(pool=pool, print=_ignore)
        executor = ThreadPoolExecutor(max_workers=jobs)
        try:
            yield from executor.map(
                lambda parsed: running.run(parsed.case, parsed.path, bench, terms), group
            )
        finally:
            executor.shutdown(cancel_futures=True)


def pool_options(root: Path | None, workers: int) -> PoolOptions:
    """A sandbox for ``workers`` cases at a time, with programs in files below ``root``."""
    limits = Limits(program_root=None if root is None else str(root.resolve()))
    return PoolOptions(limits=limits, workers=workers, min_idle=0)


def _ignore(_: str) -> None:
    """A case notes what its programs print itself."""
