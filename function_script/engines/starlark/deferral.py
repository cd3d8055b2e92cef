"""Deferred resources of steps with ``missing: Defer``: a script gives them as functions.

Each function is called alone. One that looks up a missing value fails, and its resource is left
out; so no placeholder can get into a result.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final, cast

import starlark

from function_script.engines.starlark import bridge
from function_script.engines.starlark.build import Script
from function_script.engines.starlark.errors import WRAPPER, describe_absence, is_absence
from function_script.request.limits import Limits
from function_script.request.program import DeferredResource
from function_script.request.values import Readable

# Keeps the result of main, so that its functions can be called one by one.
_RESULT: Final = starlark.parse(
    WRAPPER,
    """
load("script", "main")
load("bridge", "as_name", "built", "functions_of", "moved_from", "only", "to_json", "without")

result = built(main(json.decode(request.keys()[0])))

def names():
    return json.encode(functions_of(result))

def moved(name):
    return json.encode(moved_from(result, name))

def one(name, nodes, depth):
    to_json(only(result, name), nodes, depth)

def whole(skipped, nodes, depth):
    return as_name(to_json(without(result, json.decode(skipped)), nodes, depth))
""",
)


class DeferredEvaluation:
    """A run of a script; every method may raise StarlarkError."""

    def __init__(
        self, script: Script, text: str, limits: Limits, options: starlark.EvalOptions
    ) -> None:
        self._script = script
        self._limits = limits
        self._options = options
        module = starlark.Module()
        module["request"] = bridge.key_of(text)
        parts = {"script": script.frozen, "bridge": bridge.BRIDGE_MODULE}
        loader = starlark.FileLoader(parts.__getitem__)
        starlark.eval_with(options, module, _RESULT, bridge.GLOBALS, loader)
        self._result = module.freeze()

    def whole(self, request: Mapping[str, Readable]) -> tuple[str, tuple[DeferredResource, ...]]:
        """Return main's result as JSON without the deferred resources, and these."""
        try:
            return self._without(()), ()
        except starlark.StarlarkError as error:
            deferred = tuple(self._deferred(request))
            if not deferred:
                raise error from None
        return self._without([each.name for each in deferred]), deferred

    def _without(self, skipped: Sequence[str]) -> str:
        limits = self._limits
        return bridge.name_of(self._call("whole", json.dumps(skipped), limits.nodes, limits.depth))

    def _deferred(self, request: Mapping[str, Readable]) -> list[DeferredResource]:
        """Call every function; return the resources of those that look up a missing value."""
        deferred = []
        for name in cast("list[str]", json.loads(cast("str", self._call("names")))):
            try:
                self._call("one", name, self._limits.nodes, self._limits.depth)
            except starlark.StarlarkError as error:
                if not is_absence(str(error)):
                    raise
                deferred.append(self._describe(name, str(error), request))
        return deferred

    def _describe(self, name: str, text: str, request: Mapping[str, Readable]) -> DeferredResource:
        missing, span = describe_absence(text, self._script.sources, request)
        moved_from = json.loads(cast("str", self._call("moved", name)))
        names = tuple(moved_from) if isinstance(moved_from, list) else ()
        return DeferredResource(name=name, missing=missing, span=span, moved_from=names)

    def _call(self, name: str, *arguments: object) -> object:
        return self._result.call_with(self._options, name, *arguments).value
