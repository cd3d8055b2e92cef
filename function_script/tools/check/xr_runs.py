"""The runs of a Composition: of the XRs at hand, of cases, and of variants that an XRD allows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

from function_script.documents import Document
from function_script.inputs import Step
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts import spelling
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.tools import (
    author_positions,
    manifests,
    sources,
    step_inputs,
    variants,
    xr_validation,
)
from function_script.tools.check import rules
from function_script.tools.check.report import Finding, Report
from function_script.tools.project import SUFFIXES, Project
from function_script.tools.render import RenderInputs, loading, steps
from function_script.tools.render.compose import RenderResult
from function_script.tools.render.xr import resolve_claim
from function_script.tools.validate.catalog import Catalog

XR: Final = ("observed", "composite", "resource", "spec")
# Crossplane's part of spec, which no XR at hand has.
CROSSPLANE: Final = ("crossplane", "claimRef", "resourceRefs", "compositionRef")
_KIND: Final = re.compile(r"""kind["']?\s*:\s*["']?([\w-]+)""")
_EXAMPLES: Final = ("examples", "example")
_CASES: Final = ("tests", "test", "cases")
_MAX_EXAMPLES: Final = 8
_MAX_RECONCILES: Final = 4


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
        # Observed objects belong to the XR beside them.
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


def find_misnamed_xr(subject: Subject) -> Iterator[Diagnostic]:
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
    return has_references and spec.keys() <= {*CROSSPLANE}


def _kinds(subject: Subject) -> set[tuple[str, str]]:
    """Return the types of the Composition's XR and of its claim."""
    api_version, kind = manifests.composed_type(subject.document.value)
    claim = manifests.text_at(subject.xrd or {}, "spec", "claimNames", "kind")
    return {(api_version, each) for each in (kind, claim) if each}


def _make_variants(
    subject: Subject, examples: Iterable[Document], count: int
) -> list[variants.Variant]:
    """Return the variants of a Composition's XR; none without an XRD that has its type."""
    if subject.xrd is None or not count:
        return []
    reads: Counter[objects.Path] = Counter(
        ("spec", *read.path[len(XR) :])
        for _, step in subject.inputs
        for read in step.language.lint.find_reads(step.program)
        if read.path[: len(XR)] == XR
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
