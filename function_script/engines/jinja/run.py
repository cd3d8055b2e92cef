"""The state of one run of a template: budget, variables, imported modules, log.

Variables are parts of the request, params, and functions. Only the parts of the request that a
program names are built.
"""

import sys
from collections.abc import Callable, Collection

from jinja2 import Environment
from jinja2.environment import TemplateModule

from function_script.engines.jinja.budget import Budget
from function_script.engines.jinja.functions import FUNCTIONS
from function_script.request.limits import Limits
from function_script.request.program import Scope

_MAX_LOG_CHARACTERS = 64 * 1024


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


class Run:
    """One run of a program: the `CallContext` of the functions, filters and tests it calls.

    ``variables`` is what every template of the program can name. ``is_replay``: the text is
    rendered again only to map its lines to the source, so nothing may be logged twice.
    """

    __slots__ = (
        "_logged_characters",
        "budget",
        "environment",
        "is_replay",
        "modules",
        "scope",
        "variables",
    )

    def __init__(self, environment: Environment, scope: Scope, limits: Limits) -> None:
        self.environment = environment
        self.scope = scope
        self.budget = Budget(limits)
        self.variables: dict[str, object] = {}
        self.modules: dict[str, TemplateModule] = {}
        self.is_replay = False
        self._logged_characters = 0

    def close(self) -> None:
        """Drop the data: contexts refer to their run, so the cycle would keep it alive."""
        self.variables.clear()
        self.modules.clear()

    def log(self, line: str) -> None:
        """Write one line to stderr, until the run's share of the log is used up."""
        available = _MAX_LOG_CHARACTERS - self._logged_characters
        if self.is_replay or available <= 0:
            return
        self._logged_characters += len(line)
        sys.stderr.write(line[:available].replace("\n", "\\n") + "\n")


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
