"""What one step adds to the response, read from what its program produced.

The main path calls ``read`` with an engine's result. A script's dict and a template's documents
end in the same Contribution, by the same readers; merging it is somebody else's work.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from function_script import documents, objects
from function_script.contribution import cache, deferral, gotemplating, lint, reported
from function_script.contribution.desired_resource import DesiredResource
from function_script.contribution.dialects import OURS
from function_script.contribution.from_documents import from_documents, merge_parts
from function_script.contribution.from_response import from_response
from function_script.contribution.model import (
    Composite,
    Contribution,
    DeferredDocument,
    Dependency,
    ResourcePolicy,
)
from function_script.errors import DocumentError
from function_script.problems import ProblemList
from function_script.program import ScriptResult, TemplateResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from function_script.contribution.dialects import Dialect
    from function_script.diagnostics import Diagnostic
    from function_script.limits import Limits
    from function_script.objects import Path
    from function_script.program import Scope
    from function_script.source import Span
    from function_script.values import Object

__all__ = [
    "Composite",
    "Contribution",
    "DeferredDocument",
    "Dependency",
    "DesiredResource",
    "ResourcePolicy",
    "read",
]

DIALECTS = {"script": OURS, "gotemplating": gotemplating.PEER}


def read(
    result: TemplateResult | ScriptResult,
    scope: Scope,
    limits: Limits,
    dialect: str = "script",
    doubts: Sequence[Diagnostic] = (),
) -> Contribution:
    """What ``result`` adds; raises DocumentError with every problem in it.

    ``doubts`` are the input's: they become warnings.
    """
    problems = ProblemList()
    if isinstance(result, ScriptResult):
        wanted = from_response(result.value, problems, result.resources)
        _refuse(problems, "main returned ", lambda path: _returned_at(result, path))
        return _with_order(reported.bounded(wanted), result)
    text = result.text
    deferred: tuple[DeferredDocument, ...] = ()
    if result.gaps:
        text, deferred = deferral.split_deferred(result, scope.xr, DIALECTS[dialect], limits)
    wanted = _from_text(text, result.locate, scope.xr, DIALECTS[dialect], limits)
    if deferred:
        deferral.check_names(deferred, wanted)
        wanted = replace(wanted, deferred=deferred)
    if dialect == "gotemplating":
        wanted = merge_parts([gotemplating.extra_context(scope, doubts), wanted])
    if warned := lint.of_text(result):
        wanted = replace(wanted, results=wanted.results + warned)
    return reported.bounded(wanted)


def _from_text(
    text: str, locate: Callable[[int], Span | None], xr: Object, dialect: Dialect, limits: Limits
) -> Contribution:
    key = cache.key_of(text, xr, dialect, limits)
    wanted = cache.find(key)
    if wanted is None:
        stream = documents.read_stream(text, locate=locate, limits=limits, lenient=dialect.lenient)
        wanted = from_documents(stream, xr, dialect, locate)
        cache.keep(key, wanted)
    return wanted


def _with_order(wanted: Contribution, result: ScriptResult) -> Contribution:
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
            DeferredDocument(
                name=each.name, subject=each.name, missing=each.missing, span=each.span
            )
            for each in result.withheld
        ),
    )


def _returned_at(result: ScriptResult, path: Path) -> Span | None:
    return result.span if result.locate is None else result.locate(path)


def _refuse(problems: ProblemList, prefix: str, locate: Callable[[Path], Span | None]) -> None:
    if problems:
        raise DocumentError(
            *(
                problem.to_diagnostic(prefix, locate(objects.read_path(problem.path)))
                for problem in problems
            )
        )
