"""The variables of templates: parts of the request, params, and functions.

Only the parts of the request that a program names are built.
"""

from collections.abc import Callable, Collection

from function_script.engines.jinja.functions import FUNCTIONS
from function_script.engines.jinja.run import Run
from function_script.request.program import Scope

REQUEST_PARTS = (
    *("context", "credentials", "desired", "extra_resources", "input", "meta", "observed"),
    *("required_resources", "required_schemas"),
)


_OTHERS: dict[str, Callable[[Scope], object]] = {
    "params": lambda scope: scope.params,
    "xr": lambda scope: scope.xr,
    "spec": lambda scope: scope.xr.get("spec", {}),
}
NAMES = (*sorted((*REQUEST_PARTS, *_OTHERS)), *sorted(FUNCTIONS))


def build_variables(scope: Scope, used: Collection[str]) -> dict[str, object]:
    """Return the functions, and the parts of the request that the program uses."""
    result: dict[str, object] = dict(FUNCTIONS)
    for name in REQUEST_PARTS:
        if name in used:
            result[name] = scope.request.get(name, {})
    for name, find in _OTHERS.items():
        if name in used:
            result[name] = find(scope)
    return result


def find_roots(run: Run) -> dict[str, object]:
    """Return the data in which values are searched: variables, and parts that were read."""
    variables = {name: run.variables[name] for name in NAMES if name in run.variables}
    return {**variables, **run.scope.request.built()}
