"""The command ``compare``: every Composition below the arguments, with the XRs that it has.

XRs are those at hand and variants that the XRD allows, as `check` makes them. Of a pipeline the
steps run up to the last Go template: what comes after cannot change what is compared.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from function_script.documents import Document
from function_script.request.limits import Limits
from function_script.request.reader import format_path
from function_script.request.values import Object, Value
from function_script.sandbox import Pool
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError
from function_script.tools import console, local_pool, manifests, step_inputs
from function_script.tools.check import runs, searching
from function_script.tools.check.definitions import Definitions
from function_script.tools.check.report import Skipped
from function_script.tools.compare.differences import Difference, Named
from function_script.tools.compare.sides import BothSides, Comparison, is_compared
from function_script.tools.project import Project
from function_script.tools.render import (
    RenderInputs,
    error_positions,
    functions,
    loading,
    renderer,
    steps,
)
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.positions import Files, Positions
from function_script.tools.render.renderer import Origin, Renderer

Verdict = Literal["equal", "different", "not compared", "nothing to compare"]

_MAX_VALUE: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """``variants`` is the most that an XRD has; ``rendering`` are the options of the renderer."""

    rendering: renderer.Options
    variants: int
    ignored: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A difference at one place of a Composition; ``xrs`` counts those that show it."""

    step: str
    problem: Diagnostic
    difference: Difference
    xrs: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A Composition; ``compared`` counts its XRs whose requests both sides answered.

    ``uncompared`` are the reasons for which requests were not, with the number of XRs of each;
    ``named`` counts XRs with differences that are no change.
    """

    file: str
    name: str
    has_steps: bool = True
    compared: int = 0
    changes: list[Change] = field(default_factory=list)
    uncompared: Counter[Diagnostic] = field(default_factory=Counter)
    named: Counter[Named] = field(default_factory=Counter)

    @property
    def verdict(self) -> Verdict:
        """The verdict; what was not compared is never equal."""
        if not self.has_steps:
            return "nothing to compare"
        if self.changes:
            return "different"
        return "not compared" if self.uncompared or not self.compared else "equal"


def run(arguments: Sequence[str], project: Project, options: Options, pool: Pool) -> list[Row]:
    """Compare the Compositions in files and directories. Raises InputError for an argument."""
    return [*_compare_files(arguments, project, options, pool)]


def _compare_files(
    arguments: Sequence[str], project: Project, options: Options, pool: Pool
) -> Iterator[Row]:
    definitions = Definitions(project=project)
    for file in searching.find(arguments, project, options.ignored):
        if isinstance(file, Skipped):
            row = Row(file=file.file, name="")
            row.uncompared[Diagnostic(message=f"cannot read it: {file.reason}")] += 1
            yield row
            continue
        if file.error is not None:
            row = Row(file=file.name, name="")
            row.uncompared.update(file.error.diagnostics)
            yield row
        for document in file.documents:
            if manifests.text_at(document.value, "kind") == manifests.COMPOSITION[1]:
                row = Row(file=file.name, name=manifests.name(document.value))
                subject = _Subject(document, definitions, file.documents, project)
                try:
                    yield subject.compare(row, options, pool)
                except FatalError as error:
                    row.uncompared.update(error.diagnostics)
                    yield row


class _Subject:
    """A Composition, and where its XRs and functions are."""

    def __init__(
        self,
        document: Document,
        definitions: Definitions,
        others: Sequence[Document],
        project: Project,
    ) -> None:
        self._document = document
        file = Path(document.origin.source.name if document.origin.source is not None else ".")
        self._directory = file.parent
        self._programs = local_pool.programs_beside(file)
        self._project = project
        self._xrd = definitions.find_xrd_of(document, others)

    def compare(self, row: Row, options: Options, pool: Pool) -> Row:
        """Compare the requests of all XRs; return the row with the result. Raises FatalError."""
        pipeline = steps.parse(self._document.value)
        compared = [step.index for step in pipeline if is_compared(step)]
        if not compared:
            return replace(row, has_steps=False)
        composition = _cut(self._document.value, compared[-1] + 1)
        planned = [*self._plan(options.variants)]
        if not planned:
            row.uncompared[
                Diagnostic(
                    message="no XR is at hand",
                    hint="put an xr.yaml beside the Composition, or its XRD",
                )
            ] += 1
        paths = loading.find_render_paths(self._directory, self._project)
        index = options.rendering.index(functions.load(paths.functions, self._project))
        changes: dict[object, Change] = {}
        count = 0
        for each in planned:
            sides = BothSides(index=index)
            render = Renderer(pool, sides, options.rendering)
            inputs = replace(each.inputs, composition=composition)
            count += self._run(row, render, inputs, sides)
            row.named.update({kind for one in sides.comparisons for kind in one.named})
            self._collect(changes, sides.comparisons, each.label)
        return replace(row, compared=count, changes=[*changes.values()])

    def _plan(self, count: int) -> Iterator[runs.Run]:
        limits = Limits().with_root(self._programs and self._programs.resolve())
        inputs = []
        for each in step_inputs.find_ours(self._document):
            try:
                inputs.append((each, step_inputs.parse(each, limits)))
            except FatalError:
                # The comparison says so.
                continue
        subject = runs.Subject(
            document=self._document,
            inputs=inputs,
            xrd=self._xrd,
            crds=(),
            programs=self._programs,
            project=self._project,
        )
        return runs.plan(subject, runs.make_variants(subject, count))

    def _run(self, row: Row, render: Renderer, inputs: RenderInputs, sides: BothSides) -> bool:
        """Run the pipeline of an XR; report whether both sides answered all that is asked."""
        try:
            render.render(inputs, Origin(document=self._document, programs=self._programs))
        except FatalError as error:
            # The other side's refusal ends a pipeline. It was compared.
            steps_ = {one.call.step.index for one in sides.comparisons}
            if isinstance(error, PipelineError) and error.step.index in steps_:
                return True
            row.uncompared.update(error.diagnostics[:1])
            return False
        return True

    def _collect(
        self, changes: dict[object, Change], comparisons: Sequence[Comparison], label: str
    ) -> None:
        """Add the differences of one XR to those of others at the same places."""
        places = set()
        for comparison in comparisons:
            step = comparison.call.step
            # The first position runs the program again; it serves all differences.
            find_input = error_positions.composition_input_path
            files = Files(self._document, self._programs, find_input)
            positions = Positions([comparison.call], files)
            for difference in comparison.differences:
                problem = _locate(positions, comparison, difference)
                span = problem.span
                key = (step.name, *difference.place[1:], span and (span.name, span.line))
                if key in changes and key not in places:
                    changes[key] = replace(changes[key], xrs=changes[key].xrs + 1)
                elif key not in places:
                    noted = replace(problem, notes=(*problem.notes, f"for {label}"))
                    changes[key] = Change(step=step.name, problem=noted, difference=difference)
                places.add(key)


def _locate(positions: Positions, comparison: Comparison, difference: Difference) -> Diagnostic:
    """Return the problem of a difference at the line that writes the value, else at the step."""
    step = comparison.call.step
    path = difference.path[1:] if difference.path[:1] == ("xr",) else difference.path
    is_object = difference.resource is not None or path != difference.path
    position = positions.nearest(difference.resource, path) if is_object else None
    span = None if position is None else position.span
    span = span or positions.find_step(step.name)
    problem = comparison.problem
    return Diagnostic(
        message=describe(difference, step.function),
        span=span,
        excerpt=None if span is None else positions.excerpt(span),
        notes=() if problem is None else (problem.message,),
    )


def _cut(composition: Object, count: int) -> Object:
    """Return a Composition with the first steps of its pipeline."""
    spec = manifests.object_at(composition, "spec")
    pipeline = manifests.objects_at(composition, "spec", "pipeline")
    first: list[Value] = [*pipeline[:count]]
    return {**composition, "spec": {**spec, "pipeline": first}}


def describe(difference: Difference, function: str) -> str:
    """Return a sentence with both values; ``function`` is the other side."""
    place = "the response" if difference.resource is None else f'resource "{difference.resource}"'
    if difference.path:
        place = f"{place}: {format_path(difference.path)}"
    if difference.is_secret:
        return f"{place} differs from that of {function}"
    theirs, ours = (
        console.to_short(difference.theirs, _MAX_VALUE),
        console.to_short(difference.ours, _MAX_VALUE),
    )
    return f"{place} is {theirs} with {function}, and {ours} here"
