"""Find what is wrong with the steps of Compositions and Operations without running any program.

Called by the command line. Gives a report and prints nothing; the reporters make text of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from function_script.errors import InputError
from function_script.limits import Limits
from function_script.tools import author_positions, sources, step_inputs
from function_script.tools.check import composed, dependencies, paths, rules, searching, templates
from function_script.tools.check.definitions import Definitions, load
from function_script.tools.check.findings import Finding, Report, Skipped
from function_script.tools.check.reporters import render_json, render_text
from function_script.tools.check.rules import CheckedStep, Rule
from function_script.tools.check.sarif import render_sarif

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from function_script.diagnostics import Diagnostic
    from function_script.inputs import Step
    from function_script.tools.step_inputs import OtherStep, StepInput
    from function_script.values import Object

__all__ = [
    "Definitions",
    "Finding",
    "Report",
    "Skipped",
    "check",
    "load",
    "render_json",
    "render_sarif",
    "render_text",
]


def check(
    arguments: Sequence[str],
    programs: Path | None = None,
    known: Definitions | None = None,
    ignored: Sequence[str] = (),
) -> Report:
    """Check every step of ours in the files and directories that ``arguments`` name.

    Programs in files are looked for below ``programs``, or else in ``programs/`` beside the file.
    ``known`` are the schemas that fields are compared with, beside the XRD next to the file;
    ``ignored`` are patterns of paths below directories. Raises InputError for named files that
    cannot be read, and when there is nothing to check at all.
    """
    definitions = known or Definitions()
    findings: list[Finding] = []
    others: list[OtherStep] = []
    unseen: list[StepInput] = []
    skipped: list[Skipped] = []
    steps = files = 0
    for file in searching.find(arguments, ignored):
        if isinstance(file, Skipped):
            skipped.append(file)
            continue
        if file.error is not None:
            files += 1
            findings += [_finding(rules.YAML, problem) for problem in file.error.diagnostics]
            continue
        directory = programs or sources.programs_beside(Path(file.name))
        inputs = [step_inputs.find_ours(document) for document in file.documents]
        files += any(inputs) or any(step_inputs.has_pipeline(each.value) for each in file.documents)
        for document, found in zip(file.documents, inputs, strict=True):
            steps += len(found)
            others += step_inputs.find_others(document)
            unseen += filter(step_inputs.is_elsewhere, found)
            schemas = _Schemas(xr=definitions.find_xr(document, file.documents), known=definitions)
            findings += _check_document(found, directory, schemas)
            if found:
                problems = templates.find_dropped(document)
                findings += [_finding(rules.TEMPLATE, problem) for problem in problems]
    if not (files or skipped):
        raise InputError.of(
            f"cannot check {', '.join(arguments)}: there is no Composition, Operation or input "
            "of ours"
        )
    return Report(
        findings=tuple(findings),
        files=files,
        steps=steps,
        others=tuple(others),
        unseen=tuple(unseen),
        skipped=tuple(skipped),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Schemas:
    """The schema of a Composition's XR, if it is known, and those of what it composes."""

    xr: Object | None
    known: Definitions


def _check_document(
    found: Sequence[StepInput], programs: Path | None, schemas: _Schemas
) -> Iterator[Finding]:
    """What the rules find in the steps of a document; ``programs`` has those that are in files."""
    root = None if programs is None else str(programs.resolve())
    parsed: list[tuple[StepInput, Step | InputError]] = []
    for each in found:
        try:
            parsed.append((each, step_inputs.parse_and_validate(each, Limits(program_root=root))))
        except InputError as error:
            parsed.append((each, error))
    steps = [step for _, step in parsed if not isinstance(step, InputError)]
    is_whole = len(steps) == len(parsed) > 0
    named = dependencies.find_composed(found[0].document, steps) if is_whole else None
    kinds = composed.find_kinds(steps)
    found_schemas = {name: schemas.known.find_composed(*kind) for name, kind in kinds.items()}
    shapes = {name: schema for name, schema in found_schemas.items() if schema is not None}
    for each, step in parsed:
        if isinstance(step, InputError):
            problems = [(rules.INPUT, problem) for problem in step.diagnostics]
        else:
            request = paths.of_request(step.language, schemas.xr, shapes)
            subject = CheckedStep(found=each, step=step, request=request, composed=named)
            problems = list(rules.broken(subject))
        for rule, problem in problems:
            yield _finding(rule, author_positions.map_to_source(problem, each, programs), each.step)


def _finding(rule: Rule, problem: Diagnostic, step: str = "") -> Finding:
    return Finding(rule=rule.name, severity=rule.severity, step=step, diagnostic=problem)
