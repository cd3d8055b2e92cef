"""Run scripts: ``main(req)`` gets the request and returns a response, both as dicts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Final, cast

import orjson
import starlark

from function_script.engines.starlark import (
    build,
    errors,
    interpreter,
    mistakes,
    predeclared,
    tracing,
)
from function_script.engines.starlark.analysis import missing, paths, syntax
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
    return _Run(program, scope, limits).result()


class _Run:
    """A run of ``main``, which is repeated where the places of its values are asked for."""

    def __init__(self, program: Program, scope: Scope, limits: Limits) -> None:
        self._program = program
        self._scope = scope
        self._limits = limits
        self._options = interpreter.limited_options(limits)
        self._script = build.script(program, limits, self._options)
        self._request = build_request(scope)
        self._text = to_json(paths.select(self._request, self._script.reach))
        self._places: dict[Path, tracing.Entry | None] = {}

    def result(self) -> ScriptResult:
        """Return the result of ``main``; raises FatalError."""
        script = self._script
        withheld: tuple[Withheld, ...] = ()
        is_deferring = self._program.options.get("missing") == "Defer"
        try:
            with predeclared.seeded_run(self._scope):
                if is_deferring:
                    run = DeferredEvaluation(script, self._text, self._limits, self._options)
                    reply, withheld = run.whole(self._request)
                else:
                    reply = build.call_main(script.wrapped, self._text, self._options)
        except starlark.StarlarkError as error:
            # Before the rerun, which may raise another error of ours.
            raised = errors.take_raised()
            failure = interpreter.read(str(error))
            raise errors.failed(
                interpreter.correct_position(failure, self._program, self._error_text),
                script.main,
                script.sources,
                self._request,
                self._limits,
                raised=raised,
                is_deferring=is_deferring,
                locate=self._locate,
            ) from error
        value, resources = _read(reply, self._limits)
        return ScriptResult(
            value=value,
            resources=resources,
            locate=self._locate,
            explain_null=self._explain_null,
            mentions=self._mentions,
            trace=partial(self._trace, reply, [each.name for each in withheld]),
            withheld=withheld,
        )

    def _mentions(self, word: str) -> bool:
        sources = self._script.sources.values()
        return word in self._text or any(word in each.text for each in sources)

    def _trace(self, reply: str, skipped: Sequence[str]) -> Mapping[Path, Span | None]:
        """Return the places of what `main` has returned, without the skipped resources."""
        with predeclared.seeded_run(self._scope):
            return self._tracer.trace(
                orjson.loads(reply),
                lambda script, limits, options: DeferredEvaluation(
                    script, self._text, limits, options
                ).without(skipped),
            )

    def _locate(self, path: Path) -> Span | None:
        """Return the place of a value; without one, it is that of ``main``."""
        place = self._find(path)
        return errors.main_span(self._script.main) if place is None else place.span

    def _explain_null(self, path: Path, hint: str | None) -> str | None:
        """Return what is certain of the origin of a null value, or the hint for any value."""
        place = self._find(path)
        if place is None or not place.is_null or place.value is None:
            return hint
        if of_function := mistakes.find_no_result(place.value, place.source):
            return of_function
        span = syntax.span_of(place.value, place.source)
        key = missing.find_missing_key(span, {}, self._script.sources, self._request)
        if key is None or key.is_final:
            return hint if key is None else key.text
        return "; ".join(filter(None, (key.text, hint)))

    def _find(self, path: Path) -> tracing.Entry | None:
        if path not in self._places:
            with predeclared.seeded_run(self._scope):
                self._places[path] = self._tracer.find(path, self._part_along)
        return self._places[path]

    @cached_property
    def _tracer(self) -> tracing.Tracer:
        """One script, and the time of one brief run, for all problems of a result."""
        brief = interpreter.brief_options(self._options)
        return tracing.Tracer(self._program, self._limits, brief)

    def _part_along(self, script: Script, path: Path, brief: starlark.EvalOptions) -> str:
        # Nothing of the result is frozen: a value that is nested without a bound has no end there.
        argument = build.key_of(self._text)
        part = script.wrapped.call_with(brief, "along", argument, json.dumps(path)).value
        return cast("str", part)

    def _error_text(self, program: Program) -> str:
        """Run another program briefly and return the text of its error; "" without one."""
        brief = interpreter.brief_options(self._options)
        try:
            with predeclared.seeded_run(self._scope):
                silent = build.silent(program, self._limits, brief)
                build.call_main(silent.wrapped, self._text, brief)
        except starlark.StarlarkError as error:
            errors.take_raised()
            return str(error)
        except FatalError:
            # The top level takes all the time there is.
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
