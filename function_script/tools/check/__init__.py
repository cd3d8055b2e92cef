"""Find mistakes in the steps of Compositions and Operations without running a program.

The result is a report; `reporters` and `sarif` print it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from function_script.diagnostics import Diagnostic
from function_script.errors import InputError
from function_script.inputs import Step
from function_script.limits import Limits
from function_script.tools import author_positions, sources, step_inputs
from function_script.tools.check import (
    composed,
    misplaced,
    paths,
    plain_scalars,
    revisions,
    rules,
    searching,
    templates,
)
from function_script.tools.check.composites import FILES, XrChecker
from function_script.tools.check.definitions import Definitions, find_xrds, load
from function_script.tools.check.findings import Finding, Report, Skipped
from function_script.tools.check.reporters import render_json, render_text
from function_script.tools.check.rules import CheckedStep, Rule
from function_script.tools.check.sarif import render_sarif
from function_script.tools.step_inputs import OtherStep, StepInput
from function_script.values import Object

__all__ = [
    "Definitions",
    "Finding",
    "Report",
    "Skipped",
    "check",
    "list_files",
    "load",
    "render_json",
    "render_sarif",
    "render_text",
]


def check(
    arguments: Sequence[str],
    programs: Path | None = None,
    definitions: Definitions | None = None,
    ignored: Sequence[str] = (),
    *,
    is_salted: bool = False,
) -> Report:
    """Check every step of ours in the files and directories that ``arguments`` name.

    Programs in files are below ``programs``, by default in ``programs/`` in the file's directory.
    Fields are compared with ``definitions`` and with the XRD in the file's directory. ``ignored``
    are patterns of paths below directories. ``is_salted``: the server has a salt. Raises InputError
    for an argument that cannot be read, and when there is nothing to check.
    """
    definitions = definitions or Definitions()
    findings: list[Finding] = []
    others: list[OtherStep] = []
    unchecked: list[StepInput] = []
    skipped: list[Skipped] = []
    steps = files = 0
    xrs = XrChecker(definitions)
    for file in searching.find(arguments, ignored):
        if isinstance(file, Skipped):
            skipped.append(file)
            continue
        if file.error is not None:
            files += 1
            findings += [_finding(rules.YAML, problem) for problem in file.error.diagnostics]
            continue
        xr_count = xrs.count
        problems = list(xrs.check(file.name, file.documents))
        findings += [_finding(rule, problem) for rule, problem in problems]
        directory = programs or sources.programs_beside(Path(file.name))
        inputs = [step_inputs.find_ours(document) for document in file.documents]
        files += (
            xrs.count > xr_count
            or any(inputs)
            or any(step_inputs.has_pipeline(each.value) for each in file.documents)
        )
        for document, ours in zip(file.documents, inputs, strict=True):
            steps += len(ours)
            others += step_inputs.find_others(document)
            unchecked += filter(step_inputs.is_elsewhere, ours)
            xr = definitions.find_xr(document, file.documents)
            schemas = _Schemas(xr=xr, definitions=definitions)
            findings += [
                _finding(rules.INPUT, problem) for problem in misplaced.find_misplaced(document)
            ]
            findings += [
                _finding(rules.REVISION, problem) for problem in revisions.find_selected(document)
            ]
            findings += _check_document(ours, directory, schemas, is_salted=is_salted)
            builtin = step_inputs.find_builtin(document)
            steps += len(builtin)
            findings += _check_builtin(builtin)
            if ours:
                findings += [
                    _finding(rules.TEMPLATE, problem)
                    for problem in templates.find_dropped(document)
                ]
                findings += [
                    _finding(rules.SCALAR, problem)
                    for problem in plain_scalars.find_in_document(document, ours)
                ]
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
        unchecked=tuple(unchecked),
        skipped=tuple(skipped),
    )


def list_files(arguments: Sequence[str]) -> list[Path]:
    """Return every file and directory that `check` reads for its arguments."""
    paths_ = [Path(argument) for argument in arguments]
    beside = [
        path
        for file in paths_
        if not file.is_dir()
        for path in (
            sources.programs_beside(file),
            *find_xrds(file.parent),
            *map(file.with_name, FILES),
        )
    ]
    return [*paths_, *(path for path in beside if path is not None)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Schemas:
    """The schema of a Composition's XR, None when it is unclear, and those of other kinds."""

    xr: Object | None
    definitions: Definitions


def _check_document(
    inputs: Sequence[StepInput], programs: Path | None, schemas: _Schemas, *, is_salted: bool
) -> Iterator[Finding]:
    """Apply the rules to the steps of a document; ``programs`` has programs in files."""
    root = None if programs is None else str(programs.resolve())
    parsed: list[tuple[StepInput, Step | InputError]] = []
    for each in inputs:
        try:
            parsed.append((each, step_inputs.parse_and_validate(each, Limits(program_root=root))))
        except InputError as error:
            parsed.append((each, error))
    steps = [step for _, step in parsed if not isinstance(step, InputError)]
    is_whole = len(steps) == len(parsed) > 0
    names = composed.find_names(inputs[0].document, steps) if is_whole else None
    resources = {
        name: schema
        for name, kind in composed.find_kinds(steps).items()
        if (schema := schemas.definitions.find_composed(*kind)) is not None
    }
    for each, step in parsed:
        if isinstance(step, InputError):
            problems = [(rules.INPUT, problem) for problem in step.diagnostics]
        else:
            request = paths.of_request(step.language, schemas.xr, resources)
            subject = CheckedStep(
                step_input=each, step=step, request=request, composed=names, is_salted=is_salted
            )
            problems = list(rules.apply(subject))
        for rule, problem in problems:
            yield _finding(rule, author_positions.map_to_source(problem, each, programs), each.step)


def _check_builtin(inputs: Sequence[StepInput]) -> Iterator[Finding]:
    """Compare the inputs of built-in functions with their schemas."""
    for each in inputs:
        try:
            step_inputs.validate(each.value)
        except InputError as error:
            for problem in error.diagnostics:
                located = author_positions.map_to_source(problem, each, None)
                yield _finding(rules.INPUT, located, each.step)


def _finding(rule: Rule, problem: Diagnostic, step: str = "") -> Finding:
    return Finding(rule=rule.name, severity=rule.severity, step=step, diagnostic=problem)
