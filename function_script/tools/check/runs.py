"""Mistakes that a run shows: of the XRs at hand, and of variants that an XRD allows.

Only our steps and built-in functions run, unless others may. A finding has an XR that shows it.
What a program refuses on purpose is none, and neither is an error that may be about data which is
not at hand: required and observed resources, the context, credentials, the XR's status.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

from function_script.documents import Document
from function_script.documents.errors import MISSING_SIGNS
from function_script.engines.lint import find_values, format_access
from function_script.inputs import Step
from function_script.request import objects
from function_script.request.program import Branch
from function_script.request.values import Object
from function_script.sandbox.pool import Pool
from function_script.texts import spelling
from function_script.texts.diagnostics import Code, Diagnostic
from function_script.texts.errors import FatalError, InputError
from function_script.texts.source import Span
from function_script.tools import (
    author_positions,
    local_pool,
    manifests,
    sources,
    step_inputs,
    variants,
    xr_validation,
)
from function_script.tools.check import rules
from function_script.tools.check.report import Finding, Place, Report
from function_script.tools.processes.options import PackageOptions
from function_script.tools.project import SUFFIXES, Project
from function_script.tools.render import RenderInputs, functions, loading, renderer, steps
from function_script.tools.render.compose import RenderResult
from function_script.tools.render.positions import Origin, Positions
from function_script.tools.render.renderer import Renderer, Rendering
from function_script.tools.render.runtimes.local import Skip
from function_script.tools.render.runtimes.model import Runtime
from function_script.tools.render.runtimes.servers import Servers
from function_script.tools.render.selectors import find_unselected
from function_script.tools.render.validation import validate
from function_script.tools.render.xr import resolve_claim
from function_script.tools.validate.catalog import Catalog

_NO_RUNTIME: Final = "name its package in functions.yaml; without --run-functions no run has it"
_XR: Final = ("observed", "composite", "resource", "spec")
_STATUS: Final = (*_XR[:-1], "status")
# Fields of every XR.
_IDENTITY: Final = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))
# Crossplane's part of spec, which no XR at hand has.
_CROSSPLANE: Final = ("crossplane", "claimRef", "resourceRefs", "compositionRef")
# The words by which programs read what a folder may lack: first what a new XR lacks as well.
_STATE: Final = r"observed(?:\W{1,5}resources|_)|get_?composed|connection|status|condition|is_ready"
_ELSEWHERE: Final = re.compile(
    r"desired|context|requir|extra|credential|environment|lookup|claimRef|resourceRefs"
    r"|compositionRe|(?<![.\w$\"'])(?:expand)?env\b(?!:)|metadata(?!\W{1,4}name(?:space)?\b)",
    re.IGNORECASE,
)
_OUTSIDE: Final = re.compile(f"{_STATE}|{_ELSEWHERE.pattern}", re.IGNORECASE)
# A script writes these: keys of its dicts, and fields of the response.
_WRITTEN: Final = re.compile(
    r"[\"'](?:metadata|status|conditions?|extra\w*)[\"'] *:"
    r"|\.(?:set_)?(?:status|condition|context|requirement|connection_detail)s?\("
)
# A key of a script with a value that no data can mend.
_LITERAL: Final = re.compile(
    r"\"(?P<key>[^\"]*)\"\s*:\s*(?:-?[0-9.]+|True|False|\"[^\"]*\")\s*(?:[,}]|$)"
)
# A field of a template with a value that no action writes.
_FIXED: Final = re.compile(r"[ -]*[\w./-]+: +[\w.\"'/:+ -]+")
# The metadata of a document, line by line, of which no action writes whole lines.
_METADATA: Final = re.compile(
    r"(?m)^metadata:\n(?: +(?!annotations: *\S)[\w./\"-]+:.*\n)*(?=\w|---|\Z)"
)
# The text "example" in base64.
_EXAMPLE: Final = "ZXhhbXBsZQ=="
_TIME: Final = Code("limit", "time")
_KIND: Final = re.compile(r"kind: ([\w-]+)")
_EXAMPLES: Final = ("examples", "example")
_CASES: Final = ("tests", "test", "cases")
_MAX_EXAMPLES: Final = 8
_MAX_RECONCILES: Final = 4
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A Composition with the schemas that it is judged by; ``xrd`` None: of no variants.

    ``inputs`` are its steps of ours, each with the step that it parses to. ``max_examples`` is the
    most XRs at hand, and cases; None: all.
    """

    document: Document
    inputs: Sequence[tuple[step_inputs.StepInput, Step]]
    xrd: Object | None
    catalog: Catalog = field(default_factory=Catalog)
    programs: Path | None
    project: Project
    max_examples: int | None = _MAX_EXAMPLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The inputs of a run; ``label`` names its XR. ``is_late``: it follows another one.

    ``is_at_hand``: nobody made up the XR. ``has_secrets``: credentials are made up.
    """

    inputs: RenderInputs
    label: str
    is_late: bool = False
    is_at_hand: bool = False
    has_secrets: bool = False
    invented: frozenset[objects.Path] = frozenset()

    def note(self, problem: Diagnostic) -> Diagnostic:
        """Return a problem of the run with its XR."""
        return replace(problem, notes=(*problem.notes, f"for {self.label}"))


Reconciles: TypeAlias = Generator[Run, RenderResult]
"""The runs of an XR, each after the result of the one before."""


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
        sequences = [*plan(subject, options.variants, report)]
        report.add(rules.DOUBTFUL, _find_misnamed_xr(subject))
    except FatalError as error:
        report.unreached += (Finding.of(rules.DOUBT, each) for each in error.diagnostics)
        return
    file = loading.find_functions(author_positions.file_of(subject.document).parent)
    rendering = renderer.Options(
        timeout_seconds=_TIMEOUT_SECONDS,
        is_quiet=True,
        servers=servers,
        allows_addresses=options.runs_others,
    )
    pipeline = steps.parse(subject.document.value)
    origin = Origin(document=subject.document, programs=subject.programs)
    try:
        manifests_ = functions.load(
            file,
            subject.project,
            lambda problem, _: report.add(rules.UNREAD, [problem]),
            skips_others=True,
        )
        index = functions.FunctionIndex(
            manifests=manifests_ or [], options=rendering, is_confined=not options.runs_others
        )
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
    # A line fails in one way for most XRs, and a doubt says less than a finding.
    reported: set[object] = set()
    places = {each.place for each in static if each.place is not None}
    doubts: dict[object, Finding] = {}
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
            findings = [each for each in findings if each.rule in others or _is_fixed(each)]
        for finding in findings:
            place = finding.place or finding.diagnostic.message
            is_warning = finding.rule == rules.DOUBTFUL.name
            if finding.severity == "info":
                doubts.setdefault(place, finding)
            # A warning of a step says why a schema refuses the value of this line.
            elif (place, is_warning) not in reported and not (is_warning and place in places):
                reported |= {place, (place, is_warning)}
                report.findings.append(finding)
        # A program that needs too much needs it for the other XRs as well.
        if any(finding.diagnostic.kind == "limit" for finding in findings):
            break
    else:
        for finding in branches.find_unreached():
            doubts.setdefault(finding.place, finding)
        report.findings += _find_misspelt_resources(subject, runtimes, results.values(), places)
    # A warning of the text may leave a run to fail for another reason.
    reported |= {each.place for each in static if each.severity == "error"}
    report.unreached += (finding for place, finding in doubts.items() if place not in reported)


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


def _find_xrs(subject: Subject) -> Iterator[Document]:
    """Yield the XRs and claims of a Composition: beside it, and in folders of examples."""
    directory = author_positions.file_of(subject.document).parent
    kinds = _kinds(subject)
    above = [each for each in (directory, *directory.parents) if subject.project.has_below(each)]
    folders = [each / name for each in above for name in _EXAMPLES if (each / name).is_dir()]
    own = [each for name in ("xr.yaml", "xr.yml") if (each := directory / name).is_file()]
    files = [(each, _find_words(each, subject.project)) for each in own]
    for folder in folders:
        files += _list_words(folder, subject.project)
    for file, words in files:
        if words.isdisjoint(kind for _, kind in kinds):
            continue
        # Of folders with a Composition and an XR each, each has its own XR alone.
        if own and file.parent != directory and any(file.parent.glob("composition*.y*ml")):
            continue
        for document in sources.load([str(file)], subject.project):
            is_xr = objects.api_version_and_kind(document.value) in kinds
            if is_xr and not _is_rendered(document.value):
                yield document


def _find_misnamed_xr(subject: Subject) -> Iterator[Diagnostic]:
    """Yield why `render` refuses the XR beside a Composition, whose type is almost its own."""
    file = author_positions.file_of(subject.document)
    xr, types = file.with_name("xr.yaml"), _kinds(subject)
    is_rendered = file.name == "composition.yaml" and xr.is_file()
    for document in loading.load_all(xr, subject.project) if is_rendered else ():
        type_ = objects.api_version_and_kind(document.value)
        if type_ not in types and spelling.nearest(type_[1], {kind for _, kind in types}):
            try:
                steps.check_type(subject.document.value, document.value)
            except InputError as error:
                yield from author_positions.locate_all(error.diagnostics, subject.document)


@lru_cache(maxsize=100)
def _list_words(folder: Path, project: Project) -> list[tuple[Path, frozenset[str]]]:
    """Return the files of examples, which thousands of Compositions may be above."""
    return [(each, _find_words(each, project)) for each in project.find_files(folder, SUFFIXES)]


def _find_words(file: Path, project: Project) -> frozenset[str]:
    """Return the kinds that a file mentions, which spares reading the YAML of most examples."""
    return frozenset(_KIND.findall(project.read(file).decode("utf-8", "replace")))


def _is_rendered(xr: Object) -> bool:
    """Report whether ``render`` has printed an XR: it leaves out what the author wrote."""
    spec = manifests.object_at(xr, "spec")
    has_references = "resourceRefs" in {**spec, **manifests.object_at(spec, "crossplane")}
    return has_references and spec.keys() <= {*_CROSSPLANE}


def _kinds(subject: Subject) -> set[tuple[str, str]]:
    """Return the types of the Composition's XR and of its claim."""
    api_version, kind = manifests.composed_type(subject.document.value)
    claim = manifests.text_at(subject.xrd or {}, "spec", "claimNames", "kind")
    return {(api_version, each) for each in (kind, claim) if each}


