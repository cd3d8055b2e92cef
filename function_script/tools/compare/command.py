"""The command ``compare``: every Composition below the arguments, with the XRs that it has.

XRs are those at hand, those of a dump of a cluster, and variants that the XRD allows, as `check`
makes them. Requests that were captured are further ones of their step.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Final, Literal, NamedTuple

from function_script.documents import Document
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.limits import Limits
from function_script.request.reader import format_path
from function_script.request.values import Object
from function_script.sandbox import Pool
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError, InputError
from function_script.texts.source import excerpt
from function_script.tools import console, local_pool, manifests, step_inputs, xrds
from function_script.tools.cases import discovery, loader, parser
from function_script.tools.check import runs, searching
from function_script.tools.check.definitions import Definitions
from function_script.tools.check.report import Skipped
from function_script.tools.compare.differences import Difference, Named
from function_script.tools.compare.sides import (
    Comparison,
    Functions,
    Sides,
    Source,
    Versions,
    is_go_template,
)
from function_script.tools.plan.dump import Dump, UnknownError, key_of, text_at_machinery
from function_script.tools.project import Project
from function_script.tools.render import RenderInputs, loading, messages, renderer
from function_script.tools.render.renderer import Origin
from function_script.tools.revisions import Version

Verdict = Literal["equal", "different", "not compared", "nothing to compare"]

_FUNCTION: Final = ("pkg.crossplane.io", "Function")
_REFERENCE: Final = ("compositionRef", "name")
_MAX_VALUE: Final = 80
_MAX_ERROR: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """``variants`` is the most that an XRD has; ``rendering`` are the options of the renderer.

    ``dump`` has live XRs; ``version`` is what is compared with, and None is function-go-templating.
    """

    rendering: renderer.Options
    variants: int
    ignored: Sequence[str] = ()
    dump: Dump | None = None
    version: Version | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A difference at one place of a Composition; ``requests`` counts those that show it."""

    step: str
    problem: Diagnostic
    difference: Difference
    requests: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A Composition; ``compared`` counts its XRs whose requests both sides answered.

    ``captured`` counts captured requests that were compared, and ``masked`` those that cannot be,
    for they have masked values. ``uncompared`` are the reasons for which others were not, with the
    number of each; ``named`` counts XRs and requests with differences that are no change.
    """

    file: str
    name: str
    has_steps: bool = True
    compared: int = 0
    captured: int = 0
    masked: int = 0
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
        is_compared = self.compared or self.captured
        return "equal" if is_compared and not self.uncompared else "not compared"


def run(arguments: Sequence[str], project: Project, options: Options, pool: Pool) -> list[Row]:
    """Compare the Compositions in files and directories. Raises InputError for an argument."""
    files = [*searching.find(arguments, project, options.ignored)]
    captured = _Captures(files, project, options)
    others = _Others(options, project)
    definitions = Definitions(project=project)
    live = Definitions(xrds=[each for each in options.dump or () if xrds.is_xrd(each)])
    rows = [*others.broken, *captured.broken]
    for file in files:
        if isinstance(file, Skipped):
            rows.append(_fail(file.file, InputError.of(f"cannot read it: {file.reason}")))
            continue
        if file.error is not None:
            rows.append(_fail(file.name, file.error))
        for document in _find_compositions(file):
            xrd = definitions.find_xrd_of(document, file.documents) or live.find_xrd_of(document)
            subject = _Subject(document, xrd, project, options)
            row = Row(file=file.name, name=manifests.name(document.value))
            try:
                with ExitStack() as stack:
                    sides = subject.open_sides(others.take(document), pool, stack)
                    row = subject.compare(row, sides, captured)
            except FatalError as error:
                row.uncompared.update(error.diagnostics)
            rows.append(row)
    return [*rows, *others.list_rest(), *captured.list_rest()]


def _fail(file: str, error: FatalError) -> Row:
    row = Row(file=file, name="")
    row.uncompared.update(error.diagnostics)
    return row


def _find_compositions(file: searching.File) -> Iterator[Document]:
    for document in file.documents:
        if manifests.text_at(document.value, "kind") == manifests.COMPOSITION[1]:
            yield document


class _Captured(NamedTuple):
    """A captured request, the value of its input, and the type of its XR."""

    file: str
    request: fnv1.RunFunctionRequest
    is_masked: bool
    input: Object
    type: tuple[str, str]


class _Captures:
    """The captured requests that no step has taken; ``broken`` are rows of files that are none."""

    def __init__(
        self, files: Sequence[searching.File | Skipped], project: Project, options: Options
    ) -> None:
        self._requests: list[_Captured] = []
        self.broken: list[Row] = []
        cache = loader.FileCache(project)
        for file in files:
            if isinstance(file, Skipped) or not discovery.is_case(Path(file.name)):
                continue
            if not any("request" in document.value for document in file.documents):
                continue
            try:
                setup = parser.parse(discovery.CaseFile(path=Path(file.name)), cache).setup
            except FatalError as error:
                self.broken.append(_fail(file.name, error))
                continue
            request = setup.request or fnv1.RunFunctionRequest()
            value = messages.read_struct(request.input)
            xr = messages.read_struct(request.observed.composite.resource)
            type_ = objects.api_version_and_kind(xr)
            if options.version is not None or is_go_template(value):
                is_masked = setup.redacted > 0
                self._requests.append(_Captured(file.name, request, is_masked, value, type_))

    def take(self, type_: tuple[str, str], sides: Sides) -> Iterator[tuple[_Captured, str]]:
        """Yield the requests of a Composition's steps, each with the step."""
        for each in [*self._requests]:
            if each.type == type_ and (step := sides.find_step(each.input)):
                self._requests.remove(each)
                yield each, step

    def list_rest(self) -> Iterator[Row]:
        """Yield rows of the requests that no Composition has a step for."""
        for each in self._requests:
            yield _fail(each.file, InputError.of("no step at hand has the request's input"))


