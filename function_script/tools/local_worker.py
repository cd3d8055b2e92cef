"""The handler of the sandbox workers of the author's tools.

It answers as the function does, and a request that ends in a mark with the positions of all values,
with the text that a template renders to, before it is read as YAML, with the branches of the
program, or with the problems behind its Warnings. The directory of programs in files may be in
front of a request. A server has another handler, and so no request asks it for them.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from function_script import contribution, documents, inputs, wire
from function_script.contribution import DIALECTS, deferral, lint
from function_script.request import objects
from function_script.request.limits import EffectiveLimits, Limits
from function_script.request.objects import Path
from function_script.request.program import Scope, ScriptResult, TemplateResult
from function_script.sandbox import report
from function_script.step import function, moves, requirements
from function_script.step.function import MissingContentError
from function_script.step.sequencing import withholding
from function_script.step.telemetry import Answered
from function_script.texts import redaction
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError, InputError
from function_script.texts.source import Span
from function_script.tools import worker_marks
from function_script.wire import enums

# By resource name, and None for the XR: the path of each field, from the object's root on. A field
# that is not there came with the nearest one above it; of one with None nothing is known. All are
# in the program's own texts.
_Positions: TypeAlias = dict[str | None, dict[Path, Span | None]]

_STATUS: Final[Path] = ("status",)
_RESOURCES: Final[Path] = ("desired", "resources")
_COMPOSITE: Final[Path] = ("desired", "composite", "resource")


def handle(
    data: bytes, limits: Limits, on_limits: Callable[[Limits], None], seed: bytes = b""
) -> Answered:
    """Answer a request; see `function.handle`.

    Positions are JSON: the name of each resource, null for the XR, with pairs of a path and a span,
    which may be null. A text is UTF-8. Branches are JSON: a list of spans, each with the number of
    the last line and whether the run reached it. Warnings are a report. No bytes: the program
    cannot run.
    """
    root, data = worker_marks.take_root(data)
    if root is not None:
        limits = limits.with_root(root)
    effective = EffectiveLimits(limits, on_limits)
    try:
        for mark, answer in _ANSWERS.items():
            if data.endswith(mark):
                request, step = _parse(data.removesuffix(mark), limits, effective)
                return Answered(response=answer(request, step, seed))
        return function.handle(data, limits, on_limits, seed)
    except MissingContentError as error:
        return Answered(response=b"", missing=error.missing)
    except FatalError as error:
        return Answered(response=b"", diagnostics=effective.attribute(error).diagnostics)


def _parse(
    data: bytes, ceilings: Limits, effective: EffectiveLimits
) -> tuple[wire.Request, inputs.Step]:
    request = wire.index_request(data)
    step = inputs.parse_cached(request.input or b"", ceilings, function.external_sources(request))
    if step.missing:
        raise MissingContentError.of_step(step)
    effective.narrow(step.limits)
    return request, step


def _locate(request: wire.Request, step: inputs.Step, seed: bytes) -> bytes:
    run = _run(request, step, seed)
    if isinstance(run.result, ScriptResult):
        spans = _find_in_script(run.result, run.output.composed)
    else:
        spans = _find_in_documents(run.result, run.scope, step.limits, step.dialect)
    entries = [
        [
            name if name is None else run.view.old_names.get(name, name),
            [[path, span and _to_list(span)] for path, span in below.items()],
        ]
        for name, below in spans.items()
    ]
    return json.dumps(entries).encode()


def _find_warnings(request: wire.Request, step: inputs.Step, seed: bytes) -> bytes:
    run = _run(request, step, seed)
    output = redaction.redact_warnings(run.output, request)
    results = withholding.apply(run.view.request, output, step).results
    problems = (
        each.problem or Diagnostic(message=each.message)
        for each in results
        if each.severity == enums.SEVERITY_WARNING and each.reason in lint.REASONS
    )
    return report.to_bounded_json(Answered(response=b"", diagnostics=tuple(problems)))


def _find_in_documents(
    result: TemplateResult, scope: Scope, limits: Limits, dialect: str
) -> _Positions:
    rules = DIALECTS[dialect]
    if result.gaps:
        result, _ = deferral.split_deferred(result, scope.xr, rules, limits)
    stream = documents.read_stream(
        result.text,
        locate=result.locate,
        trace=result.trace,
        limits=limits,
        lenient=rules.is_lenient,
    )
    positions: _Positions = {}
    for document in stream:
        kinds = objects.api_version_and_kind(document.value)
        annotations = objects.find_path(document.value, ("metadata", "annotations"))
        if kinds[0] == rules.meta_api_version:
            continue
        if isinstance(annotations, Mapping) and rules.annotations.name in annotations:
            # Of two documents with one name the last counts.
            positions[str(annotations[rules.annotations.name])] = {**document.spans()}
        elif kinds == objects.api_version_and_kind(scope.xr):
            # The statuses of several documents are merged.
            status = positions.setdefault(None, {})
            status |= {path: span for path, span in document.spans().items() if path[:1] == _STATUS}
    return positions


def _find_in_script(result: ScriptResult, names: Iterable[str]) -> _Positions:
    spans = result.trace()
    roots: dict[str | None, Path] = {name: (*_RESOURCES, name, "resource") for name in names}
    roots[None] = _COMPOSITE
    positions: _Positions = {}
    for name, root in roots.items():
        # The script may have the whole object, or all objects, from elsewhere.
        above = (root[:end] for end in range(len(root), 0, -1))
        whole = next((spans[path] for path in above if path in spans), None)
        positions[name] = {} if whole is None else {(): whole}
    for path, span in spans.items():
        match path:
            case ("desired", "resources", str(name), "resource", *below):
                positions[name][tuple(below)] = span
            case ("desired", "composite", "resource", *below):
                positions[None][tuple(below)] = span
            case _:
                pass
    return positions


def _to_list(span: Span) -> list[str | int | None]:
    return [span.name, span.line, span.column, span.width]


class _Run(NamedTuple):
    """A run of a program: what it gets, and what it makes of that."""

    view: moves.View
    scope: Scope
    result: TemplateResult | ScriptResult
    output: contribution.Contribution


def _run(request: wire.Request, step: inputs.Step, seed: bytes) -> _Run:
    run = _evaluate(request, step, moves.build_view(request), seed)
    if new_moves := moves.find_moves(run.view, run.output):
        # The program does not know the new names yet.
        run = _evaluate(request, step, moves.with_moves(run.view, new_moves), seed)
    return run


def _evaluate(request: wire.Request, step: inputs.Step, view: moves.View, seed: bytes) -> _Run:
    scope = function.scope_of(view.request, step, seed)
    if _find_missing(request, step, scope):
        raise InputError.of("what the step requires is not in the request")
    result = step.language.engine.evaluate(step.program, scope, step.limits)
    output = contribution.read(result, scope, step.limits, step.dialect, step.doubts)
    return _Run(view, scope, result, output)


def _find_missing(request: wire.Request, step: inputs.Step, scope: Scope) -> Sequence[str]:
    """Return the names of what the step requires and the request lacks."""
    return requirements.unresolved(requirements.resolve(step, scope, request), request)


def _find_branches(request: wire.Request, step: inputs.Step, seed: bytes) -> bytes:
    scope = function.scope_of(moves.build_view(request).request, step, seed)
    if not step.language.has_branches:
        return b""
    # A program whose requirements are not there yet does not run.
    is_run = not _find_missing(request, step, scope)
    branches = step.language.find_branches(step.program, scope, step.limits) if is_run else []
    entries = [[_to_list(each.span), each.last_line, each.is_reached] for each in branches]
    return json.dumps(entries).encode()


def _render(request: wire.Request, step: inputs.Step, seed: bytes) -> bytes:
    scope = function.scope_of(request, step, seed)
    if missing := _find_missing(request, step, scope):
        raise InputError.of(
            f'cannot render: "{missing[0]}" is required, and not in the data',
            hint="put what would be fetched under required_resources; no items: nothing was found",
        )
    result = step.language.engine.evaluate(step.program, scope, step.limits)
    if not isinstance(result, TemplateResult):
        raise InputError.of(f"cannot show the text of a {step.kind}: it renders none")
    return result.text.encode()


_ANSWERS: Final[dict[bytes, Callable[[wire.Request, inputs.Step, bytes], bytes]]] = {
    worker_marks.POSITIONS: _locate,
    worker_marks.TEXT: _render,
    worker_marks.BRANCHES: _find_branches,
    worker_marks.WARNINGS: _find_warnings,
}
