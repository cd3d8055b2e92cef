"""Run scripts: ``main(req)`` gets the request and returns a response, both as dicts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias, cast

import orjson
import starlark

from function_script.engines.starlark import (
    bridge,
    build,
    deferral,
    dialect,
    error_positions,
    errors,
    predeclared,
    tracing,
)
from function_script.engines.starlark.analysis import keys
from function_script.request.limits import Limits
from function_script.request.program import DeferredResource, Lazy, Program, Scope, ScriptResult
from function_script.request.values import Object
from function_script.texts.errors import (
    DocumentError,
    FatalError,
    InputError,
    LimitError,
    ProgramError,
)
from function_script.texts.source import Span

Places: TypeAlias = Mapping[tuple[str | int, ...], Span | None]


def evaluate(program: Program, scope: Scope, limits: Limits) -> ScriptResult:
    """Run ``main`` with the scope's request; raises FatalError."""
    options = dialect.options(limits)
    script = build.script(program, limits, options)
    request = _request(scope)
    text = _to_json(script.reach.select(request))
    withheld: Sequence[DeferredResource] = ()
    try:
        with predeclared.SeededRun(scope):
            if program.options.get("missing") == "Defer":
                run = deferral.DeferredEvaluation(script, text, limits, options)
                reply, withheld = run.whole(request)
            else:
                reply = bridge.call(script.wrapped, text, options)
    except starlark.StarlarkError as error:
        raised = errors.take_raised()
        rerun = partial(_error_text, scope=scope, text=text, limits=limits, options=options)
        message = error_positions.correct_position(str(error), program, rerun)
        raise errors.failed(
            message, script.main, script.sources, request, limits, raised=raised
        ) from error
    result = _result(reply, script, limits, text, partial(_trace, program, scope, limits))
    return replace(result, withheld=withheld) if withheld else result


def _trace(program: Program, scope: Scope, limits: Limits, request: str, reply: str) -> Places:
    """Return the places of what `main` has returned; see `tracing.trace`."""
    options = dialect.brief(dialect.options(limits))
    with predeclared.SeededRun(scope):
        return tracing.trace(program, request, orjson.loads(reply), limits, options)


def _error_text(
    program: Program, *, scope: Scope, text: str, limits: Limits, options: starlark.EvalOptions
) -> str:
    """Run the program briefly and return the text of its error; "" when it does not fail."""
    brief = dialect.brief(options)
    try:
        with predeclared.SeededRun(scope):
            bridge.call(build.silent(program, limits, brief).wrapped, text, brief)
    except starlark.StarlarkError as error:
        errors.take_raised()
        return str(error)
    except FatalError:
        # The longer text may be too long, or the top level takes all the time there is.
        return ""
    return ""


def check(program: Program, limits: Limits) -> None:
    """Build the script, which runs its top level but not ``main``; raises FatalError."""
    options = dialect.options(limits)
    try:
        build.script(program, limits, options)
    except ProgramError as error:
        problems = build.find_problems(program, limits, options)
        raise ProgramError(*(problems or error.diagnostics)) from error


def unused_modules(program: Program, limits: Limits) -> tuple[str, ...]:
    """Return the names of modules that no load statement leads to."""
    used = build.script(program, limits, dialect.options(limits)).sources
    return tuple(name for name, source in program.modules.items() if source.name not in used)


def _request(scope: Scope) -> Lazy:
    """Return the argument of ``main``: the request's parts, and ``params``."""
    parts = scope.request.memo
    return Lazy.of(
        (*scope.request, "params"),
        lambda name: scope.params if name == "params" else parts[name],
    )


def _to_json(request: Object) -> str:
    try:
        return orjson.dumps(request).decode()
    except orjson.JSONEncodeError as error:
        if "Recursion" in str(error):
            raise LimitError.of("cannot run main: the request is nested too deeply") from error
        raise InputError.of(f"cannot hand the request to main: {error}") from error


def _result(
    reply: str,
    script: build.Script,
    limits: Limits,
    request: str,
    trace: Callable[[str, str], Places],
) -> ScriptResult:
    size = len(reply) if reply.isascii() else len(reply.encode())
    if size > limits.output_bytes:
        raise LimitError.of(
            f"cannot read the result of main: {size:,} bytes of JSON "
            f"are more than the limit of {limits.output_bytes:,}",
            limit="output",
        )
    # The bridge writes each desired resource on a line of its own, after a brace or a comma.
    before, *lines = reply.split("\n")
    after = "{" + lines.pop() if lines else ""
    try:
        value = cast("Object", orjson.loads(before + after))
    except orjson.JSONDecodeError as error:
        raise DocumentError.of(f"cannot read the result of main: {error}") from error
    return ScriptResult(
        value=value,
        span=script.span,
        resources=[line[1:] for line in lines],
        locate=lambda path: keys.find(tuple(path), script.sources.values()) or script.span,
        mentions=lambda word: any(
            word in text for text in (request, *(each.text for each in script.sources.values()))
        ),
        trace=partial(trace, request, reply),
    )
