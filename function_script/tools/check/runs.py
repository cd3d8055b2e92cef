"""Mistakes that a run shows: of the XRs at hand, and of variants that an XRD allows.

Only our steps and built-in functions run, unless others may. A finding has an XR that shows it.
What a program refuses on purpose is none, and neither is an error that may be about data which is
not at hand: required and observed resources, the context, credentials, the XR's status.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from function_script.engines.lint import format_access
from function_script.inputs import Step
from function_script.request import objects
from function_script.request.program import Branch
from function_script.request.values import Object
from function_script.sandbox.pool import Pool
from function_script.texts import spelling
from function_script.texts.diagnostics import Code, Diagnostic
from function_script.texts.errors import FatalError
from function_script.texts.source import Span
from function_script.tools import (
    author_positions,
    local_pool,
    manifests,
    step_inputs,
)
from function_script.tools.check import certainty, rules, xr_runs
from function_script.tools.check.report import Finding, Place, Report
from function_script.tools.check.xr_runs import Reconciles, Run, Subject
from function_script.tools.processes.options import PackageOptions
from function_script.tools.render import functions, loading, renderer, steps
from function_script.tools.render.compose import RenderResult
from function_script.tools.render.positions import Origin, Positions
from function_script.tools.render.renderer import Renderer, Rendering
from function_script.tools.render.runtimes.local import Skip
from function_script.tools.render.runtimes.model import Runtime
from function_script.tools.render.runtimes.servers import Servers
from function_script.tools.render.selectors import find_unselected
from function_script.tools.render.validation import validate

_NO_RUNTIME: Final = "name its package in functions.yaml; without --run-functions no run has it"
# The text "example" in base64.
_EXAMPLE: Final = "ZXhhbXBsZQ=="
_TIME: Final = Code("limit", "time")
# A machine may be busy: of CPU time a run has less by default.
_TIMEOUT_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """``pool`` evaluates all programs.

    ``variants`` is the most that an XRD has. ``runs_others``: functions of others run, too.
    """

    pool: Pool
    variants: int
    runs_others: bool = False

    def open_servers(self) -> Servers:
        """Return the servers of functions for all Compositions: none is started twice.

        A function that does not start fails in each of its Compositions, and is not tried again.
        """
        # Without the others, remote programs come from this machine alone.
        packages = PackageOptions() if self.runs_others else PackageOptions(pull="Never")
        return Servers(packages, retries=False)


def find(
    subject: Subject,
    options: Options,
    servers: Servers,
    report: Report,
    static: Collection[Finding],
) -> None:
    """Render the XRs at hand and the variants. Raises no FatalError.

    ``servers`` are those of `Options.open_servers`. The report gets findings, each once, what is
    ``unreached``, and the variants. Doubts say nothing of lines with ``static`` findings, which are
    warnings.
    """
    try:
        sequences = [*xr_runs.plan(subject, options.variants, report)]
        report.add(rules.DOUBTFUL, xr_runs.find_misnamed_xr(subject))
    except FatalError as error:
        report.unreached += (Finding.of(rules.DOUBT, each) for each in error.diagnostics)
        return
    pipeline = steps.parse(subject.document.value)
    origin = Origin(document=subject.document, programs=subject.programs)
    rendering = renderer.Options(
        timeout_seconds=_TIMEOUT_SECONDS,
        is_quiet=True,
        servers=servers,
        allows_addresses=options.runs_others,
    )
    try:
        index = _index_functions(subject, rendering, options, report)
        runtimes = index.find_runtimes(pipeline)
    except FatalError as error:
        # The command has no flag that says how a function runs.
        problems = [
            replace(each, hint=_NO_RUNTIME) if each.code else each for each in error.diagnostics
        ]
        report.add(rules.COMPOSITION, map(origin.locate_field, problems))
        return
    misspelt = functions.find_misspelt(pipeline, index)
    report.add(rules.COMPOSITION, author_positions.locate_all(misspelt, subject.document))
    calls = zip(pipeline, runtimes, strict=True) if sequences else ()
    report.unreached += _find_left_out(origin, calls)
    collector = _Collector(report, static)
    branches = _Branches(subject)
    programs = subject.programs if any(step.reads_files for _, step in subject.inputs) else None
    pool = local_pool.bind_programs(options.pool, programs, subject.project)
    # Cases and variants often have an XR at hand, and what it is rendered with.
    results: dict[str, RenderResult | None] = {}
    render = Renderer(pool, index.find_runtimes, rendering)
    for key, planned in _follow(sequences, results):
        run = _add_credentials(planned, subject, pipeline)
        results[key], findings = _judge(subject, run, render, branches)
        if run.is_late or run.has_secrets:
            others = () if run.is_late else (rules.RUN.name, rules.DOUBT.name)
            findings = [
                each for each in findings if each.rule in others or certainty.is_fixed(each)
            ]
        collector.add(findings)
        # A program that needs too much needs it for the other XRs as well.
        if any(finding.diagnostic.kind == "limit" for finding in findings):
            break
    else:
        collector.add(branches.find_unreached())
        composed = {name for each in results.values() if each for name in each.resources}
        # A step that was left out may compose more.
        if not any(isinstance(each, Skip) for each in runtimes):
            report.findings += _find_misspelt_resources(subject, composed, collector.places)
    report.unreached += collector.list_doubts()


class _Collector:
    """Adds what runs find to a report, each once: a line fails in one way for most XRs.

    ``places`` are those of ``static`` findings, which no run has found. A doubt says less than a
    finding, and is listed apart.
    """

    def __init__(self, report: Report, static: Collection[Finding]) -> None:
        self.places = {each.place for each in static if each.place is not None}
        self._report = report
        self._reported: set[object] = set()
        # A warning of the text may leave a run to fail for another reason.
        self._static = {each.place for each in static if each.severity == "error"}
        self._doubts: dict[object, Finding] = {}

    def add(self, findings: Iterable[Finding]) -> None:
        """Add what a run shows, or no run."""
        for finding in findings:
            place = finding.place or finding.diagnostic.message
            is_warning = finding.rule == rules.DOUBTFUL.name
            if finding.severity == "info":
                self._doubts.setdefault(place, finding)
                continue
            # A warning of a step says why a schema refuses the value of this line.
            is_known = (place, is_warning) in self._reported
            if not is_known and not (is_warning and place in self.places):
                self._reported |= {place, (place, is_warning)}
                self._report.findings.append(finding)

    def list_doubts(self) -> list[Finding]:
        """Return the doubts of places without a finding."""
        places = self._reported | self._static
        return [finding for place, finding in self._doubts.items() if place not in places]


def _index_functions(
    subject: Subject, rendering: renderer.Options, options: Options, report: Report
) -> functions.FunctionIndex:
    """Return the functions beside a Composition. Raises FatalError.

    The report gets what cannot be read.
    """
    file = loading.find_functions(author_positions.file_of(subject.document).parent)
    loaded = functions.load(
        file,
        subject.project,
        lambda problem, _: report.add(rules.UNREAD, [problem]),
        skips_others=True,
    )
    return functions.FunctionIndex(
        manifests=loaded or [], options=rendering, is_confined=not options.runs_others
    )


def _find_left_out(
    origin: Origin, calls: Iterable[tuple[steps.Step, Runtime]]
) -> Iterator[Finding]:
    """Yield the steps that count as checked, by their input's schema, and that no run has."""
    for step, runtime in calls:
        if isinstance(runtime, Skip) and step_inputs.find_schema(step.input or {}, step.function):
            message = f"{step.function} runs only with --run-functions"
            problem = Diagnostic(message=message, field=step.name_field)
            yield Finding.of(rules.UNREACHED, origin.locate_field(problem), step.name)


