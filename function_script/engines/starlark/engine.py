"""Run scripts: ``main(req)`` gets the request and returns a response, both as dicts."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Final, TypeAlias, cast

import orjson
import starlark

from function_script.engines.starlark import build, errors, interpreter, predeclared, tracing
from function_script.engines.starlark.analysis import paths
from function_script.engines.starlark.build import Script
from function_script.engines.starlark.errors import WRAPPER
from function_script.request.lazy import Lazy
from function_script.request.limits import Limits
from function_script.request.objects import Path
from function_script.request.program import Program, Scope, ScriptResult, Withheld
from function_script.request.values import Object, Readable
from function_script.texts.errors import (
    DocumentError,
    FatalError,
    InputError,
    LimitError,
    ProgramError,
)
from function_script.texts.source import Span

Places: TypeAlias = Mapping[Path, Span | None]


# Keeps the result of main, so that its functions can be called one by one.
_RESULT: Final = starlark.parse(
    WRAPPER,
    """
load("script", "main")
load("bridge", "as_name", "built", "functions_of", "only", "statements_of", "to_json", "without")

result = built(main(json.decode(request.keys()[0])))

def names():
    return json.encode(functions_of(result))

def statements(name):
    return json.encode(statements_of(result, name))

def one(name, nodes, depth):
    to_json(only(result, name), nodes, depth)

def whole(skipped, nodes, depth):
    return as_name(to_json(without(result, json.decode(skipped)), nodes, depth))
""",
)


def evaluate(program: Program, scope: Scope, limits: Limits) -> ScriptResult:
    """Run ``main`` with the scope's request; raises FatalError."""
    options = interpreter.limited_options(limits)
    script = build.script(program, limits, options)
    request = build_request(scope)
    text = to_json(paths.select(request, script.reach))
    withheld: tuple[Withheld, ...] = ()
    is_deferring = program.options.get("missing") == "Defer"
    try:
        with predeclared.SeededRun(scope):
            if is_deferring:
                run = DeferredEvaluation(script, text, limits, options)
                reply, withheld = run.whole(request)
            else:
                reply = build.call_main(script.wrapped, text, options)
    except starlark.StarlarkError as error:
        # Before the rerun, which may raise another error of ours.
        raised = errors.take_raised()
        rerun = partial(_error_text, scope=scope, text=text, limits=limits, options=options)
        message = interpreter.correct_position(str(error), program, rerun)
        raise errors.failed(
            message,
            script.main,
            script.sources,
            request,
            limits,
            raised=raised,
            is_deferring=is_deferring,
            locate=_locator(program, scope, limits, options, text, None),
        ) from error
    call = partial(_call_again, [each.name for each in withheld], text)
    value, resources = _read(reply, limits)
    return ScriptResult(
        value=value,
        span=script.span,
        resources=resources,
        locate=_locator(program, scope, limits, options, text, script.span),
        mentions=lambda word: any(
            word in each for each in (text, *(each.text for each in script.sources.values()))
        ),
        trace=partial(_trace, program, scope, limits, options, call, reply),
        withheld=withheld,
    )


def _trace(  # noqa: PLR0913, PLR0917 - a run, and its result
    program: Program,
    scope: Scope,
    limits: Limits,
    options: starlark.EvalOptions,
    call: tracing.Call,
    reply: str,
) -> Places:
    """Return the places of what `main` has returned; see `tracing.trace`."""
    with predeclared.SeededRun(scope):
        brief = interpreter.brief_options(options)
        return tracing.trace(program, orjson.loads(reply), limits, brief, call)


def _locator(  # noqa: PLR0913, PLR0917 - a run, and the place of main
    program: Program,
    scope: Scope,
    limits: Limits,
    options: starlark.EvalOptions,
    text: str,
    main: Span | None,
) -> Callable[[Sequence[str | int]], Span | None]:
    """Return a function that finds the place of a value; without one, it is that of main."""

    def part_along(script: Script, path: Path, brief: starlark.EvalOptions) -> str:
        # Nothing of the result is frozen: a value that is nested without a bound has no end there.
        argument = build.key_of(text)
        part = script.wrapped.call_with(brief, "along", argument, json.dumps(path)).value
        return cast("str", part)

    # One script, and the time of one brief run, are for all problems of a result.
    @cache
    def find() -> Callable[[Path], Span | None]:
        return tracing.follow(program, limits, interpreter.brief_options(options), part_along)

    def locate(path: Sequence[str | int]) -> Span | None:
        with predeclared.SeededRun(scope):
            return find()(tuple(path)) or main

    return locate