def plan(subject: Subject, count: int, report: Report | None = None) -> Iterator[Reconciles]:
    """Yield the runs: of the XRs at hand, of cases, and of variants. Raises FatalError.

    ``count`` is the most variants. ``report`` gets them, and why an XR at hand has no run: its XRD
    refuses it. Without a report no XR has later reconciles.
    """
    most = 1 if report is None else _MAX_RECONCILES
    examples: list[Document] = []
    for document in islice(_find_xrs(subject), subject.max_examples):
        verdict = subject.xrd and xr_validation.validate(document.value, subject.xrd)
        errors = verdict.errors if verdict else ()
        if report is not None:
            report.add(rules.XR, author_positions.locate_all(errors, document))
        if not errors:
            examples.append(document)
    choices = _make_variants(subject, examples, count)
    first = 0 if report is None else len(report.variants)
    if report is not None:
        report.variants += (each.xr for each in choices)
    directory = author_positions.file_of(subject.document).parent
    paths = replace(loading.find_render_paths(directory, subject.project), xrd=None)
    for document in examples:
        file = author_positions.file_of(document)
        # What exists belongs to the XR beside it.
        own_paths = paths if file.parent == directory else replace(paths, observed=None)
        inputs = loading.load_inputs(own_paths, subject.document, document)
        xr = resolve_claim(inputs.xr, subject.xrd)
        whole = replace(inputs, xr=xr, xrd=subject.xrd)
        run = Run(inputs=whole, label=f'the XR in "{file}"', is_at_hand=True)
        yield _reconcile(run, most, subject, report)
    if folders := [each for name in _CASES if (each := directory / name).is_dir()]:
        from function_script.tools.check import case_runs  # noqa: PLC0415 - 50 ms, and often none

        yield from case_runs.plan(subject, folders)
    inputs = RenderInputs(xr={}, composition=subject.document.value, xrd=subject.xrd)
    shared = loading.load_shared(paths, inputs)
    for number, variant in enumerate(choices, first):
        label = f"an XR {variant.difference or 'with all fields'}"
        if report is not None:
            label += f" (--variant {number} prints it)"
        inputs = replace(shared, xr=variant.xr)
        run = Run(inputs=inputs, label=label, invented=variant.invented)
        yield _reconcile(run, most if variant is choices[0] else 1, subject, report)


