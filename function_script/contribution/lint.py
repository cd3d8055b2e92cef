"""Warnings for what a template renders that is valid and yet a mistake.

Crossplane makes an event of the XR of each warning.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

from function_script import wire
from function_script.contribution.desired_resource import DesiredResource
from function_script.documents.rendered_lines import Rendering
from function_script.engines import kubernetes_kinds, leftovers
from function_script.request import objects
from function_script.request.objects import Path
from function_script.request.program import ScriptResult, TemplateResult
from function_script.request.reader import format_path
from function_script.request.values import Object, Value
from function_script.texts.diagnostics import Diagnostic, to_line
from function_script.texts.problems import ProblemList
from function_script.texts.source import Span
from function_script.wire import enums

_MAX_SPANS: Final = 3
_DOUBTFUL: Final = "Doubtful"
_BAD_NAME: Final = "BadName"
_IGNORED_FIELDS: Final = "IgnoredFields"
_MISSING_VALUE: Final = "MissingValue"
QUOTING: Final = frozenset({_DOUBTFUL, _BAD_NAME, _IGNORED_FIELDS, _MISSING_VALUE})
"""The reasons of warnings that may quote a program's text, and so need redaction."""
PREDICTABLE: Final = "PredictableSecret"
REASONS: Final = QUOTING | {PREDICTABLE}
"""The reasons of all warnings of this package about a program's result."""
# A field of every managed resource. Without a schema nothing else finds it outside of spec.
_OF_SPEC: Final = "forProvider"
_DESIRED: Final[Path] = ("desired",)
_RESOURCES: Final[Path] = ("desired", "resources")
# The fields that identify the XR, and its status: a document may have them without a loss.
_IDENTITY: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
_IDENTITY_METADATA: Final = frozenset({"name", "namespace", "annotations"})


class PlacedLeftover(NamedTuple):
    """A leftover in a script's result, and the path of its text."""

    leftover: leftovers.Leftover
    path: Path


def text_warnings(
    result: TemplateResult, composed: Mapping[str, DesiredResource]
) -> tuple[wire.Result, ...]:
    """Warn of missing values and other leftovers in a template's text, three of each at most."""
    rendering = Rendering(result.text, result.trace)
    missing = islice(dict.fromkeys(_find_missing_values(result, composed)), _MAX_SPANS)
    # Values whose later lines became part of another object.
    outdents = rendering.find_outdents(result.outdents) if result.outdents else ()
    problems = (
        *islice(outdents, _MAX_SPANS),
        *_find_leftovers(result, rendering),
        *result.doubts[:_MAX_SPANS],
    )
    return warn(missing, _MISSING_VALUE) + warn(problems)


def _find_missing_values(
    result: TemplateResult, composed: Mapping[str, DesiredResource]
) -> Iterator[Diagnostic]:
    """Name the template's expression and the composed resource of each missing value."""
    for value in result.missing:
        # A comment is in no resource.
        if "#" in result.text[: max(value.offset, 0)].rpartition("\n")[2]:
            continue
        name = _find_resource(result.text, value.offset, composed)
        place = "" if name is None else f', in resource "{name}"'
        yield Diagnostic(
            message=f'"<no value>" was written: {value.missing}{place}',
            hint=value.hint,
            span=value.span,
        )


def _find_resource(text: str, offset: int, composed: Mapping[str, DesiredResource]) -> str | None:
    """Return the composed resource that was read from the document around an offset."""
    for name, entry in composed.items():
        begin = text.find(entry.text)
        if 0 <= begin <= offset < begin + len(entry.text):
            return name
    return None


def _find_leftovers(result: TemplateResult, rendering: Rendering) -> Iterator[Diagnostic]:
    """Yield warnings of leftovers at the expressions or the literal texts that wrote them."""
    lines = result.text.split("\n") if result.list_lines else []
    part = leftovers.LIST.part
    lists = ((leftovers.LIST, each, lines[each - 1].find(part) + 1) for each in result.list_lines)
    for leftover, number, column in islice(chain(leftovers.find(result.text), lists), _MAX_SPANS):
        span = rendering.find_span(number, column, len(leftover.part))
        yield Diagnostic(
            message=leftover.message, hint=leftover.hint, span=span or result.locate(number)
        )


def value_warnings(
    result: ScriptResult, in_resources: Sequence[PlacedLeftover]
) -> tuple[wire.Result, ...]:
    """Warn of values of a script's result that are leftovers of another language.

    ``in_resources`` are those of its ``resources``, the texts that are not in its value.
    """
    places = [*_search(result.value.get("desired"), _DESIRED), *in_resources]
    if not places:
        return ()
    if result.mentions(leftovers.NONE.part):
        places = [place for place in places if place.leftover is not leftovers.NONE]
    problems = [
        Diagnostic(
            message=f"main returned {format_path(path)}: {leftover.message}",
            hint=leftover.hint,
            span=result.locate(path),
        )
        for leftover, path in places[:_MAX_SPANS]
    ]
    return warn(problems)


