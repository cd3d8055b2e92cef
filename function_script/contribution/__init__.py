"""One step's contribution to the response, read from the result of its program.

A script's response and a template's documents become the same `Contribution`, through the same
readers. `desired.merge` merges it into desired state.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from function_script import documents, objects, wire
from function_script.contribution import (
    cache,
    deferral,
    gotemplating,
    lint,
    predictable_secrets,
    result_limits,
)
from function_script.contribution.desired_resource import DesiredResource
from function_script.contribution.dialects import SCRIPT
from function_script.contribution.from_documents import from_documents, merge_parts
from function_script.contribution.from_response import from_response
from function_script.contribution.model import Composite, Contribution, DeferredDocument
from function_script.contribution.ordering import Dependency, ResourcePolicy
from function_script.diagnostics import Diagnostic
from function_script.errors import DocumentError
from function_script.limits import Limits
from function_script.objects import Path
from function_script.problems import ProblemList
from function_script.program import Scope, ScriptResult, TemplateResult
from function_script.source import Span

__all__ = [
    "Composite",
    "Contribution",
    "DeferredDocument",
    "Dependency",
    "DesiredResource",
    "ResourcePolicy",
    "read",
]

DIALECTS = {"script": SCRIPT, "gotemplating": gotemplating.GO_TEMPLATING}


def read(
    result: TemplateResult | ScriptResult,
    scope: Scope,
    limits: Limits,
    dialect: str = "script",
    input_warnings: Sequence[Diagnostic] = (),
) -> Contribution:
    """Read the contribution of a result; raise DocumentError with all problems in it.

    ``dialect`` is a key of DIALECTS, for a template's documents. ``input_warnings`` become results
    in the dialect of function-go-templating.
    """
    if isinstance(result, ScriptResult):
        contribution = _read_script(result, scope)
    else:
        contribution = _read_documents(result, scope, limits, dialect, input_warnings)
    if warnings := lint.kind_warnings(contribution.composed):
        contribution = replace(contribution, results=contribution.results + warnings)
    if scope.random_texts:
        contribution = predictable_secrets.warn(contribution, scope.random_texts)
    return result_limits.enforce(contribution)


def _read_documents(
    result: TemplateResult,
    scope: Scope,
    limits: Limits,
    dialect: str,
    input_warnings: Sequence[Diagnostic],
) -> Contribution:
    rules = DIALECTS[dialect]
    text = result.text
    deferred: tuple[DeferredDocument, ...] = ()
    if result.gaps:
        text, deferred = deferral.split_deferred(result, scope.xr, rules, limits)
    key = cache.key_of(text, scope.xr, rules, limits)
    contribution = cache.get(key)
    if contribution is None:
        stream = documents.read_stream(
            text,
            locate=result.locate,
            explain=result.explain,
            limits=limits,
            lenient=rules.is_lenient,
        )
        contribution = from_documents(stream, scope.xr, rules, result.locate)
        cache.put(key, contribution)
    if deferred:
        deferral.check_names(deferred, contribution)
        contribution = replace(contribution, deferred=deferred)
    if dialect == "gotemplating":
        extra = gotemplating.extra_context(scope, input_warnings)
        contribution = merge_parts([extra, contribution])
    if warnings := lint.text_warnings(result):
        contribution = replace(contribution, results=contribution.results + warnings)
    return contribution


def _read_script(result: ScriptResult, scope: Scope) -> Contribution:
    problems = ProblemList()
    contribution = from_response(result.value, problems, result.resources)
    _refuse(problems, "main returned ", lambda path: _returned_at(result, path))
    if warnings := lint.value_warnings(result) + _ignored_field_warnings(result, scope):
        contribution = replace(contribution, results=contribution.results + warnings)
    names = [name for name, entry in contribution.composed.items() if entry.policy is not None]
    if not names and not result.withheld:
        return contribution
    path = ("desired", "resources")
    return replace(
        contribution,
        policy_spans={
            name: partial(_returned_at, result, (*path, name, _policy_field(contribution, name)))
            for name in names
        },
        deferred=tuple(
            DeferredDocument(
                name=resource.name,
                subject=resource.name,
                missing=resource.missing,
                span=resource.span,
                moved_from=resource.moved_from,
            )
            for resource in result.withheld
        ),
    )


def _policy_field(contribution: Contribution, name: str) -> str:
    """Return the field of a resource's policy that its errors are about."""
    policy = contribution.composed[name].policy
    return "moved_from" if policy is not None and not policy.depends_on else "depends_on"


def _ignored_field_warnings(result: ScriptResult, scope: Scope) -> tuple[wire.Result, ...]:
    path = ("desired", "composite", "resource")
    resource = objects.find_path(result.value, path)
    if not isinstance(resource, dict) or not lint.reads_xr(resource):
        return ()
    return lint.ignored_field_warnings(
        resource, scope.xr, lambda below: _returned_at(result, (*path, *below))
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