def _make_variants(
    subject: Subject, examples: Iterable[Document], count: int
) -> list[variants.Variant]:
    """Return the variants of a Composition's XR; none without an XRD that has its type."""
    if subject.xrd is None or not count:
        return []
    reads: Counter[objects.Path] = Counter(
        ("spec", *read.path[len(_XR) :])
        for _, step in subject.inputs
        for read in step.language.lint.find_reads(step.program)
        if read.path[: len(_XR)] == _XR
    )
    type_ = manifests.composed_type(subject.document.value)
    return variants.make(subject.xrd, type_, [each.value for each in examples], reads, count)


def _reconcile(run: Run, most: int, subject: Subject, report: Report | None) -> Reconciles:
    """Yield the run of an XR, and later ones as long as each composes more, or other resources."""
    size, deleted = 0, set[str]()
    observed = {manifests.annotation(it, manifests.RESOURCE_NAME) for it in run.inputs.observed}
    label = f"{run.label}, when all is ready that it composed before"
    for _ in range(most):
        result = yield run
        names = result.resources.keys()
        _add_alternating(subject, run, deleted & names, report or Report())
        deleted = observed - names
        if len(names) <= size and not deleted:
            return
        size, observed = len(names), {*names}
        run = replace(run, inputs=run.inputs.follow(result), label=label, is_late=True)


