"""Find mistakes in the steps of Compositions and Operations: without a run, and by runs.

The result is a report, which `report` prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from function_script.documents import Document
from function_script.engines.lint import ResourceKind
from function_script.inputs import Step
from function_script.request import objects
from function_script.request.limits import Limits
from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.tools import (
    author_positions,
    local_pool,
    manifests,
    sources,
    step_inputs,
    xrds,
)
from function_script.tools.check import paths, pipelines, plain_scalars, report, rules, searching
from function_script.tools.check.definitions import Definitions, XrChecker, files_beside, load
from function_script.tools.check.report import (
    Report,
    render_diagnostics,
    render_json,
    render_sarif,
    render_text,
)
from function_script.tools.project import Project
from function_script.tools.validate.catalog import Catalog

if TYPE_CHECKING:
    # It imports what renders.
    from function_script.tools.check import runs

__all__ = [
    "Definitions",
    "Report",
    "check",
    "find_project",
    "list_files",
    "load",
    "render_diagnostics",
    "render_json",
    "render_sarif",
    "render_text",
]

# Functions that compose nothing, by the end of their usual names.
_IDLE: Final = ("auto-ready", "environment-configs", "extra-resources", "sequencer")
# The rules about the frame of a pipeline, which need no step of ours.
_FRAME: Final = (
    (rules.COMPOSITION, pipelines.find_errors),
    (rules.UNREAD, pipelines.find_unread_fields),
    (rules.REVISION, pipelines.find_revisions),
)


def check(  # noqa: PLR0913, PLR0915 - the flags of the command; one loop
    arguments: Sequence[str],
    programs: Path | None = None,
    definitions: Definitions | None = None,
    ignored: Sequence[str] = (),
    *,
    is_salted: bool = False,
    run_options: runs.Options | None = None,
) -> Report:
    """Check every step of ours in the files and directories that ``arguments`` name.

    Programs in files are below ``programs``, by default in ``programs/`` in the file's directory.
    Fields are compared with ``definitions`` and with the XRD in the file's directory. ``ignored``
    are patterns of paths below directories. ``is_salted``: the server has a salt. With
    ``run_options`` Compositions without an error run, too. Raises InputError for an argument that
    cannot be read, and when there is nothing to check.
    """
    definitions = definitions or Definitions()
    project = definitions.project or find_project(arguments, [programs])
    definitions = replace(definitions, project=project)
    findings: list[report.Finding] = []
    others: list[step_inputs.OtherStep] = []
    unchecked: list[step_inputs.StepInput] = []
    skipped: list[report.Skipped] = []
    unreached: list[report.Finding] = []
    xrs_of_variants: list[Object] = []
    steps = files = untyped = 0
    kinds: set[ResourceKind] = set()
    xrs = XrChecker(definitions, project)
    entries = [*searching.find(arguments, project, ignored)]
    stored = step_inputs.StoredInputs(
        [
            document
            for file in entries
            if not isinstance(file, report.Skipped)
            for document in file.documents
        ]
    )
    for file in entries:
        if isinstance(file, report.Skipped):
            skipped.append(file)
            continue
        if file.error is not None:
            files += 1
            findings += [_finding(rules.YAML, problem) for problem in file.error.diagnostics]
            continue
        xr_count = xrs.count
        problems = list(xrs.check(file.name, file.documents))
        findings += [_finding(rule, problem) for rule, problem in problems]
        directory = programs or local_pool.programs_beside(Path(file.name))
        try:
            root = None if directory is None else project.resolve(directory)
        except InputError as error:
            findings += [_finding(rules.INPUT, problem) for problem in error.diagnostics]
            root = None
        inputs = [step_inputs.find_ours(document) for document in file.documents]
        definition_documents = [each for each in file.documents if xrds.is_xrd(each.value)]
        files += (
            xrs.count > xr_count
            or any(inputs)
            or any(step_inputs.has_pipeline(each.value) for each in file.documents)
        )
        for document, ours in zip(file.documents, inputs, strict=True):
            steps += len(ours)
            others += step_inputs.find_others(document)
            completed = [stored.complete(each) for each in ours]
            unchecked += (
                each for each in completed if each.stored is None and step_inputs.is_elsewhere(each)
            )
            xr = definitions.find_xr(document, definition_documents) if ours else None
            cluster = _Cluster(xr=xr, definitions=definitions, stored=stored, programs=root)
            untyped += xr is None and any(not step_inputs.is_of_operation(each) for each in ours)
            builtin = step_inputs.find_builtin(document)
            steps += len(builtin)
            step_findings = _check_steps(completed, directory, cluster, is_salted=is_salted)
            static = [*_check_document(document, ours, builtin, step_findings)]
            kinds |= cluster.unknown_kinds
            findings += static
            if run_options is None or any(each.severity == "error" for each in static):
                continue
            if subject := _to_subject(
                document, completed, cluster, definition_documents, directory
            ):
                outcome = _run(subject, run_options, static)
                findings += outcome.findings
                unreached += outcome.unreached
                xrs_of_variants += outcome.variants
    if not (files or skipped):
        raise InputError.of(
            f"cannot check {', '.join(arguments)}: there is no Composition, Operation or input "
            "of ours"
        )
    return Report(
        findings=tuple(_unique(findings)),
        files=files,
        steps=steps,
        others=tuple(others),
        unchecked=tuple(unchecked),
        skipped=tuple(skipped),
        unreached=tuple(_unique(unreached)),
        variants=tuple(xrs_of_variants),
        uncompared=report.Uncompared(
            compositions=untyped, kinds=tuple(sorted(kinds)), rules=tuple(xrs.unevaluated)
        ),
    )


def find_project(
    arguments: Sequence[str], named: Iterable[Path | None], allowed: Iterable[Path] = ()
) -> Project:
    """Return the files that may be read: below the arguments, or beside them, and what is named."""
    return Project.of(
        [Path(argument) for argument in arguments if argument != sources.STDIN],
        named=[path for path in named if path is not None],
        allowed=allowed,
    )


def list_files(arguments: Sequence[str], project: Project) -> list[Path]:
    """Return every file and directory that `check` reads for its arguments."""
    paths_ = [Path(argument) for argument in arguments]
    beside = [
        path
        for file in paths_
        if not file.is_dir()
        for path in (local_pool.programs_beside(file), *files_beside(file))
    ]
    return [*paths_, *(path for path in beside if path is not None and project.allows(path))]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cluster:
    """Objects and schemas of a cluster that a Composition is judged by.

    ``xr`` is the schema of the XR, None when it is unclear; ``definitions`` has those of other
    kinds; ``stored`` are the objects that inputs refer to. ``unknown_kinds`` collects composed
    kinds without a schema, if schemas were given. ``programs`` is the directory of programs in
    files, without links.
    """

    xr: Object | None
    definitions: Definitions
    stored: step_inputs.StoredInputs
    programs: Path | None
    unknown_kinds: set[ResourceKind] = field(default_factory=set)

    def find_composed(self, kind: ResourceKind) -> Object | None:
        """Return the schema of a composed kind."""
        schema = self.definitions.crds.find(*kind)
        if schema is None and self.definitions.manifests:
            self.unknown_kinds.add(kind)
        return schema


def _check_document(
    document: Document,
    ours: Sequence[step_inputs.StepInput],
    builtin: Sequence[step_inputs.StepInput],
    step_findings: Iterable[report.Finding],
) -> Iterator[report.Finding]:
    """Yield the findings of a document, with those of our steps at their place.

    The inputs of built-in functions are compared with their schemas.
    """
    misplaced = [*pipelines.find_misplaced_inputs(document)]
    yield from (_finding(rules.INPUT, problem) for problem in misplaced)
    for rule, find in _FRAME:
        for problem in find(document):
            if problem not in misplaced:
                yield _finding(rule, problem)
    yield from step_findings
    for each in builtin:
        try:
            step_inputs.validate(each.value)
        except InputError as error:
            for problem in error.diagnostics:
                located = author_positions.map_to_source(problem, each, None)
                yield _finding(rules.INPUT, located, each.step)
    if ours:
        for problem in pipelines.find_template_metadata(document):
            yield _finding(rules.TEMPLATE, problem)
        for problem in plain_scalars.find_in_document(document, ours):
            yield _finding(rules.SCALAR, problem)


def _check_steps(
    inputs: Sequence[step_inputs.StepInput],
    programs: Path | None,
    cluster: _Cluster,
    *,
    is_salted: bool,
) -> Iterator[report.Finding]:
    """Apply the rules to the steps of a document; ``programs`` has programs in files."""
    parsed: list[tuple[step_inputs.StepInput, Step | InputError]] = []
    for each in inputs:
        try:
            limits = Limits().with_root(cluster.programs)
            whole = step_inputs.parse_and_validate(each, limits, cluster.stored.find)
            parsed.append((each, whole))
        except InputError as error:
            parsed.append((each, error))
    steps = [step for _, step in parsed if not isinstance(step, InputError)]
    is_whole = len(steps) == len(parsed) > 0
    names = _find_composed_names(inputs[0].document, steps) if is_whole else None
    kinds: dict[str, set[ResourceKind]] = {}
    for valid in steps:
        for name, kind in valid.language.lint.find_composed_kinds(valid.program):
            kinds.setdefault(name, set()).add(kind)
    # A name with two kinds has no certain schema.
    resources = {
        name: schema
        for name, (kind, *others) in kinds.items()
        if not others and (schema := cluster.find_composed(kind)) is not None
    }
    for each, step in parsed:
        if isinstance(step, InputError):
            problems = [(rules.INPUT, problem) for problem in step.diagnostics]
        else:
            request = paths.of_request(step.language, cluster.xr, resources)
            subject = rules.CheckedStep(
                step_input=each, step=step, request=request, composed=names, is_salted=is_salted
            )
            is_judged_with_steps = not each.path and cluster.stored.is_referenced(each.document)
            problems = [] if is_judged_with_steps else list(rules.apply(subject))
        for rule, problem in problems:
            yield _finding(rule, author_positions.map_to_source(problem, each, programs), each.step)


def _find_composed_names(document: Document, steps: Sequence[Step]) -> frozenset[str] | None:
    """Return the names of all resources that a pipeline composes, of which ``steps`` are ours.

    None when only a run knows them.
    """
    if manifests.text_at(document.value, "kind") != "Composition" or not steps:
        return None
    pipeline = objects.find_path(document.value, ("spec", "pipeline"))
    for step in pipeline if isinstance(pipeline, list) else []:
        if not isinstance(step, dict):
            return None
        value = step.get("input")
        is_ours = isinstance(value, dict) and step_inputs.is_ours(value)
        if not is_ours and not manifests.text_at(step, "functionRef", "name").endswith(_IDLE):
            return None
    names: set[str] = set()
    for each in steps:
        program_names = each.language.lint.find_composed_names(each.program)
        if program_names is None or not each.program.main.text:
            return None
        names |= program_names
    return frozenset(names)


def _unique(findings: Iterable[report.Finding]) -> Iterable[report.Finding]:
    """Leave out findings at the same place: several steps may have the program of one object."""
    unique: dict[object, report.Finding] = {}
    for finding in findings:
        step = finding.step if finding.diagnostic.span is None else ""
        unique.setdefault((finding.rule, finding.diagnostic, step), finding)
    return unique.values()


def _to_subject(
    document: Document,
    inputs: Sequence[step_inputs.StepInput],
    cluster: _Cluster,
    others: Sequence[Document],
    programs: Path | None,
) -> runs.Subject | None:
    """Return a Composition that can run; None for another object, or one without steps of ours."""
    from function_script.tools.check import runs  # noqa: PLC0415 - slow to import

    is_composition = manifests.text_at(document.value, "kind") == "Composition"
    if not (is_composition and inputs) or any(map(step_inputs.is_elsewhere, inputs)):
        return None
    limits = Limits().with_root(cluster.programs)
    definitions = cluster.definitions
    xrd = definitions.find_xrd_of(document, others)
    return runs.Subject(
        document=document,
        inputs=[
            (each, step_inputs.parse_and_validate(each, limits, cluster.stored.find))
            for each in inputs
        ],
        xrd=xrd,
        catalog=Catalog([*([] if xrd is None else [xrd]), *definitions.manifests]),
        programs=cluster.programs and programs,
        project=definitions.project or Project(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Runs:
    """The findings of a Composition's runs, those that are none, and the XRs of its variants."""

    findings: Sequence[report.Finding]
    unreached: Sequence[report.Finding]
    variants: Sequence[Object]


def _run(subject: runs.Subject, options: runs.Options, static: Sequence[report.Finding]) -> _Runs:
    """Run a Composition; what ``static`` has at a line is not reported again."""
    from function_script.tools.check import runs  # noqa: PLC0415 - slow to import

    outcome = runs.find(subject, options)
    spans = (finding.diagnostic.span for finding in static)
    lines = {(span.name, span.line) for span in spans if span is not None}

    def select(faults: Iterable[runs.Fault]) -> Iterator[report.Finding]:
        for fault in faults:
            span = fault.diagnostic.span
            if span is None or (span.name, span.line) not in lines:
                yield _finding(fault.rule, fault.diagnostic, fault.step)

    return _Runs(
        findings=[*select(outcome.faults)],
        unreached=[*select(outcome.unreached)],
        variants=outcome.variants,
    )


def _finding(rule: rules.Rule, problem: Diagnostic, step: str = "") -> report.Finding:
    return report.Finding(rule=rule.name, severity=rule.severity, step=step, diagnostic=problem)