def find_leftovers(text: str, resources: Object) -> list[PlacedLeftover]:
    """Return the leftovers in members of ``desired.resources``; ``text`` is their JSON."""
    # Most texts have none, and their values are not looked at.
    return _search(resources, _RESOURCES) if leftovers.may_be_in(text) else []


def _search(value: Value, path: Path) -> list[PlacedLeftover]:
    """Return the leftovers in a value: the first ones, with and without `leftovers.NONE`."""
    texts: list[tuple[Path, str]] = []
    _add_texts(value, path, texts)
    places: list[PlacedLeftover] = []
    certain = 0
    for below, text in texts:
        leftover = leftovers.of_value(text)
        if leftover is not None:
            places.append(PlacedLeftover(leftover, below))
            certain += 1
            if certain == _MAX_SPANS:
                break
        elif len(places) < _MAX_SPANS and leftovers.NONE.pattern.search(text):
            places.append(PlacedLeftover(leftovers.NONE, below))
    return places


def _add_texts(value: Value, path: Path, texts: list[tuple[Path, str]]) -> None:
    """Add the texts in a value with their paths, except those of a Composition's programs."""
    if isinstance(value, str):
        texts.append((path, value))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _add_texts(item, (*path, index), texts)
    elif isinstance(value, dict) and value.get("kind") != "Composition":
        for key, item in value.items():
            if isinstance(item, (str, list, dict)):
                _add_texts(item, (*path, key), texts)


def kind_warnings(
    composed: Mapping[str, DesiredResource], locate: Callable[[str, Path], Span | None]
) -> tuple[wire.Result, ...]:
    """Warn of kinds of Kubernetes in an apiVersion that has no such kind, and of a lost spec.

    ``locate`` returns the position of a field of a composed resource.
    """
    problems = []
    for name, entry in composed.items():
        if entry.resource and _OF_SPEC in entry.resource:
            message = f'resource "{name}": {_OF_SPEC} is a field of spec'
            span = locate(name, (_OF_SPEC,))
            problems.append(Diagnostic(message=message, hint="move it into spec", span=span))
        api_version, kind = objects.api_version_and_kind(entry.resource)
        right = kubernetes_kinds.find_api_version(api_version, kind, is_lasting=True)
        if right is not None:
            release = kubernetes_kinds.RELEASE
            message = f'resource "{name}": Kubernetes {release} has no {kind} in {api_version}'
            hint, span = f"write apiVersion: {right}", locate(name, ("apiVersion",))
            problems.append(Diagnostic(message=message, hint=hint, span=span))
    return warn(problems)


def name_warnings(
    resource_name: str, problems: ProblemList, locate: Callable[[Path], Span | None]
) -> tuple[wire.Result, ...]:
    """Warn of names, labels and texts for which the API server will reject a composed resource."""
    lead = f'resource "{resource_name}": '
    located = (
        problem.to_diagnostic(lead, locate(objects.read_path(problem.path))) for problem in problems
    )
    return warn(located, _BAD_NAME)


def ignored_field_warnings(
    value: Object, xr: Object, locate: Callable[[Path], Span | None]
) -> tuple[wire.Result, ...]:
    """Warn of fields of a desired XR that differ from the XR: only its status is taken."""
    metadata, current = _metadata(value), _metadata(xr)
    ignored = [key for key in _changes(value, _IDENTITY) if value[key] != xr.get(key)] + [
        f"metadata.{key}"
        for key in _changes(metadata, _IDENTITY_METADATA)
        if metadata[key] != current.get(key)
    ]
    if not ignored:
        return ()
    problem = Diagnostic(
        message=f"of the XR only status can be set, not {', '.join(sorted(ignored))}",
        span=locate(objects.parse_path(min(ignored))),
        field=min(ignored),
    )
    return warn((problem,), _IGNORED_FIELDS)


def reads_xr(value: Object) -> bool:
    """Report whether `ignored_field_warnings` compares a field of the document with the XR's."""
    return bool(_changes(value, _IDENTITY) or _changes(_metadata(value), _IDENTITY_METADATA))


def warn(problems: Iterable[Diagnostic], reason: str = _DOUBTFUL) -> tuple[wire.Result, ...]:
    """Return a warning of each problem, for one of REASONS."""
    return tuple(
        [
            wire.Result(enums.SEVERITY_WARNING, to_line((problem,)), reason, problem=problem)
            for problem in dict.fromkeys(problems)
        ]
    )


def _metadata(value: Object) -> Object:
    metadata = value.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _changes(value: Object, identity: frozenset[str]) -> list[str]:
    return [key for key in value if key not in identity]
