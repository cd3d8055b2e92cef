"""The command ``compare``: every Composition below the arguments, with the XRs that it has.

XRs are those at hand, those of a dump of a cluster, and variants that the XRD allows, as `check`
makes them. Requests that were captured are further ones of their step.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from function_script.documents import Document
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.limits import Limits
from function_script.request.reader import format_path
from function_script.request.values import Object
from function_script.sandbox import Pool
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError, InputError
from function_script.tools import console, local_pool, manifests, step_inputs, xrds
from function_script.tools.cases import loader, model, parser
from function_script.tools.check import runs, searching
from function_script.tools.check.definitions import Definitions
from function_script.tools.check.report import Skipped
from function_script.tools.compare.differences import Difference, Named
from function_script.tools.compare.sides import (
    Comparison,
    Functions,
    Source,
    Versions,
    is_go_template,
)
from function_script.tools.plan.dump import (
    Dump,
    UnknownError,
    is_masked,
    text_at_machinery,
)
from function_script.tools.project import Project
from function_script.tools.render import RenderInputs, functions, loading, messages, renderer
from function_script.tools.render.positions import Origin, Position
from function_script.tools.revisions import Version

Verdict = Literal[
    "equal", "different", "errors on both sides", "not compared", "nothing to compare"
]
# The step, the path of the value, and the line that writes it.
Place: TypeAlias = tuple[str, objects.Path, tuple[str, int] | None]

_REFERENCE: Final = ("compositionRef", "name")
# Crossplane runs nothing for such an XR.
_PAUSED: Final = Diagnostic(message="the XR is paused or is being deleted: no step runs")
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

    @property
    def definitions(self) -> list[Object]:
        """The XRDs and Functions of the dump."""
        return self.dump.definitions if self.dump else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A difference that an XR or a request shows at one place of a Composition."""

    step: str
    problem: Diagnostic
    difference: Difference


class Row:
    """A Composition; ``compared`` counts its XRs whose requests both sides answered.

    ``captured`` counts captured requests that were compared, and ``masked`` those that cannot be,
    for they have masked values. ``refused`` are the errors here of XRs and requests that both sides
    refuse, and ``uncompared`` the reasons for which others were not compared, with the number of
    each. ``named`` counts XRs and requests with differences that are no change. ``changes`` has
    those of each place, one for each XR or request that shows it.
    """

    def __init__(self, file: str, name: str = "", error: FatalError | None = None) -> None:
        self.file = file
        self.name = name
        self.has_steps = True
        self.compared = self.captured = self.masked = 0
        self.changes: dict[Place, list[Change]] = {}
        self.refused: Counter[str] = Counter()
        self.uncompared = Counter(() if error is None else error.diagnostics)
        self.named: Counter[Named] = Counter()

    @property
    def verdict(self) -> Verdict:
        """The verdict; what was not compared is never equal."""
        if not self.has_steps:
            return "nothing to compare"
        if self.changes:
            return "different"
        if self.uncompared:
            return "not compared"
        if self.compared or self.captured:
            return "equal"
        return "errors on both sides" if self.refused else "not compared"


def run(arguments: Sequence[str], project: Project, options: Options, pool: Pool) -> list[Row]:
    """Compare the Compositions in files and directories. Raises InputError for an argument."""
    files = [*searching.find(arguments, project, options.ignored)]
    version = options.version
    # Of a directory beside single files, no more is in question than those.
    is_partial = (
        version is not None
        and any(path.is_dir() for path in version.paths)
        and not any(Path(each).is_dir() for each in arguments)
    )
    rows: list[Row] = []
    others: list[Document] = []
    for file in searching.find(
        map(str, version.paths if version else ()), project, options.ignored
    ):
        if isinstance(file, searching.File):
            rows += [Row(file.name, "", file.error)] if file.error and not is_partial else []
            others += _find_compositions(file)
    captured = [*_find_captured(files, project, options, rows)]
    definitions = Definitions(project=project)
    live = Definitions(xrds=[each for each in options.definitions if xrds.is_xrd(each)])
    for file in files:
        if isinstance(file, Skipped):
            rows.append(Row(file.file, "", InputError.of(f"cannot read it: {file.reason}")))
            continue
        if file.error is not None:
            rows.append(Row(file.name, "", file.error))
        for document in _find_compositions(file):
            xrd = definitions.find_xrd_of(document, file.documents) or live.find_xrd_of(document)
            subject = _Subject(document, xrd, project, options)
            rows.append(subject.row)
            try:
                subject.compare(_take(others, document), captured, pool)
            except FatalError as error:
                subject.row.uncompared.update(error.diagnostics)
    unmatched = InputError.of("there is no such Composition here")
    for document in () if is_partial else others:
        rows.append(Row(str(_path(document)), manifests.name(document.value), unmatched))
    untaken = InputError.of("no step at hand has the request's input")
    return [*rows, *(Row(each.file, "", untaken) for each in captured)]


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