def _add_alternating(subject: Subject, run: Run, names: set[str], report: Report) -> None:
    """Report the observed resources that a program reads, and composes in every other run."""
    places = {each.place for each in report.findings}
    for step_input, step in subject.inputs if names else ():
        for use in step.language.lint.find_names(step.program, "observed"):
            if use.text not in names:
                continue
            text = f'"{use.text}" is composed, left out once it exists, and composed again'
            hint = "compose it in every run: what a run leaves out is deleted"
            problem = run.note(Diagnostic(message=text, hint=hint)).at(use.source, use.span)
            located = author_positions.map_to_source(problem, step_input, subject.programs)
            finding = Finding.of(rules.DOUBTFUL, located, step_input.step)
            if finding.place not in places:
                report.findings.append(finding)


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
            if near := _find_near_key(read.path, run):
                holder = "context" if is_context else "XR"
                path = format_access(read.path)
                message = f"{path} does not exist: the {holder} at hand has {near}"
                problem = Diagnostic(message=message, hint=f'did you mean "{near}"?')
                problem = problem.at(read.source, read.span)
                located = author_positions.map_to_source(problem, step_input, subject.programs)
                yield Finding.of(rules.DOUBTFUL, run.note(located), step_input.step)


def _find_misspelt_resources(
    subject: Subject,
    runtimes: Iterable[Runtime],
    results: Iterable[RenderResult | None],
    places: Collection[Place],
) -> Iterator[Finding]:
    """Yield the observed resources that a program reads under a name which is almost another one.

    No run composed that name, and no step was left out. At ``places`` a rule of `rules` has found
    it, which knows more where all names are written out.
    """
    if any(isinstance(each, Skip) for each in runtimes):
        return
    composed = {name for result in results if result is not None for name in result.resources}
    for step_input, step in subject.inputs:
        lint = step.language.lint
        former = {mention.text for mention in lint.find_statements("moved_from", step.program)}
        for mention in lint.find_names(step.program, "observed"):
            name = mention.text
            near = None if name in composed | former else spelling.find_slip(name, composed)
            if near is not None:
                message = f'no run composed "{name}", so it is never observed'
                problem = Diagnostic(message=message, hint=f'did you mean "{near}"?')
                problem = problem.at(mention.source, mention.span)
                located = author_positions.map_to_source(problem, step_input, subject.programs)
                finding = Finding.of(rules.UNKNOWN_RESOURCE, located, step_input.step)
                if finding.place not in places:
                    yield finding


