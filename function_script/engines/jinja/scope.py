"""What templates can name: parts of the request, params, and functions.

Called once per run. Parts of the request are built only where the program names them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.engines.jinja.functions import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from function_script.engines.jinja.run import Run
    from function_script.program import Scope

REQUEST_PARTS = (
    *("context", "credentials", "desired", "extra_resources", "input", "meta", "observed"),
    *("required_resources", "required_schemas"),
)


def _spec(scope: Scope) -> object:
    return scope.xr.get("spec", {})


_OTHERS: dict[str, Callable[[Scope], object]] = {
    "params": lambda scope: scope.params,
    "xr": lambda scope: scope.xr,
    "spec": _spec,
}
NAMES = (*sorted((*REQUEST_PARTS, *_OTHERS)), *sorted(FUNCTIONS))


def variables(scope: Scope, used: Collection[str]) -> dict[str, object]:
    """The functions, and of everything else what the program uses."""
    made: dict[str, object] = dict(FUNCTIONS)
    for name in REQUEST_PARTS:
        if name in used:
            made[name] = scope.request.get(name, {})
    for name, find in _OTHERS.items():
        if name in used:
            made[name] = find(scope)
    return made


def roots(run: Run) -> dict[str, object]:
    """The data a template may have got a value from: what it names, then what functions read."""
    named = {name: run.variables[name] for name in NAMES if name in run.variables}
    return {**named, **run.scope.request.built()}