def _add_credentials(run: Run, subject: Subject, pipeline: Iterable[steps.Step]) -> Run:
    """Return a run with credentials that are not at hand, of the keys that its programs read."""
    inputs = run.inputs
    names = {manifests.key_of(it)[2:] for it in (*inputs.credentials, *inputs.required)}
    absent = {
        name: secret
        for step in pipeline
        for name, secret in step.credentials.items()
        if secret not in names
    }
    if not absent:
        return run
    reads = [
        read.path
        for _, step in subject.inputs
        for read in step.language.lint.find_reads(step.program)
        if read.path[:1] == ("credentials",) and len(read.path) > len(("credentials", "name"))
    ]
    made_up: list[Object] = [
        {
            "metadata": {"namespace": namespace, "name": secret},
            "data": {str(path[-1]): _EXAMPLE for path in reads if path[1] == name},
        }
        for name, (namespace, secret) in absent.items()
    ]
    inputs = replace(inputs, credentials=[*inputs.credentials, *made_up])
    label = f"{run.label}, with credentials that are made up"
    return replace(run, inputs=inputs, label=label, has_secrets=True)


def _follow(
    sequences: Iterable[Reconciles], results: Mapping[str, RenderResult | None]
) -> Iterator[tuple[str, Run]]:
    """Yield the runs by keys, each before those that follow it; equal ones once.

    ``results`` gets the result of each by its key. After a failure nothing follows.
    """
    for sequence in sequences:
        run = next(sequence, None)
        while run is not None:
            inputs = run.inputs
            lists = (inputs.observed, inputs.required, inputs.credentials, inputs.schemas)
            key = json.dumps([inputs.xr, inputs.context, *map(list, lists)], sort_keys=True)
            if key not in results:
                yield key, run
            result, run = results[key], None
            if result is not None:
                with suppress(StopIteration):
                    run = sequence.send(result)


