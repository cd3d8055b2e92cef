"""What one step adds to the response, read from what its program produced.

The main path calls ``read`` with an engine's result. A script's dict and a template's documents
end in the same Contribution, by the same readers; merging it is somebody else's work.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from function_script import documents
from function_script.contribution import deferral, peer, remembered, reported, warnings
from function_script.contribution.composed import Composed
from function_script.contribution.dialects import OURS
from function_script.contribution.places import path_of
from function_script.contribution.rendered import combined, from_documents
from function_script.contribution.returned import from_response
from function_script.contribution.shapes import (
    Composite,
    Contribution,
    Deferred,
    Dependency,
    Order,
)
from function_script.diagnostics import Diagnostic
from function_script.errors import DocumentError
from function_script.fields import Problems
from function_script.program import Rendered, Returned

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from function_script.contribution.dialects import Dialect
    from function_script.limits import Limits
    from function_script.objects import Path
    from function_script.program import Scope
    from function_script.source import Span
    from function_script.values import Object

__all__ = [
    "Composed",
    "Composite",
    "Contribution",
    "Deferred",
    "Dependency",
    "Order",
    "read",
]

DIALECTS = {"script": OURS, "gotemplating": peer.PEER}


def read(
    result: Rendered | Returned,
    scope: Scope,
    limits: Limits,
    dialect: str = "script",
    doubts: Sequence[Diagnostic] = (),
) -> Contribution:
    """What ``result`` adds; raises DocumentError with every problem in it.

    ``doubts`` are the input's: they become warnings.
    """
    problems = Problems()
    if isinstance(result, Returned):
        wanted = from_response(result.value, problems, result.resources)
        _refuse(problems, "main returned ", lambda path: _returned_at(result, path))
        return _with_order(reported.bounded(wanted), result)
    text = result.text
    deferred: tuple[Deferred, ...] = ()
    if result.gaps:
        text, deferred = deferral.take_out(result, scope.xr, DIALECTS[dialect], limits)
    wanted = _from_text(text, result.locate, scope.xr, DIALECTS[dialect], limits)
    if deferred:
        deferral.check_names(deferred, wanted)
        wanted = replace(wanted, deferred=deferred)
    if dialect == "gotemplating":
        wanted = combined([peer.around(scope, doubts), wanted])
    if warned := warnings.of_text(result):
        wanted = replace(wanted, results=wanted.results + warned)
    return reported.bounded(wanted)


def _from_text(
    text: str, locate: Callable[[int], Span | None], xr: Object, dialect: Dialect, limits: Limits
) -> Contribution:
    key = remembered.key_of(text, xr, dialect, limits)
    wanted = remembered.find(key)
    if wanted is None:
        stream = documents.read_stream(text, locate=locate, limits=limits, lenient=dialect.lenient)
        wanted = from_documents(stream, xr, dialect, locate)
        remembered.keep(key, wanted)
    return wanted


def _with_order(wanted: Contribution, result: Returned) -> Contribution:
    ordered = [name for name, entry in wanted.composed.items() if entry.order is not None]
    if not ordered and not result.withheld:
        return wanted
    path = ("desired", "resources")
    return replace(
        wanted,
        places={
            name: partial(_returned_at, result, (*path, name, "depends_on")) for name in ordered
        },
        deferred=tuple(
            Deferred(name=each.name, subject=each.name, missing=each.missing, span=each.span)
            for each in result.withheld
        ),
    )


def _returned_at(result: Returned, path: Path) -> Span | None:
    return result.span if result.locate is None else result.locate(path)


def _refuse(problems: Problems, prefix: str, locate: Callable[[Path], Span | None]) -> None:
    if problems.texts:
        raise DocumentError(
            *(
                Diagnostic(message=f"{prefix}{text}", span=locate(path_of(text)), hint=hint)
                for text, hint in problems.texts
            )
        )