class _Others:
    """The Compositions of the other version, of which each has one here at most."""

    def __init__(self, options: Options, project: Project) -> None:
        self.broken: list[Row] = []
        self.documents: list[Document] = []
        paths = [] if options.version is None else [*map(str, options.version.paths)]
        for file in searching.find(paths, project, options.ignored):
            if isinstance(file, Skipped):
                continue
            if file.error is not None:
                self.broken.append(_fail(file.name, file.error))
            self.documents += _find_compositions(file)

    def take(self, document: Document) -> Document | None:
        """Return the one of a Composition's name, and of several that in the most similar path."""
        name = manifests.name(document.value)
        same = [each for each in self.documents if manifests.name(each.value) == name]
        if not same:
            return None
        other = max(same, key=lambda each: _count_common(_path(each), _path(document)))
        self.documents.remove(other)
        return other

    def list_rest(self) -> Iterator[Row]:
        """Yield rows of those that are not here."""
        for document in self.documents:
            row = _fail(str(_path(document)), InputError.of("there is no such Composition here"))
            yield replace(row, name=manifests.name(document.value))


def _path(document: Document) -> Path:
    source = document.origin.source
    return Path("." if source is None else source.name)


def _count_common(path: Path, other: Path) -> int:
    """Return how many parts of two paths are the same, from the end."""
    pairs = zip(reversed(path.parts), reversed(other.parts), strict=False)
    return len([*takewhile(lambda pair: pair[0] == pair[1], pairs)])


class _Subject:
    """A Composition, and where its XRs and functions are."""

    def __init__(
        self, document: Document, xrd: Object | None, project: Project, options: Options
    ) -> None:
        self._document = document
        self._project = project
        self._options = options
        reference = manifests.object_at(document.value, "spec", "compositeTypeRef")
        self._type = objects.api_version_and_kind(reference)
        self._xrd = xrd

    def open_sides(self, other: Document | None, pool: Pool, stack: ExitStack) -> Sides:
        """Return what is compared; ``stack`` closes it. Raises FatalError."""
        rendering, version = self._options.rendering, self._options.version
        ours = self._open_source(self._document, pool, stack)
        if version is None:
            return Functions(ours, rendering)
        if other is None:
            raise InputError.of(f'"{version.name}" has no Composition of this name')
        theirs = self._open_source(other, pool, stack)
        return Versions(ours, theirs, version.name, rendering)

    def _open_source(self, document: Document, pool: Pool, stack: ExitStack) -> Source:
        file = _path(document)
        programs = local_pool.programs_beside(file)
        if programs is not None:
            root = self._project.resolve(programs)
            pool = stack.enter_context(local_pool.open_pool(root))
        path = loading.find_render_paths(file.parent, self._project).functions
        values = loading.load_values([path], self._project) if path else self._options.dump or ()
        functions = [each for each in values if key_of(each)[:2] == _FUNCTION]
        index = self._options.rendering.index(functions or None)
        return Source(Origin(document=document, programs=programs), index, pool)

    def compare(self, row: Row, sides: Sides, captured: _Captures) -> Row:
        """Compare the requests of all XRs; return the row with the result. Raises FatalError."""
        if not sides.has_steps:
            return replace(row, has_steps=False)
        changes = _Changes(self._document, row)
        xrs = asked = masked = 0
        for each in self._plan():
            xrs += changes.attempt(each.label, partial(sides.run, each.inputs))
        for xr in self._find_live():
            label = f"{manifests.describe(xr)} of the dump"
            xrs += changes.attempt(label, partial(self._run_live, sides, xr))
        for each_request, step in captured.take(self._type, sides):
            if each_request.is_masked:
                masked += 1
                continue
            label = f'the request in "{each_request.file}"'
            asked += changes.attempt(label, partial(sides.ask, step, each_request.request))
        if not (xrs or asked or row.uncompared):
            hint = "put an xr.yaml beside the Composition, or its XRD"
            row.uncompared[Diagnostic(message="no XR is at hand", hint=hint)] += 1
        return replace(
            row,
            compared=xrs,
            captured=asked,
            masked=masked,
            changes=[*changes.by_place.values()],
        )

    def _plan(self) -> Iterator[runs.Run]:
        programs = local_pool.programs_beside(_path(self._document))
        limits = Limits().with_root(programs and programs.resolve())
        inputs = []
        for each in step_inputs.find_ours(self._document):
            # The comparison reports an input that cannot be parsed.
            with suppress(FatalError):
                inputs.append((each, step_inputs.parse(each, limits)))
        subject = runs.Subject(
            document=self._document,
            inputs=inputs,
            xrd=self._xrd,
            programs=programs,
            project=self._project,
            max_examples=None,
        )
        return runs.plan(subject, runs.make_variants(subject, self._options.variants))

    def _find_live(self) -> Iterator[Object]:
        """Yield the XRs of the dump that have this Composition, or none yet."""
        api_version, kind = self._type
        type_ = (manifests.group(api_version), kind)
        names = {"", manifests.name(self._document.value)}
        for xr in self._options.dump or ():
            if key_of(xr)[:2] == type_ and text_at_machinery(xr, *_REFERENCE) in names:
                yield xr

    def _run_live(self, sides: Sides, xr: Object, comparisons: list[Comparison]) -> None:
        """Compare the requests of an XR of the dump. Raises FatalError or UnknownError."""
        dump = self._options.dump
        if dump is None:
            return
        if not text_at_machinery(xr, *_REFERENCE):
            raise UnknownError(f"{manifests.describe(xr)} of the dump has no compositionRef yet")
        observed = dump.find_observed(xr)
        inputs = RenderInputs(
            xr=xr,
            composition=self._document.value,
            observed=[*observed.values()],
            xrd=self._xrd,
            cluster=dump.store,
        )
        for requirements in sides.run(inputs, comparisons):
            dump.check(self._document.value, observed, requirements)
            dump.check_masks(self._document.value, [xr, *observed.values()], requirements)


