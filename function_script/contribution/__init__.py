"""One step's contribution to the response, read from the result of its program.

A script's response and a template's documents become the same `Contribution`, through the same
readers. `desired.merge` merges it into desired state.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Final, TypeAlias

from function_script import documents
from function_script.contribution import (
    deferral,
    from_documents,
    from_response,
    gotemplating,
    lint,
    predictable_secrets,
)
from function_script.contribution.desired_resource import (
    Deferred,
    Dependency,
    DesiredResource,
    ResourcePolicy,
)
from function_script.contribution.dialects import SCRIPT
from function_script.contribution.model import Composite, Contribution, enforce_limits
from function_script.request import objects
from function_script.request.cache import ByteLruCache
from function_script.request.limits import Limits
from function_script.request.objects import Path
from function_script.request.program import Scope, ScriptResult, TemplateResult
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import DocumentError
from function_script.texts.problems import Problem, ProblemList

__all__ = [
    "Composite",
    "Contribution",
    "Deferred",
    "Dependency",
    "DesiredResource",
    "ResourcePolicy",
    "read",
]

# To find the position of one takes a fraction of a millisecond; a line has room for about ten.
_MAX_PROBLEMS: Final = 100
_XR: Final[Path] = ("desired", "composite", "resource")
_RESOURCES: Final[Path] = ("desired", "resources")
DIALECTS = {"script": SCRIPT, "gotemplating": gotemplating.GO_TEMPLATING}


# All that determines a contribution, unless its ``reads_xr`` is true: the text, the prefix of
# annotations, the XR's type, and the limits.
_Key: TypeAlias = tuple[str, str, tuple[str, str], tuple[int, int, int]]
# Contributions by the whole rendered text. Between two reconciles mostly nothing changes, and a
# template renders the same text. Then it is not even split into documents.
# Most of a contribution is shared with the cache of documents: see `documents.stream` for sizes.
_CACHE_BYTES: Final = 8 << 20
_BYTES_PER_CHARACTER: Final = 12
_cache: ByteLruCache[_Key, Contribution] = ByteLruCache(_CACHE_BYTES, is_of_requests=True)


def read(
    result: TemplateResult | ScriptResult,
    scope: Scope,
    limits: Limits,
    dialect: str = "script",
    input_warnings: Sequence[Diagnostic] = (),
) -> Contribution:
    """Read the contribution of a result; raise DocumentError with the problems in it.

    ``dialect`` is a key of DIALECTS, for a template's documents. ``input_warnings`` become results
    in the dialect of function-go-templating.
    """
    if isinstance(result, ScriptResult):
        contribution = _read_script(result, scope)
    else:
        contribution = _read_documents(result, scope, limits, dialect, input_warnings)
    if scope.random_texts:
        contribution = predictable_secrets.warn(contribution, scope.random_texts)
    return enforce_limits(contribution)


def _read_documents(
    result: TemplateResult,
    scope: Scope,
    limits: Limits,
    dialect: str,
    input_warnings: Sequence[Diagnostic],
) -> Contribution:
    rules = DIALECTS[dialect]
    deferred: tuple[Deferred, ...] = ()
    if result.gaps:
        result, deferred = deferral.split_deferred(result, scope.xr, rules, limits)
    bounds = (limits.documents, limits.nodes, limits.depth)
    key = result.text, rules.annotations.prefix, objects.api_version_and_kind(scope.xr), bounds
    contribution = _cache.get(key)
    if contribution is None:
        stream = documents.read_stream(
            result.text,
            locate=result.locate,
            explain=result.explain,
            trace=result.trace,
            limits=limits,
            lenient=rules.is_lenient,
        )
        contribution = from_documents.read_documents(stream, scope.xr, rules)
        # Spans and warnings hold positions of the run that rendered the text.
        if not (contribution.policy_spans or contribution.results or contribution.reads_xr):
            _cache.put(key, contribution, len(result.text) * _BYTES_PER_CHARACTER)
    if deferred:
        deferral.check_names(deferred, contribution)
        contribution = replace(contribution, deferred=deferred)
    if dialect == "gotemplating":
        extra = gotemplating.extra_context(scope, input_warnings)
        contribution = from_documents.merge_parts([extra, contribution])
    if warnings := lint.text_warnings(result, contribution.composed):
        # The cause comes before what it makes invalid.
        contribution = replace(contribution, results=warnings + contribution.results)
    return contribution


def _read_script(result: ScriptResult, scope: Scope) -> Contribution:
    problems = ProblemList()
    leftovers: list[lint.PlacedLeftover] = []
    contribution = from_response.read_response(result.value, problems, result.resources, leftovers)
    deferred: tuple[Deferred, ...] = ()
    if result.withheld:
        deferred = tuple(from_response.read_deferred(each, problems) for each in result.withheld)
    if problems:
        raise DocumentError(
            *(_diagnose(problem, result) for problem in islice(problems, _MAX_PROBLEMS))
        )
    warnings = lint.value_warnings(result, leftovers)
    xr = objects.find_path(result.value, _XR)
    if isinstance(xr, dict) and lint.reads_xr(xr):
        warnings += lint.ignored_field_warnings(
            xr, scope.xr, lambda below: result.locate((*_XR, *below))
        )
    warnings += lint.kind_warnings(
        contribution.composed,
        lambda name, below: result.locate((*_RESOURCES, name, "resource", *below)),
    )
    if warnings:
        contribution = replace(contribution, results=contribution.results + warnings)
    policies = {
        name: entry.policy
        for name, entry in contribution.composed.items()
        if entry.policy is not None
    }
    if not policies and not deferred:
        return contribution
    return replace(
        contribution,
        policy_spans={
            name: partial(
                result.locate,
                # The field of the policy that its errors are about.
                (*_RESOURCES, name, "depends_on" if policy.depends_on else "moved_from"),
            )
            for name, policy in policies.items()
        },
        deferred=deferred,
    )


def _diagnose(problem: Problem, result: ScriptResult) -> Diagnostic:
    path = objects.read_path(problem.path)
    diagnostic = problem.to_diagnostic("main returned ", result.locate(path))
    return replace(diagnostic, hint=result.explain_null(path, diagnostic.hint))