def _find_captured(
    files: Sequence[searching.File | Skipped], project: Project, options: Options, rows: list[Row]
) -> Iterator[_Captured]:
    """Yield captured requests; add a row for each file with one that cannot be read."""
    cache = loader.FileCache(project)
    for file in files:
        if isinstance(file, Skipped) or not model.is_case(Path(file.name)):
            continue
        if not any("request" in document.value for document in file.documents):
            continue
        try:
            setup = parser.parse(model.CaseFile(path=Path(file.name)), cache).setup
        except FatalError as error:
            rows.append(Row(file.name, "", error))
            continue
        request = setup.request or fnv1.RunFunctionRequest()
        value = messages.read_struct(request.input)
        xr = messages.read_struct(request.observed.composite.resource)
        type_ = objects.api_version_and_kind(xr)
        if options.version is not None or is_go_template(value):
            yield _Captured(file.name, request, setup.redacted > 0, value, type_)


def _take(others: list[Document], document: Document) -> Document | None:
    """Take the Composition of the same name, and of several that in the most similar path."""
    name = manifests.name(document.value)
    same = [each for each in others if manifests.name(each.value) == name]
    if not same:
        return None
    other = max(same, key=lambda each: _count_common(_path(each), _path(document)))
    others.remove(other)
    return other


def _count_common(path: Path, other: Path) -> int:
    """Return how many parts of two paths are the same, from the end."""
    pairs = zip(reversed(path.parts), reversed(other.parts), strict=False)
    return len([*takewhile(lambda pair: pair[0] == pair[1], pairs)])


def _path(document: Document) -> Path:
    source = document.origin.source
    return Path("." if source is None else source.name)


