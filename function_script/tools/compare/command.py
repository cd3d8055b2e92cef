"""The command ``compare``: every Composition below the arguments, with the XRs that it has.

XRs are those at hand, those of a dump of a cluster, and variants that the XRD allows, as `check`
makes them. Requests that were captured are further ones of their step.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from function_script.documents import Document
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request.limits import Limits
from function_script.request.values import Object
from function_script.sandbox.pool import Pool
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError, InputError
from function_script.tools import local_pool, manifests, step_inputs, xrds
from function_script.tools.author_positions import file_of
from function_script.tools.cases import loader, model, parser
from function_script.tools.check import searching, xr_runs
from function_script.tools.check.definitions import Definitions
from function_script.tools.compare.differences import Named
from function_script.tools.compare.sides import (
    Change,
    Comparison,
    Functions,
    NothingToCompare,
    Place,
    Versions,
    is_go_template,
)
from function_script.tools.plan.dump import Dump, UnknownError
from function_script.tools.project import Project
from function_script.tools.render import RenderInputs, messages, renderer
from function_script.tools.render.sides import Sides
from function_script.tools.revisions import Version

Verdict = Literal[
    "equal", "different", "errors on both sides", "not compared", "nothing to compare"
]

# The request, and whether values of it are masked.
_Captured: TypeAlias = tuple[fnv1.RunFunctionRequest, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """``variants`` is the most that an XRD has; ``rendering`` are the options of the renderer.

    ``dump`` has live XRs; ``version`` is what is compared with, and None is function-go-templating.
    ``pool`` evaluates all programs, and ``project`` has all files.
    """

    rendering: renderer.Options
    pool: Pool
    project: Project
    variants: int
    ignored: Sequence[str] = ()
    dump: Dump | None = None
    version: Version | None = None

    @property
    def definitions(self) -> list[Object]:
        """The XRDs and Functions of the dump."""
        return self.dump.definitions if self.dump else []


class Row:
    """A Composition; ``compared`` counts its XRs whose requests both sides answered.

    ``captured`` counts captured requests that were compared, and ``masked`` those that cannot be,
    for they have masked values. ``refused`` are the errors here of XRs and requests that both sides
    refuse, and ``uncompared`` the reasons for which others were not compared, with the number of
    each. ``named`` counts XRs and requests with differences that are no change. ``changes`` has
    those of each place, one for each XR or request that shows it. ``nothing`` is the reason for
    which nothing is compared.
    """

    def __init__(self, file: str, name: str = "", error: FatalError | None = None) -> None:
        self.file = file
        self.name = name
        self.nothing: NothingToCompare | None = None
        self.compared = self.captured = self.masked = 0
        self.changes: dict[Place, list[Change]] = {}
        self.refused: Counter[str] = Counter()
        self.uncompared = Counter(() if error is None else error.diagnostics)
        self.named: Counter[Named] = Counter()

    @property
    def verdict(self) -> Verdict:
        """The verdict; what was not compared is never equal."""
        if self.nothing:
            return "nothing to compare"
        if self.changes:
            return "different"
        if self.uncompared:
            return "not compared"
        if self.compared or self.captured:
            return "equal"
        return "errors on both sides" if self.refused else "not compared"

    def attempt(self, label: str, run_: Callable[[Comparison], object]) -> bool:
        """Add what a run compares; report whether both sides answered all of it."""
        comparison = Comparison(label)
        reasons: Sequence[Diagnostic] = ()
        try:
            run_(comparison)
        except FatalError as error:
            reasons = error.diagnostics[:1]
        except UnknownError as error:
            reasons = [Diagnostic(message=str(error))]
        self.uncompared.update(reasons)
        self.named.update(comparison.named)
        for place, change in comparison.changes.items():
            self.changes.setdefault(place, []).append(change)
        if reasons or comparison.changes or comparison.refusal is None:
            return not reasons
        self.refused[comparison.refusal] += 1
        return False


def run(arguments: Sequence[str], options: Options) -> list[Row]:
    """Compare the Compositions in files and directories. Raises InputError for an argument."""
    project, version = options.project, options.version
    files = [*searching.find(arguments, project, options.ignored)]
    paths = version.paths if version else ()
    # Of a directory beside single files, no more is in question than those.
    is_partial = any(path.is_dir() for path in paths) and not any(
        Path(each).is_dir() for each in arguments
    )
    rows: list[Row] = []
    others: list[_Composition] = []
    for file in searching.find(map(str, paths), project, options.ignored):
        rows += [Row(file.name, "", file.error)] if file.error and not is_partial else []
        others += _find_compositions(file, options)
    captured = dict(_find_captured(files, options, rows))
    sides = Sides(options.pool, project, options.rendering, options.definitions)
    for file in files:
        if file.is_list and options.dump and options.dump.has_file(Path(file.name)):
            continue
        if file.skipped:
            rows.append(Row(file.name, "", InputError.of(f"cannot read it: {file.skipped}")))
            continue
        if file.error is not None:
            rows.append(Row(file.name, "", file.error))
        for composition in _find_compositions(file, options):
            subject = _Subject(composition, options, sides)
            rows.append(subject.row)
            try:
                subject.compare(_take(others, composition.document), captured)
            except FatalError as error:
                subject.row.uncompared.update(error.diagnostics)
    unmatched = InputError.of("there is no such Composition here")
    for document, _ in () if is_partial else others:
        rows.append(Row(str(file_of(document)), manifests.name(document.value), unmatched))
    untaken = InputError.of("no step at hand has the request's input")
    return [*rows, *(Row(file, "", untaken) for file in captured)]


class _Composition(NamedTuple):
    """A Composition in a file, and the XRD of its XRs if it is at hand."""

    document: Document
    xrd: Object | None


def _find_compositions(file: searching.File, options: Options) -> Iterator[_Composition]:
    """Yield the Compositions in a file; the XRDs of the dump are behind those beside it."""
    live = [each for each in options.definitions if xrds.is_xrd(each)]
    near, behind = (Definitions(project=options.project, xrds=each) for each in ([], live))
    for document in file.documents:
        if manifests.text_at(document.value, "kind") == manifests.COMPOSITION[1]:
            xrd = near.find_xrd_of(document, file.documents)
            yield _Composition(document, xrd or behind.find_xrd_of(document))


def _find_captured(
    files: Sequence[searching.File], options: Options, rows: list[Row]
) -> Iterator[tuple[str, _Captured]]:
    """Yield captured requests by file; add a row for each file with one that cannot be read."""
    cache = loader.FileCache(options.project)
    for file in files:
        is_captured = any("request" in document.value for document in file.documents)
        if not (is_captured and model.is_case(Path(file.name))):
            continue
        try:
            setup = parser.parse(Path(file.name), cache).setup
        except FatalError as error:
            rows.append(Row(file.name, "", error))
            continue
        request = setup.request or fnv1.RunFunctionRequest()
        if options.version is not None or is_go_template(messages.read_struct(request.input)):
            yield file.name, (request, setup.redacted > 0)


def _take(others: list[_Composition], document: Document) -> _Composition | None:
    """Take the Composition of the same name, and of several that in the most similar path."""
    name = manifests.name(document.value)
    same = [each for each in others if manifests.name(each.document.value) == name]
    if not same:
        return None
    parts = file_of(document).parts
    ends = [parts[-length:] for length in range(1, len(parts) + 1)]
    files = [file_of(each.document).parts for each in same]
    scores = [sum(parts[-len(end) :] == end for end in ends) for parts in files]
    other = same[scores.index(max(scores))]
    others.remove(other)
    return other


class _Subject:
    """A Composition, its XRD, and the row with its result."""

    def __init__(self, composition: _Composition, options: Options, sides: Sides) -> None:
        self._document, self._xrd = composition
        self.row = Row(str(file_of(self._document)), manifests.name(self._document.value))
        self._options = options
        self._sides = sides

    def compare(self, other: _Composition | None, captured: dict[str, _Captured]) -> None:
        """Compare the requests of all XRs, and those of ``captured``, which are taken.

        Raises FatalError.
        """
        row, version = self.row, self._options.version
        ours = self._sides.of_document(self._document)
        if version is None:
            sides: Versions = Functions(ours)
        elif other is None:
            raise InputError.of(f'"{version.name}" has no Composition of this name')
        else:
            # Each version has the defaults of its own XRD.
            sides = Versions(ours, self._sides.of_document(*other), f"in {version.name}")
        row.nothing = sides.nothing
        if sides.nothing is None:
            self._compare_xrs(sides)
        for file, (request, is_redacted) in [*captured.items()]:
            step = sides.find_step(request)
            if step is None:
                continue
            del captured[file]
            if is_redacted and sides.is_compared(step):
                row.masked += 1
            elif sides.is_compared(step):
                label = f'the request in "{file}"'
                row.captured += row.attempt(label, partial(sides.ask, step, request))
        if row.verdict == "not compared" and not row.uncompared:
            hint = "put an xr.yaml beside the Composition, or its XRD"
            row.uncompared[Diagnostic(message="no XR is at hand", hint=hint)] += 1

    def _compare_xrs(self, sides: Versions) -> None:
        """Compare the requests of XRs at hand, and of those of a dump. Raises FatalError."""
        row = self.row
        # Of a case, the first reconcile.
        for each in chain.from_iterable(islice(runs_, 1) for runs_ in self._plan()):
            row.compared += row.attempt(each.label, partial(sides.run, each.inputs))
        if (dump := self._options.dump) is not None:
            api_version, kind = sides.type
            for xr in map(dump.__getitem__, dump.list_keys((manifests.group(api_version), kind))):
                name = manifests.text_at_machinery(xr, "compositionRef", "name")
                label = f"{manifests.describe(xr)} of the dump"
                if name == row.name:
                    row.compared += row.attempt(label, partial(self._run_live, sides, dump, xr))
                elif not name:
                    # It may get this Composition.
                    row.uncompared[Diagnostic(message=f"{label} has no compositionRef yet")] += 1

    def _plan(self) -> Iterator[xr_runs.Reconciles]:
        programs = local_pool.programs_beside(file_of(self._document))
        limits = Limits().with_root(programs and programs.resolve())
        inputs = []
        for each in step_inputs.find_ours(self._document):
            # The comparison reports an input that cannot be parsed.
            with suppress(FatalError):
                inputs.append((each, step_inputs.parse(each, limits)))
        subject = xr_runs.Subject(
            document=self._document,
            inputs=inputs,
            xrd=self._xrd,
            programs=programs,
            project=self._options.project,
            max_examples=None,
        )
        return xr_runs.plan(subject, self._options.variants)

    def _run_live(self, sides: Versions, dump: Dump, xr: Object, comparison: Comparison) -> None:
        """Compare the requests of an XR of the dump. Raises FatalError or UnknownError."""
        composition, live = self._document.value, [*dump.find_observed(xr).values()]
        inputs = RenderInputs(
            xr=xr, composition=composition, observed=live, xrd=self._xrd, cluster=dump
        )
        # What steps require is known after the run; an XR that lacks some of it is not compared.
        for requirements in sides.run(inputs, comparison):
            if dump.check(inputs, requirements):
                raise UnknownError("a step gets a Secret, which the dump has masked")