def _find_near_key(path: objects.Path, run: Run) -> str | None:
    """Return the key of the XR or context at hand that is meant where the last one is absent."""
    xr: Object = {"composite": {"resource": run.inputs.xr}}
    holder = objects.find_path({"observed": xr, "context": run.inputs.context}, path[:-1])
    key = str(path[-1])
    return (
        spelling.find_slip(key, holder) if isinstance(holder, dict) and key not in holder else None
    )


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
            is_certain = problem.kind != "refusal" and _is_of_xr(problem, step, run)
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


def _is_of_xr(problem: Diagnostic, step: Step, run: Run) -> bool:
    """Report whether an error is about the XR for certain, and not about what is not at hand."""
    span = problem.span
    if span is None:
        # A run that waited for a CPU has no code.
        is_limit = problem.kind == "limit" and problem.code is not None
        return is_limit and not _may_read_outside(step, run)
    if problem.kind != "limit" and problem.code and _is_written_out(problem.code, step, span, run):
        return True
    lint, line = step.language.lint, _lines_from(step, span)[0]
    # A value that is written out in a template, or a line that is no YAML for a sign is missing, or
    # that does not follow the one before.
    lacks_sign = any(pattern.match(line) for pattern, _, _ in MISSING_SIGNS)
    is_alone = bool(problem.field or (problem.hint and lacks_sign))
    if (is_alone or not problem.code) and _is_constant(step, span, 1 if is_alone else 2):
        return True
    # A value that is written out in a script; of a field that is absent, this is another one.
    literal = _LITERAL.match(line, (span.column or 1) - 1)
    if literal is not None and objects.read_path(problem.field)[-1:] == (literal["key"],):
        return True
    if run.has_secrets:
        return False
    # Of a path of several names, each name is a read, and the last one is what the line has.
    reads = [
        read.path
        for read in lint.find_reads(step.program)
        if (read.span.name, read.span.line) == (span.name, span.line)
        and not line.startswith((".", ']["', "]['"), (read.span.column or 0) + read.span.width - 1)
    ]
    if not reads:
        return not _may_read_outside(step, run)
    is_new = run.is_at_hand and _is_new(run)
    # The names of the XR's own fields say nothing.
    for name in {str(key) for path in reads for key in path}:
        line = line.replace(name, "")
    return (
        all(
            path[:1] == ("params",)
            or (path[:1] == ("context",) and _find_near_key(path, run))
            or (path[:3] == _XR[:-1] and path[3:] in _IDENTITY)
            # Every XR begins without them, and without resources a failure is the last word.
            or (is_new and (path[:2] == ("observed", "resources") or path[:4] == _STATUS))
            or (
                path[: len(_XR)] == _XR
                and path[len(_XR) : len(_XR) + 1] not in [(name,) for name in _CROSSPLANE]
                and not any(_overlaps(("spec", *path[len(_XR) :]), each) for each in run.invented)
            )
            for path in reads
        )
        and not (_ELSEWHERE if is_new else _OUTSIDE).search(_WRITTEN.sub("", line))
    )


def _rate(problem: Diagnostic, *, is_certain: bool) -> rules.Rule:
    """Return the rule of a failure of a run."""
    if not is_certain:
        return rules.DOUBT
    # A run that is too slow here may be fast enough on a server.
    return rules.DOUBTFUL if problem.code == _TIME else rules.RUN