class _Subject:
    """A Composition, where its XRs and functions are, and the row with its result."""

    def __init__(
        self, document: Document, xrd: Object | None, project: Project, options: Options
    ) -> None:
        self.row = Row(str(_path(document)), manifests.name(document.value))
        self._document = document
        self._programs = local_pool.programs_beside(_path(document))
        self._project = project
        self._options = options
        self._xrd = xrd

    def compare(self, other: Document | None, captured: list[_Captured], pool: Pool) -> None:
        """Compare the requests of all XRs, and those of ``captured``, which are taken.

        Raises FatalError.
        """
        row = self.row
        sides = self._make_sides(other, pool)
        if not sides.has_steps:
            row.has_steps = False
            return
        for each in self._plan():
            row.compared += self._attempt(each.label, partial(sides.run, each.inputs))
        type_ = manifests.composed_type(self._document.value)
        names = {"", row.name}
        if (dump := self._options.dump) is not None:
            for xr in map(dump.__getitem__, dump.list_keys((manifests.group(type_[0]), type_[1]))):
                # One without a Composition may get this one.
                if text_at_machinery(xr, *_REFERENCE) in names:
                    label = f"{manifests.describe(xr)} of the dump"
                    row.compared += self._attempt(label, partial(self._run_live, sides, dump, xr))
        for request in [*captured]:
            step = sides.find_step(request.input) if request.type == type_ else None
            if step is None:
                continue
            captured.remove(request)
            if request.is_masked:
                row.masked += 1
                continue
            label = f'the request in "{request.file}"'
            row.captured += self._attempt(label, partial(sides.ask, step, request.request))
        if not (row.compared or row.captured or row.refused or row.uncompared):
            hint = "put an xr.yaml beside the Composition, or its XRD"
            row.uncompared[Diagnostic(message="no XR is at hand", hint=hint)] += 1

    def _make_sides(self, other: Document | None, pool: Pool) -> Versions:
        rendering, version = self._options.rendering, self._options.version
        ours = self._load_source(self._document, pool)
        if version is None:
            return Functions(ours, rendering)
        if other is None:
            raise InputError.of(f'"{version.name}" has no Composition of this name')
        theirs = self._load_source(other, pool)
        return Versions(ours, theirs, f"in {version.name}", rendering)

    def _load_source(self, document: Document, pool: Pool) -> Source:
        file = _path(document)
        programs = local_pool.programs_beside(file)
        sandbox = local_pool.bind_programs(pool, programs, self._project)
        path = loading.find_functions(file.parent)
        values = loading.load_values([path], self._project) if path else self._options.definitions
        index = functions.FunctionIndex(
            manifests=functions.select(values), options=self._options.rendering
        )
        return Source(Origin(document=document, programs=programs), index, sandbox)

    def _plan(self) -> Iterator[runs.Run]:
        limits = Limits().with_root(self._programs and self._programs.resolve())
        inputs = []
        for each in step_inputs.find_ours(self._document):
            # The comparison reports an input that cannot be parsed.
            with suppress(FatalError):
                inputs.append((each, step_inputs.parse(each, limits)))
        subject = runs.Subject(
            document=self._document,
            inputs=inputs,
            xrd=self._xrd,
            programs=self._programs,
            project=self._project,
            max_examples=None,
        )
        return runs.plan(subject, runs.make_variants(subject, self._options.variants))

    def _run_live(
        self, sides: Versions, dump: Dump, xr: Object, comparisons: list[Comparison]
    ) -> None:
        """Compare the requests of an XR of the dump. Raises FatalError or UnknownError."""
        if not text_at_machinery(xr, *_REFERENCE):
            raise UnknownError(f"{manifests.describe(xr)} of the dump has no compositionRef yet")
        inputs = RenderInputs(
            xr=xr,
            composition=self._document.value,
            observed=[*dump.find_observed(xr).values()],
            xrd=self._xrd,
            cluster=dump,
        )
        # What steps require is known after the run; an XR that lacks some of it is not compared.
        for requirements in sides.run(inputs, comparisons):
            dump.check(inputs, requirements)
            if any(map(is_masked, dump.find_secrets(inputs, requirements))):
                raise UnknownError("a step gets a Secret, which the dump has masked")

    def _attempt(self, label: str, run_: Callable[[list[Comparison]], object]) -> bool:
        """Add to the row what a run compares; report whether both sides answered all of it."""
        row = self.row
        comparisons: list[Comparison] = []
        reasons: Sequence[Diagnostic]
        try:
            run_(comparisons)
            reasons = () if comparisons else (_PAUSED,)
        except FatalError as error:
            reasons = error.diagnostics[:1]
        except UnknownError as error:
            reasons = [Diagnostic(message=str(error))]
        row.uncompared.update(reasons)
        row.named.update({kind for one in comparisons for kind in one.named})
        is_different = self._add_changes(comparisons, label)
        if reasons or is_different:
            return not reasons
        # An answer of a whole pipeline, or of its last step that both sides ran.
        last = comparisons[-1]
        if last.theirs.refusal is None or last.ours.refusal is None:
            return True
        row.refused[last.ours.refusal] += 1
        return False

    def _add_changes(self, comparisons: Sequence[Comparison], label: str) -> bool:
        """Add the differences of one XR or request, each once; report whether there are any."""
        changes: dict[Place, Change] = {}
        for comparison in comparisons:
            for difference in comparison.differences:
                change = self._locate(comparison, difference, label)
                span = change.problem.span
                line = None if span is None else (span.name, span.line)
                # Resources of a loop differ at one line, and count once for their XR.
                changes.setdefault((change.step, difference.path, line), change)
        for place, change in changes.items():
            self.row.changes.setdefault(place, []).append(change)
        return bool(changes)

    def _locate(self, comparison: Comparison, difference: Difference, label: str) -> Change:
        """Return a difference at the line that writes the value or fails, else at the step."""
        path = difference.path[1:] if difference.path[:1] == ("xr",) else difference.path
        is_object = difference.resource is not None or path != difference.path
        # What this side does not have, the other one may have written.
        both = (comparison.ours, comparison.theirs) if is_object else ()
        places = (each.positions.nearest(difference.resource, path) for each in both)
        step = comparison.step
        name, indexes = ("", ()) if step is None else (step.name, (step.index,))
        position = next(filter(None, places), Position(name, None))
        span = position.span or self._document.span(("spec", "pipeline", *indexes))
        excerpt = None if span is None else comparison.ours.positions.excerpt(span)
        errors = comparison.ours.response.diagnostics[:1]
        for error in errors if _is_of_error(difference) else ():
            if error.span is not None:
                span, excerpt = error.span, error.excerpt
        problem = Diagnostic(
            message=_describe(difference, comparison.other),
            span=span,
            excerpt=excerpt,
            notes=(*(each.message for each in errors), f"for {label}"),
        )
        return Change(step=position.step, problem=problem, difference=difference)


def _is_of_error(difference: Difference) -> bool:
    """Report whether one side has an error, and the other one has none."""
    return difference.resource is None and not difference.path


def _describe(difference: Difference, other: str) -> str:
    """Return a sentence with both values; ``other`` is the other side, as in `Comparison`."""
    place = "the response" if difference.resource is None else f'resource "{difference.resource}"'
    if difference.path:
        place = f"{place}: {format_path(difference.path)}"
    if difference.is_secret:
        return f"{place} is another one {other} than here"
    # The end of an error says most.
    size = _MAX_ERROR if _is_of_error(difference) else _MAX_VALUE
    theirs, ours = (console.to_short(each, size) for each in (difference.theirs, difference.ours))
    return f"{place} is {theirs} {other}, and {ours} here"
