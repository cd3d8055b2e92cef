"""The bridge between Python and a script: the request and the result are a JSON text each.

The binding converts values at 4 us a node; a text costs a quarter of that, and less as a name: the
binding passes the keys of a dict to Starlark and the names of a struct to Python as they are, and
other texts through JSON. The bridge is a Starlark module of its own, so no name that a script
defines can disturb it.
"""

from pathlib import Path
from typing import cast

import starlark
from starlark import LibraryExtension

from function_script.engines.starlark.errors import BRIDGE, WRAPPER, refuse
from function_script.request.limits import Limits

GLOBALS = starlark.Globals.extended_by([LibraryExtension.StructType, LibraryExtension.Json])
_WRAPPER = starlark.parse(
    WRAPPER,
    """
load("script", "main")
load("bridge", "as_name", "built", "to_json")

def run(request):
    return as_name(to_json(built(main(json.decode(request.keys()[0]))), nodes, depth))
""",
)


_module = starlark.Module()
_module.add_callable("refuse", refuse)
starlark.eval(
    _module,
    starlark.parse(BRIDGE, (Path(__file__).parent / "bridge.star").read_text(encoding="utf-8")),
    GLOBALS,
)
BRIDGE_MODULE = _module.freeze()


def wrap(script: starlark.FrozenModule, limits: Limits) -> starlark.FrozenModule:
    """Return the script behind the bridge; raises StarlarkError when it has no ``main``."""
    parts = {"script": script, "bridge": BRIDGE_MODULE}
    module = starlark.Module()
    module["nodes"] = limits.nodes
    module["depth"] = limits.depth
    starlark.eval(module, _WRAPPER, GLOBALS, starlark.FileLoader(parts.__getitem__))
    return module.freeze()


def call(wrapped: starlark.FrozenModule, request: str, options: starlark.EvalOptions) -> str:
    """Run ``main`` with a request as JSON, return its result as JSON; raises StarlarkError."""
    return name_of(wrapped.call_with(options, "run", key_of(request)).value)


def key_of(text: str) -> dict[str, list[object]]:
    """Return an argument with the text as its only key."""
    return {text: []}


def name_of(result: object) -> str:
    """Return the only name of a struct that the bridge has made of a text."""
    (text,) = cast("dict[str, object]", result)
    return text