def _call_again(
    skipped: Sequence[str],
    request: str,
    script: build.Script,
    limits: Limits,
    options: starlark.EvalOptions,
) -> str:
    """Return main's result as JSON, as the first run did: without the deferred resources."""
    if not skipped:
        return build.call_main(script.wrapped, request, options)
    return DeferredEvaluation(script, request, limits, options).without(skipped)


def _error_text(
    program: Program, *, scope: Scope, text: str, limits: Limits, options: starlark.EvalOptions
) -> str:
    """Run the program briefly and return the text of its error; "" when it does not fail."""
    brief = interpreter.brief_options(options)
    try:
        with predeclared.SeededRun(scope):
            build.call_main(build.silent(program, limits, brief).wrapped, text, brief)
    except starlark.StarlarkError as error:
        errors.take_raised()
        return str(error)
    except FatalError:
        # The longer text may be too long, or the top level takes all the time there is.
        return ""
    return ""


def check(program: Program, limits: Limits) -> None:
    """Build the script, which runs its top level but not ``main``; raises FatalError."""
    options = interpreter.limited_options(limits)
    try:
        build.script(program, limits, options)
    except ProgramError as error:
        problems = build.find_problems(program, limits, options)
        raise ProgramError(*(problems or error.diagnostics)) from error


def unused_modules(program: Program, limits: Limits) -> tuple[str, ...]:
    """Return the names of modules that no load statement leads to."""
    used = build.script(program, limits, interpreter.limited_options(limits)).sources
    return tuple(name for name, source in program.modules.items() if source.name not in used)


def build_request(scope: Scope) -> Lazy:
    """Return the argument of ``main``: the request's parts, and ``params``."""
    parts = scope.request.memo
    return Lazy.of(
        (*scope.request, "params"),
        lambda name: scope.params if name == "params" else parts[name],
    )


def to_json(request: Object) -> str:
    """Return the parts of a request that a script needs as JSON. Raises FatalError."""
    try:
        return orjson.dumps(request).decode()
    except orjson.JSONEncodeError as error:
        if "Recursion" in str(error):
            raise LimitError.of("cannot run main: the request is nested too deeply") from error
        raise InputError.of(f"cannot hand the request to main: {error}") from error


def _read(reply: str, limits: Limits) -> tuple[Object, list[str]]:
    """Return the result of main without its desired resources, and those, as JSON."""
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
    return value, [line[1:] for line in lines]


class DeferredEvaluation:
    """A run of a script; every method may raise StarlarkError."""

    def __init__(
        self, script: Script, text: str, limits: Limits, options: starlark.EvalOptions
    ) -> None:
        self._script = script
        self._limits = limits
        self._options = options
        module = starlark.Module()
        module["request"] = build.key_of(text)
        parts = {"script": script.frozen, "bridge": build.BRIDGE_MODULE}
        loader = starlark.FileLoader(parts.__getitem__)
        starlark.eval_with(options, module, _RESULT, build.BRIDGE_GLOBALS, loader)
        self._result = module.freeze()

    def whole(self, request: Mapping[str, Readable]) -> tuple[str, tuple[Withheld, ...]]:
        """Return main's result as JSON without the withheld resources, and these."""
        try:
            return self.without(()), ()
        except starlark.StarlarkError as error:
            withheld = tuple(self._find_withheld(request))
            if not withheld:
                # No resource waits for a value, so that the failure is a mistake.
                raise error from None
        return self.without([each.name for each in withheld]), withheld

    def without(self, skipped: Sequence[str]) -> str:
        """Return main's result as JSON without these resources."""
        limits = self._limits
        return build.name_of(self._call("whole", json.dumps(skipped), limits.nodes, limits.depth))

    def _find_withheld(self, request: Mapping[str, Readable]) -> Iterator[Withheld]:
        """Call every function; yield the resources of those that look up a missing value."""
        for name in cast("list[str]", json.loads(cast("str", self._call("names")))):
            try:
                self._call("one", name, self._limits.nodes, self._limits.depth)
            except starlark.StarlarkError as error:
                absence = errors.describe_absence(str(error), self._script.sources, request)
                # A mistake in one resource is no reason to wait for it.
                if absence is None:
                    raise
                entry = cast("Object", json.loads(cast("str", self._call("statements", name))))
                yield Withheld(name, *absence, entry)

    def _call(self, name: str, *arguments: object) -> object:
        return self._result.call_with(self._options, name, *arguments).value
