"""What a template wrote that does not do what anyone wants, though it is no error: as warnings.

Called while its documents are read. Warnings become events of the XR.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from function_script import objects, wire
from function_script.diagnostics import Diagnostic, to_line
from function_script.wire import enums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from function_script.documents import Document
    from function_script.problems import ProblemList
    from function_script.program import TemplateResult
    from function_script.values import Object

# What Go's templates write for a value that is not there.
_NO_VALUE: Final = "<no value>"
_MAX_PLACES: Final = 3
_DOUBTFUL: Final = "Doubtful"
_BAD_NAME: Final = "BadName"
_IGNORED_FIELDS: Final = "IgnoredFields"
_MISSING_VALUE: Final = "MissingValue"
QUOTING: Final = frozenset({_DOUBTFUL, _BAD_NAME, _IGNORED_FIELDS})
"""The reasons of warnings that may quote a text of a program's."""
REASONS: Final = QUOTING | {_MISSING_VALUE}
"""The reasons of all warnings that are made here."""
# These say which object it is.
_IDENTITY: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
_IDENTITY_METADATA: Final = frozenset({"name", "namespace", "annotations"})


def of_text(result: TemplateResult) -> tuple[wire.Result, ...]:
    """Missing values that a Go template wrote, in at most three places."""
    if _NO_VALUE not in result.text:
        return ()
    lines = enumerate(result.text.split("\n"), 1)
    numbers = [number for number, line in lines if _NO_VALUE in line.partition("#")[0]]
    problem = Diagnostic(
        message=f'"{_NO_VALUE}" was written for a value that is missing',
        hint="check the path, give the value a default, or make a missing key an error",
    )
    places = dict.fromkeys(result.locate(number) for number in numbers[:_MAX_PLACES])
    told = [to_line((replace(problem, span=place),)) for place in places]
    return tuple(wire.Result(enums.SEVERITY_WARNING, text, _MISSING_VALUE) for text in told)


def dialect_warnings(doubts: Sequence[Diagnostic]) -> tuple[wire.Result, ...]:
    """What nobody can want: a lenient dialect lets it pass, or Crossplane has no way to do it."""
    return tuple(
        wire.Result(enums.SEVERITY_WARNING, to_line((doubt,)), _DOUBTFUL) for doubt in doubts
    )


def of_names(resource_name: str, found: ProblemList) -> tuple[wire.Result, ...]:
    """Names and labels with which the API server refuses a composed resource."""
    lead = f'resource "{resource_name}"'
    return tuple(
        wire.Result(
            enums.SEVERITY_WARNING, to_line((problem.to_diagnostic(f"{lead}: "),)), _BAD_NAME
        )
        for problem in found
    )


def of_composite(document: Document, xr: Object) -> tuple[wire.Result, ...]:
    """Fields of the XR's document that say otherwise than the XR: only its status is taken."""
    value = document.value
    known = xr.get("metadata")
    known = known if isinstance(known, dict) else {}
    of_metadata = _metadata(value)
    lost = [key for key in _beside(value, _IDENTITY) if value[key] != xr.get(key)] + [
        f"metadata.{key}"
        for key in _beside(of_metadata, _IDENTITY_METADATA)
        if of_metadata[key] != known.get(key)
    ]
    if not lost:
        return ()
    problem = Diagnostic(
        message=f"of the XR only status can be set, not {', '.join(sorted(lost))}",
        span=document.span(objects.parse_path(min(lost))),
    )
    return (wire.Result(enums.SEVERITY_WARNING, to_line((problem,)), _IGNORED_FIELDS),)


def reads_xr(value: Object) -> bool:
    """Whether `of_composite` holds anything in the XR's document against the XR."""
    return bool(_beside(value, _IDENTITY) or _beside(_metadata(value), _IDENTITY_METADATA))


def _metadata(value: Object) -> Object:
    found = value.get("metadata")
    return found if isinstance(found, dict) else {}


def _beside(value: Object, known: frozenset[str]) -> list[str]:
    return [key for key in value if key not in known]
