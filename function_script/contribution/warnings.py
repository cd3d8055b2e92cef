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
    from function_script.documents import Document
    from function_script.fields import Problems
    from function_script.program import Rendered
    from function_script.values import Object

# What Go's templates write for a value that is not there.
_NO_VALUE: Final = "<no value>"
_MAX_PLACES: Final = 3
# These say which object it is.
_IDENTITY: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
_IDENTITY_METADATA: Final = frozenset({"name", "namespace", "annotations"})


def of_text(result: Rendered) -> tuple[wire.Result, ...]:
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
    return tuple(wire.Result(enums.SEVERITY_WARNING, text, "MissingValue") for text in told)


def of_names(resource_name: str, found: Problems) -> tuple[wire.Result, ...]:
    """Names and labels with which the API server refuses a composed resource."""
    lead = f'resource "{resource_name}"'
    return tuple(
        wire.Result(
            enums.SEVERITY_WARNING,
            to_line((Diagnostic(message=f"{lead}: {text}", hint=hint),)),
            "BadName",
        )
        for text, hint in found.texts
    )


def of_composite(document: Document, xr: Object) -> tuple[wire.Result, ...]:
    """Fields of an XR's document that say otherwise than the XR: only its status is taken."""
    value = document.value
    if objects.api_version_and_kind(value) != objects.api_version_and_kind(xr):
        return ()
    lost = [key for key in value if key not in _IDENTITY and value[key] != xr.get(key)]
    written, known = value.get("metadata"), xr.get("metadata")
    if isinstance(written, dict):
        known = known if isinstance(known, dict) else {}
        lost += [
            f"metadata.{key}"
            for key in written
            if key not in _IDENTITY_METADATA and written[key] != known.get(key)
        ]
    if not lost:
        return ()
    problem = Diagnostic(
        message=f"of the XR only status can be set, not {', '.join(sorted(lost))}",
        span=document.span(objects.parse_path(min(lost))),
    )
    return (wire.Result(enums.SEVERITY_WARNING, to_line((problem,)), "IgnoredFields"),)