def _is_constant(step: Step, span: Span, count: int) -> bool:
    """Report whether a template writes out the last ``count`` lines up to a position."""
    lines = slice(max(0, span.line - count), span.line)
    return any(
        source.name == span.name and text.split("\n")[lines] == source.text.split("\n")[lines]
        for source, text in step.language.lint.find_documents(step.program)
    )


def _is_new(run: Run) -> bool:
    """Report whether an XR has no status and no resources yet, and no text of it is made up."""
    return not (run.invented or run.is_late or run.inputs.observed or "status" in run.inputs.xr)


def _may_read_outside(step: Step, run: Run) -> bool:
    """Report whether a program has a word of what a folder may lack.

    Every XR begins without a status and without composed resources, as one at hand that has none.
    What a script writes into dicts and its response reads nothing, nor does the text around the
    actions of a template. With texts that are made up, any word counts.
    """
    is_new = _is_new(run)
    documents = () if run.invented else step.language.lint.find_documents(step.program)
    around = {source.name: text for source, text in documents}
    return any(
        around.get(source.name, "")[match.start() : match.end()] != match[0]
        for source in step.program.sources()
        for match in (_ELSEWHERE if is_new else _OUTSIDE).finditer(
            source.text if run.invented else _WRITTEN.sub(lambda m: " " * len(m[0]), source.text)
        )
    )


def _is_written_out(code: Code, step: Step, span: Span, run: Run) -> bool:
    """Report whether the program's own text is wrong, such as a name or key that is there twice.

    No data that is not at hand can mend that, nor a key that a list of the XR has twice.
    """
    lines = _lines_from(step, span)
    if code.name == "program":
        return True
    if code.name == "duplicate-name":
        names = {name for name, _ in step.language.lint.find_composed_kinds(step.program)}
        texts = [source.text for source in step.program.sources()]
        return code.subject in names or any(f'"{code.subject}"' in text for text in texts)
    if code.name == "duplicate-key":
        request: Object = {"observed": {"composite": {"resource": run.inputs.xr}}}
        return bool(re.match(rf"[ -]*[\"']?{re.escape(code.subject)}[\"']? *:", lines[0])) or any(
            find_values(request, access.path).count(code.subject) > 1
            for access in step.language.lint.find_accesses(step.program)
            if (access.span.name, access.span.line) == (span.name, span.line) and not run.invented
        )
    if code.subject:
        # A key, or an annotation that is taken for the one with the name.
        return lines[0][(span.column or 1) - 1 :].lstrip(" \"'").startswith(code.subject)
    metadata = _METADATA.search(re.split(r"(?m)^---", "\n".join(lines))[0])
    return metadata is not None and lines[0].startswith("apiVersion:")


def _overlaps(path: objects.Path, other: objects.Path) -> bool:
    length = min(len(path), len(other))
    return length > 1 and path[:length] == other[:length]


def _lines_from(step: Step, span: Span) -> list[str]:
    """Return the lines of a program from a position on, at least one."""
    texts = (source.text for source in step.program.sources() if source.name == span.name)
    return next(texts, "").split("\n")[span.line - 1 :] or [""]


def _is_fixed(finding: Finding) -> bool:
    """Report whether a schema refuses what a line writes out, which comes from no status."""
    span, excerpt = finding.diagnostic.span, finding.diagnostic.excerpt
    line = "" if span is None or excerpt is None else excerpt.lines[span.line - excerpt.first_line]
    code, key = finding.diagnostic.code, line[(span.column or 1) - 1 :] if span else ""
    # Of an unknown field the name alone is wrong.
    is_name = code is not None and key.strip("\"'").startswith(code.subject)
    is_fixed = is_name or _FIXED.fullmatch(line) or _LITERAL.fullmatch(line.strip())
    return bool(is_fixed) and finding.rule in (rules.SCHEMA.name, rules.SCHEMA_VERSION.name)


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