class _Branches:
    """The branches of the programs of a pipeline, and whether any of its runs reached each."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._branches: dict[tuple[str, Span], Branch] = {}
        # Steps of a run that did not say what it reached, as it ran out of time.
        self._unknown: set[str] = set()

    def add(self, positions: Positions) -> None:
        """Take the branches of a run. Once all are reached, no run is asked for them again."""
        if self._branches and all(each.is_reached for each in self._branches.values()):
            return
        for step, branches in positions.find_branches().items():
            if branches is None:
                self._unknown.add(step)
            for branch in branches or ():
                key = step, branch.span
                is_reached = branch.is_reached or self._branches.get(key, branch).is_reached
                self._branches[key] = branch._replace(is_reached=is_reached)

    def find_unreached(self) -> Iterator[Finding]:
        """Yield the branches that no run reached, without those inside of another one."""
        inputs = {each.step: each for each, _ in self._subject.inputs}
        outer: Branch | None = None
        # In the order of the text an outer branch comes before what is in it.
        for step, span in sorted(
            self._branches, key=lambda key: (key[0], key[1].name, key[1].line, key[1].column or 0)
        ):
            branch = self._branches[step, span]
            is_inside = (
                outer is not None
                and span.name == outer.span.name
                and outer.span.line <= span.line <= outer.last_line
            )
            if branch.is_reached or is_inside or step not in inputs or step in self._unknown:
                continue
            outer = branch
            problem = Diagnostic(message="no run reached this line", span=span)
            mapped = author_positions.map_to_source(problem, inputs[step], self._subject.programs)
            yield Finding.of(rules.UNREACHED, mapped, step)


def _judge(
    subject: Subject, run: Run, render: Renderer, branches: _Branches
) -> tuple[RenderResult | None, list[Finding]]:
    """Return the result of a run, and its problems. None: it failed."""
    origin = Origin(document=subject.document, programs=subject.programs)
    try:
        rendering = render.reconcile(run.inputs, origin)
    except FatalError as error:
        problems = [run.note(origin.locate_field(each)) for each in error.diagnostics]
        # Requirements that change with each call do so with any data.
        is_certain = all(each.code and each.code.name == "program" for each in problems)
        return None, [Finding.of(_rate(each, is_certain=is_certain), each) for each in problems]
    branches.add(rendering.positions)
    unselected = [
        Finding.of(rules.DOUBTFUL, run.note(problem))
        for problem in (find_unselected(rendering) if run.is_at_hand else ())
    ]
    failure = rendering.result.failure
    if failure is not None:
        located = _locate(subject, run, rendering, failure.step.name, failure.diagnostics)
        return None, [
            *(
                Finding.of(_rate(problem, is_certain=is_certain), problem, failure.step.name)
                for problem, is_certain in located
            ),
            *unselected,
        ]
    warnings = [
        Finding.of(rules.DOUBTFUL, problem, step.name)
        for step, problems in rendering.positions.find_warnings()
        for problem, is_certain in _locate(subject, run, rendering, step.name, problems)
        if is_certain
    ]
    doubts = (each.diagnostic for each in warnings)
    hints = {each.span: each.hint for each in doubts if each.span is not None}
    faults = _find_schema_faults(subject, run, rendering, hints)
    return rendering.result, [*faults, *warnings, *unselected, *_find_slips(subject, run)]


def _find_slips(subject: Subject, run: Run) -> Iterator[Finding]:
    """Yield reads that a program does without, of misspelt names of the XR or context at hand.

    An XRD says better which fields an XR has.
    """
    for step_input, step in subject.inputs:
        for read in step.language.lint.find_reads(step.program):
            is_context = read.path[:1] == ("context",)
            if not read.is_guarded or (subject.xrd and not is_context):
                continue
            if near := certainty.find_near_key(read.path, run):
                holder = "context" if is_context else "XR"
                path = format_access(read.path)
                message = f"{path} does not exist: the {holder} at hand has {near}"
                problem = Diagnostic(message=message, hint=f'did you mean "{near}"?')
                problem = problem.at(read.source, read.span)
                located = author_positions.map_to_source(problem, step_input, subject.programs)
                yield Finding.of(rules.DOUBTFUL, run.note(located), step_input.step)


def _find_misspelt_resources(
    subject: Subject, composed: Collection[str], places: Collection[Place]
) -> Iterator[Finding]:
    """Yield the observed resources that a program reads under a name which is almost another one.

    ``composed`` are the names that runs composed. At ``places`` a rule of `rules` has found it,
    which knows more where all names are written out.
    """
    for step_input, step in subject.inputs:
        lint = step.language.lint
        former = {mention.text for mention in lint.find_statements("moved_from", step.program)}
        for mention in lint.find_names(step.program, "observed"):
            name = mention.text
            is_there = name in composed or name in former
            near = None if is_there else spelling.find_slip(name, composed)
            if near is not None:
                message = f'no run composed "{name}", so it is never observed'
                problem = Diagnostic(message=message, hint=f'did you mean "{near}"?')
                problem = problem.at(mention.source, mention.span)
                located = author_positions.map_to_source(problem, step_input, subject.programs)
                finding = Finding.of(rules.UNKNOWN_RESOURCE, located, step_input.step)
                if finding.place not in places:
                    yield finding


def _locate(
    subject: Subject, run: Run, rendering: Rendering, name: str, problems: Iterable[Diagnostic]
) -> Iterator[tuple[Diagnostic, bool]]:
    """Yield the problems of a step at their lines, and whether each is of the XR for certain."""
    ours = next((each for each in subject.inputs if each[0].step == name), None)
    for problem in problems:
        if ours is None:
            # A step of another function refused.
            located = replace(problem, span=problem.span or rendering.positions.find_step(name))
            is_certain = False
        else:
            step_input, step = ours
            located = author_positions.map_to_source(problem, step_input, subject.programs)
            is_certain = problem.kind != "refusal" and certainty.is_of_xr(problem, step, run)
            if problem.code is not None and problem.code.name == "undesired":
                # A step that was left out may desire the name.
                is_certain = not rendering.skipped and (
                    is_certain or bool(problem.code.subject) or _has_constant_names(subject, step)
                )
        yield run.note(located), is_certain


def _has_constant_names(subject: Subject, last: Step) -> bool:
    """Report whether the names of all resources are written out, up to those of a step."""
    steps_ = [step for _, step in subject.inputs]
    return all(
        step.language.lint.find_composed_names(step.program) is not None
        for step in steps_[: steps_.index(last) + 1]
    )


def _rate(problem: Diagnostic, *, is_certain: bool) -> rules.Rule:
    """Return the rule of a failure of a run."""
    if not is_certain:
        return rules.DOUBT
    # A run that is too slow here may be fast enough on a server.
    return rules.DOUBTFUL if problem.code == _TIME else rules.RUN


def _find_schema_faults(
    subject: Subject, run: Run, rendering: Rendering, hints: Mapping[Span, str | None]
) -> Iterator[Finding]:
    """Yield what the schemas at hand do not allow in composed resources and the XR's status.

    ``hints`` are those of what a step warns of, which says why a schema refuses the value.
    """
    # A step that was left out may write what is missing.
    if rendering.skipped:
        return
    values = (objects.find_path(run.inputs.xr, path) for path in run.invented)
    texts = {value for value in values if isinstance(value, str) and value}
    by_severity = {"error": rules.SCHEMA, "warning": rules.SCHEMA_VERSION, "info": rules.DOUBT}
    problems = validate(rendering, subject.catalog, texts, is_late=run.is_late)
    # Of a required field with a typing error, the unknown field says more than the absent one.
    for problem, severity in sorted(problems, key=lambda each: each[0].hint is None):
        code = problem.code and problem.code.name
        if severity != "note" and code != "unselected":
            rule = rules.DOUBTFUL if code == "dropped" else by_severity[severity]
            explained = replace(
                problem, hint=(problem.span and hints.get(problem.span)) or problem.hint
            )
            yield Finding.of(rule, run.note(explained))
