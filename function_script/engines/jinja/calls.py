"""What the tables of functions, filters and tests hold: things that templates call.

The functions themselves name their parameters; who looks one up in a table cannot know them,
so whether arguments fit is asked here, for the sake of a good message.
"""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from function_script.engines.jinja.run import Run


class Call(Protocol):
    """A run and a template's arguments in, a value out; filters and tests get theirs first."""

    def __call__(self, run: Run, /, *arguments: object, **named: object) -> object:
        """Raises TypeError when the arguments do not fit."""


def by_name(functions: Mapping[str, object]) -> dict[str, Call]:
    """The functions under the names that templates know them by."""
    return {name: cast("Call", functions[name]) for name in sorted(functions)}


def argument_error(call: Call, given: int, named: Iterable[str]) -> str | None:
    """Why so many arguments, and these named ones, do not fit; the run and a value count."""
    try:
        _signature(call).bind(*[None] * given, **dict.fromkeys(named))
    except TypeError as error:
        return str(error).replace("'", '"')
    return None


def usage(name: str, call: Call, hidden: int) -> str:
    """``replace(old, new, count=-1)``: how the author writes it, without what Jinja gives."""
    parameters = [*_signature(call).parameters.values()][hidden:]
    shown = ", ".join(map(str, parameters))
    return f"{name}({shown})".replace(": 'object' = ", "=").replace(": 'object'", "")


def _signature(call: Call) -> inspect.Signature:
    return _signature_of(cast("Hashable", call))


@lru_cache(maxsize=256)
def _signature_of(call: Hashable) -> inspect.Signature:
    return inspect.signature(cast("Call", call))
