"""Resources that a script gives as functions, each called alone: one that fails is withheld.

Called by the engine for steps with ``missing: Defer``. A function fails when it looks up what is
not there; it gives nothing then, so nothing that stands in for a value can get into a result.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, cast

import starlark

from function_script.engines.starlark import bridge
from function_script.engines.starlark.errors import WRAPPER, failed, is_absence
from function_script.program import DeferredResource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from function_script.engines.starlark.build import Script
    from function_script.limits import Limits
    from function_script.values import Readable

# What main returned, kept: its functions can then be called one by one.
_RESULT: Final = starlark.parse(
    WRAPPER,
    """
load("script", "main")
load("bridge", "built", "functions_of", "only", "to_json", "without")

result = built(main(json.decode(request)))

def names():
    return json.encode(functions_of(result))

def one(name, nodes, depth):
    to_json(only(result, name), nodes, depth)

def whole(skipped, nodes, depth):
    return to_json(without(result, json.decode(skipped)), nodes, depth)
""",
)
_RUN: Final = "cannot run main: "
# How hints begin that know what was looked up: see `missing`.
_MISSING_PATH: Final = re.compile(r'.+? has no "[^"]*"')


class DeferredEvaluation:
    """One run of a script; every method may raise StarlarkError."""

    def __init__(
        self, script: Script, text: str, limits: Limits, options: starlark.EvalOptions
    ) -> None:
        self._script = script
        self._limits = limits
        self._options = options
        module = starlark.Module()
        module["request"] = text
        parts = {"script": script.frozen, "bridge": bridge.BRIDGE_MODULE}
        loader = starlark.FileLoader(parts.__getitem__)
        starlark.eval_with(options, module, _RESULT, bridge.GLOBALS, loader)
        self._result = module.freeze()

    def whole(self, request: Mapping[str, Readable]) -> tuple[str, tuple[DeferredResource, ...]]:
        """The JSON text of what main returned, without the resources that are withheld."""
        try:
            return self._without(()), ()
        except starlark.StarlarkError as error:
            withheld = tuple(self._withheld(request))
            if not withheld:
                raise error from None
        return self._without([each.name for each in withheld]), withheld

    def _without(self, skipped: Sequence[str]) -> str:
        limits = self._limits
        found = self._call("whole", json.dumps(skipped), limits.nodes, limits.depth)
        return cast("str", found)

    def _withheld(self, request: Mapping[str, Readable]) -> list[DeferredResource]:
        """The resources whose functions look up what is not there."""
        found = []
        for name in cast("list[str]", json.loads(cast("str", self._call("names")))):
            try:
                self._call("one", name, self._limits.nodes, self._limits.depth)
            except starlark.StarlarkError as error:
                if not is_absence(str(error)):
                    raise
                found.append(self._told(name, str(error), request))
        return found

    def _told(self, name: str, said: str, request: Mapping[str, Readable]) -> DeferredResource:
        script = self._script
        (told, *_) = failed(said, script.main, script.sources, request, self._limits).diagnostics
        path = _MISSING_PATH.match(told.hint or "")
        missing = path[0] if path else told.message.removeprefix(_RUN)
        return DeferredResource(name=name, missing=missing, span=told.span)

    def _call(self, name: str, *arguments: object) -> object:
        return self._result.call_with(self._options, name, *arguments).value
