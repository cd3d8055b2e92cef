"""Find what is wrong with the steps of Compositions and Operations without running any program.

Called by the command line. Gives a report and prints nothing; the reporters make text of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from function_script.errors import FatalError, InputError
from function_script.limits import Limits
from function_script.tools import positions, sources, step_inputs
from function_script.tools.check import rules
from function_script.tools.check.findings import Finding, Report
from function_script.tools.check.reporters import render_json, render_text
from function_script.tools.check.rules import Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from function_script.diagnostics import Diagnostic
    from function_script.tools.step_inputs import StepInput

__all__ = ["Finding", "Report", "check", "render_json", "render_text"]


def check(arguments: Sequence[str], programs: Path | None = None) -> Report:
    """Check every step of ours in the files and directories that ``arguments`` name.

    Programs in files are looked for below ``programs``, or else in ``programs/`` beside the file.
    Raises InputError for files that cannot be read, and when there is no step of ours at all.
    """
    findings: list[Finding] = []
    steps = files = 0
    for source in sources.load_texts(arguments):
        files += 1
        try:
            documents = sources.read(source)
        except FatalError as error:
            findings += [_finding(rules.YAML, problem) for problem in error.diagnostics]
            continue
        found = [each for document in documents for each in step_inputs.find_ours(document)]
        steps += len(found)
        directory = programs or sources.programs_beside(Path(source.name))
        findings += [finding for each in found for finding in check_step(each, directory)]
    if not (steps or findings):
        raise InputError.of(f"cannot check {', '.join(arguments)}: no step there is one of ours")
    return Report(findings=tuple(findings), files=files, steps=steps)


def check_step(found: StepInput, programs: Path | None) -> Iterator[Finding]:
    """What the rules find in one step; ``programs`` has the directories of programs in files."""
    root = None if programs is None else str(programs.resolve())
    try:
        step = step_inputs.parse(found, Limits(program_root=root))
    except InputError as error:
        problems = [(rules.INPUT, problem) for problem in error.diagnostics]
    else:
        problems = list(rules.broken(Subject(found=found, step=step)))
    for rule, problem in problems:
        yield _finding(rule, positions.to_author(problem, found, programs), found.step)


def _finding(rule: Rule, problem: Diagnostic, step: str = "") -> Finding:
    return Finding(rule=rule.name, severity=rule.severity, step=step, diagnostic=problem)