class _Changes:
    """The differences of a Composition, each once for all requests that show it."""

    def __init__(self, document: Document, row: Row) -> None:
        self._document = document
        self._row = row
        self.by_place: dict[object, Change] = {}

    def attempt(self, label: str, run_: Callable[[list[Comparison]], object]) -> bool:
        """Collect what a run compares; report whether both sides answered all that is asked."""
        comparisons: list[Comparison] = []
        reason: Diagnostic | None = None
        try:
            run_(comparisons)
        except FatalError as error:
            reason = error.diagnostics[0]
        except UnknownError as error:
            reason = Diagnostic(message=str(error))
        if reason is None and not comparisons:
            # Crossplane runs nothing for it.
            reason = Diagnostic(message="the XR is paused or is being deleted: no step runs")
        if reason is not None:
            self._row.uncompared[reason] += 1
        self._row.named.update({kind for one in comparisons for kind in one.named})
        places = set()
        for comparison in comparisons:
            for difference in comparison.differences:
                change = self._locate(comparison, difference)
                span = change.problem.span
                key = (change.step, *difference.place[1:], span and (span.name, span.line))
                if key in places:
                    continue
                places.add(key)
                if known := self.by_place.get(key):
                    change = replace(known, requests=known.requests + 1)
                else:
                    notes = (*change.problem.notes, f"for {label}")
                    change = replace(change, problem=replace(change.problem, notes=notes))
                self.by_place[key] = change
        return reason is None

    def _locate(self, comparison: Comparison, difference: Difference) -> Change:
        """Return a difference at the line that writes the value, else at the step."""
        path = difference.path[1:] if difference.path[:1] == ("xr",) else difference.path
        is_object = difference.resource is not None or path != difference.path
        both = comparison.positions if is_object else ()
        position = next(
            (each for one in both if (each := one.nearest(difference.resource, path))), None
        )
        step = comparison.step
        span = position.span if position is not None else None
        if span is None:
            place: objects.Path = ("spec", "pipeline")
            span = self._document.span(place if step is None else (*place, step.index))
        source = self._document.origin.source
        is_here = span is not None and source is not None and source.name == span.name
        name = step.name if step is not None else ""
        return Change(
            step=position.step if position is not None else name,
            difference=difference,
            problem=Diagnostic(
                message=describe(difference, comparison.other),
                span=span,
                excerpt=excerpt(source, span) if source and span and is_here else None,
                notes=() if comparison.problem is None else (comparison.problem.message,),
            ),
        )


def describe(difference: Difference, other: str) -> str:
    """Return a sentence with both values; ``other`` is the other side, as in `Comparison`."""
    place = "the response" if difference.resource is None else f'resource "{difference.resource}"'
    if difference.path:
        place = f"{place}: {format_path(difference.path)}"
    if difference.is_secret:
        return f"{place} is another one {other} than here"
    # The end of an error says most.
    is_error = difference.resource is None and not difference.path
    size = _MAX_ERROR if is_error else _MAX_VALUE
    theirs, ours = (console.to_short(each, size) for each in (difference.theirs, difference.ours))
    return f"{place} is {theirs} {other}, and {ours} here"
