"""Callables of templates: functions, filters and tests, and the context that they receive.

Their tables are built here, and a call's arguments are matched with its signature here, because
Python's own TypeError names parameters that the template's author cannot see.
"""

import inspect
from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from typing import Protocol, cast

from jinja2 import Environment

from function_script.engines.jinja.budget import Budget
from function_script.request.program import Scope


class CallContext(Protocol):
    """The first argument of every callable: the current run, as far as callables may use it."""

    @property
    def budget(self) -> Budget:
        """The budget that is charged before any work is done."""

    @property
    def environment(self) -> Environment:
        """The environment with the lookups and the tables of filters and tests."""

    @property
    def scope(self) -> Scope:
        """The request and the composite resource."""

    def log(self, line: str) -> None:
        """Write one line to the function's log."""


class Call(Protocol):
    """A callable: the context, for filters and tests the value, then the template's arguments."""

    def __call__(self, run: CallContext, /, *arguments: object, **named: object) -> object:
        """Return the value; raise TypeError when the arguments do not fit."""


class Builtin:
    """A function as a template's value: it can be called and passed on, nothing else."""

    __slots__ = ("call", "name")

    def __init__(self, name: str, call: Call) -> None:
        self.name = name
        self.call = call


def build_table(functions: Mapping[str, object]) -> dict[str, Call]:
    """Return the callables by the names that templates use, in the order of these names."""
    return {name: cast("Call", functions[name]) for name in sorted(functions)}


def argument_error(call: Call, positional: int, keywords: Iterable[str]) -> str | None:
    """Return why these arguments do not fit, or None; ``positional`` includes context and value."""
    try:
        _signature(cast("Hashable", call)).bind(*[None] * positional, **dict.fromkeys(keywords))
    except TypeError as error:
        return str(error).replace("'", '"')
    return None


def format_usage(name: str, call: Call, hidden: int) -> str:
    """Format ``replace(old, new, count=-1)``: the call without its first ``hidden`` parameters."""
    parameters = [*_signature(cast("Hashable", call)).parameters.values()][hidden:]
    untyped = [parameter.replace(annotation=parameter.empty) for parameter in parameters]
    return f"{name}({', '.join(map(str, untyped))})"


@lru_cache(maxsize=256)
def _signature(call: Hashable) -> inspect.Signature:
    return inspect.signature(cast("Call", call))
