"""Find mistakes in the steps of Compositions and Operations without running a program.

The result is a report; `reporters` prints it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from function_script.diagnostics import Diagnostic
from function_script.engines.lint import ResourceKind
from function_script.errors import InputError
from function_script.inputs import FindInput, Step
from function_script.limits import Limits
from function_script.tools import author_positions, sources, step_inputs
from function_script.tools.check import composed, paths, pipelines, plain_scalars, rules, searching
from function_script.tools.check.definitions import Definitions, XrChecker, files_beside, load
from function_script.tools.check.findings import Finding, Report, Skipped, Uncompared
from function_script.tools.check.reporters import render_json, render_sarif, render_text
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

# The rules about the frame of a pipeline, which need no step of ours.
_FRAME: Final = (
    (rules.COMPOSITION, pipelines.find_errors),
    (rules.UNREAD, pipelines.find_unread_fields),
    (rules.REVISION, pipelines.find_revisions),
)


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
    others: list[step_inputs.OtherStep] = []
    unchecked: list[step_inputs.StepInput] = []
    skipped: list[Skipped] = []
    steps = files = untyped = 0
    kinds: set[ResourceKind] = set()
    xrs = XrChecker(definitions)
    entries = [*searching.find(arguments, ignored)]
    find_input = step_inputs.index_stored(
        document for file in entries if not isinstance(file, Skipped) for document in file.documents
    )
    for file in entries:
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
            cluster = _Cluster(xr=xr, definitions=definitions, find_input=find_input)
            misplaced = [*pipelines.find_misplaced_inputs(document)]
            findings += [_finding(rules.INPUT, problem) for problem in misplaced]
            findings += [
                _finding(rule, problem)
                for rule, find in _FRAME
                for problem in find(document)
                if problem not in misplaced
            ]
            untyped += xr is None and any(not step_inputs.is_of_operation(each) for each in ours)
            findings += _check_document(ours, directory, cluster, is_salted=is_salted)
            kinds |= cluster.unknown_kinds
            builtin = step_inputs.find_builtin(document)
            steps += len(builtin)
            for each in builtin:
                try:
                    step_inputs.validate(each.value)
                except InputError as error:
                    located = [
                        author_positions.map_to_source(problem, each, None)
                        for problem in error.diagnostics
                    ]
                    findings += [_finding(rules.INPUT, problem, each.step) for problem in located]
            if ours:
                findings += [
                    _finding(rules.TEMPLATE, problem)
                    for problem in pipelines.find_template_metadata(document)
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
        uncompared=Uncompared(
            compositions=untyped, kinds=tuple(sorted(kinds)), rules=tuple(xrs.unevaluated)
        ),
    )


def list_files(arguments: Sequence[str]) -> list[Path]:
    """Return every file and directory that `check` reads for its arguments."""
    paths_ = [Path(argument) for argument in arguments]
    beside = [
        path
        for file in paths_
        if not file.is_dir()
        for path in (sources.programs_beside(file), *files_beside(file))
    ]
    return [*paths_, *(path for path in beside if path is not None)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cluster:
    """Objects and schemas of a cluster that a Composition is judged by.

    ``xr`` is the schema of the XR, None when it is unclear; ``definitions`` has those of other
    kinds; ``find_input`` finds objects that inputs refer to. ``unknown_kinds`` collects composed
    kinds without a schema, if schemas were given.
    """

    xr: Object | None
    definitions: Definitions
    find_input: FindInput
    unknown_kinds: set[ResourceKind] = field(default_factory=set)

    def find_composed(self, kind: ResourceKind) -> Object | None:
        """Return the schema of a composed kind."""
        schema = self.definitions.find_composed(*kind)
        if schema is None and self.definitions.has_crds:
            self.unknown_kinds.add(kind)
        return schema


def _check_document(
    inputs: Sequence[step_inputs.StepInput],
    programs: Path | None,
    cluster: _Cluster,
    *,
    is_salted: bool,
) -> Iterator[Finding]:
    """Apply the rules to the steps of a document; ``programs`` has programs in files."""
    root = None if programs is None else str(programs.resolve())
    parsed: list[tuple[step_inputs.StepInput, Step | InputError]] = []
    for each in inputs:
        try:
            limits = Limits(program_root=root)
            whole = step_inputs.parse_and_validate(each, limits, cluster.find_input)
            parsed.append((each, whole))
        except InputError as error:
            parsed.append((each, error))
    steps = [step for _, step in parsed if not isinstance(step, InputError)]
    is_whole = len(steps) == len(parsed) > 0
    names = composed.find_names(inputs[0].document, steps) if is_whole else None
    resources = {
        name: schema
        for name, kind in composed.find_kinds(steps).items()
        if (schema := cluster.find_composed(kind)) is not None
    }
    for each, step in parsed:
        if isinstance(step, InputError):
            problems = [(rules.INPUT, problem) for problem in step.diagnostics]
        else:
            request = paths.of_request(step.language, cluster.xr, resources)
            subject = rules.CheckedStep(
                step_input=each, step=step, request=request, composed=names, is_salted=is_salted
            )
            problems = list(rules.apply(subject))
        for rule, problem in problems:
            yield _finding(rule, author_positions.map_to_source(problem, each, programs), each.step)


def _finding(rule: rules.Rule, problem: Diagnostic, step: str = "") -> Finding:
    return Finding(rule=rule.name, severity=rule.severity, step=step, diagnostic=problem)
