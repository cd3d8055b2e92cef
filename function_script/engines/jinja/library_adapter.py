"""The library that is shared with Starlark, as functions and filters of templates.

Called by templates through the tables of functions and filters. Arguments are charged before
the library reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from jinja2 import Undefined

from function_script.engines.jinja.budget import CHARACTERS_PER_STEP
from function_script.engines.jinja.exceptions import MissingError, RenderError
from function_script.engines.jinja.output import to_plain
from function_script.engines.library import FUNCTIONS, Function, advice
from function_script.engines.library.bounds import READERS

if TYPE_CHECKING:
    from function_script.engines.jinja.run import Run
    from function_script.values import Readable

# A library function may look at every character a few times.
_READINGS = 4
_LOOK_INTO = READERS["Readable"][1]


class LibraryFunction:
    """A function of the library, callable as a template's function or filter."""

    __slots__ = ("function", "lazy", "names")

    def __init__(self, function: Function) -> None:
        self.function = function
        self.names = [parameter.name for parameter in function.parameters]
        # What is only looked into is not copied: it may be the whole of the observed state.
        self.lazy = {each.name for each in function.parameters if each.read is _LOOK_INTO}

    def __call__(self, run: Run, /, *arguments: object, **named: object) -> object:
        """Call it; raises RenderError where the library refuses."""
        given = [self._read(run, self._name(n), value) for n, value in enumerate(arguments)]
        by_name = {name: self._read(run, name, value) for name, value in named.items()}
        seed = [run.scope.seed] if self.function.is_seeded else []
        try:
            result = self.function.call(*seed, *given, **by_name)
        except ValueError as error:
            raise RenderError(
                str(error), name=self.function.name, hint=_hint(str(error))
            ) from error
        if isinstance(result, str):
            run.budget.characters(len(result))
        return result

    def _name(self, position: int) -> str:
        # Too many arguments are the library's to refuse.
        return self.names[position] if position < len(self.names) else ""

    def _read(self, run: Run, name: str, value: object) -> Readable:
        if isinstance(value, str):
            run.budget.spend(_READINGS * len(value) // CHARACTERS_PER_STEP)
            return value
        if isinstance(value, Undefined):
            # Functions that look into an object say themselves what is true of a missing one.
            if name == self.names[0] and name in self.lazy:
                return None
            raise MissingError(value)
        return cast("Readable", value) if name in self.lazy else to_plain(run.budget, value)


def _hint(message: str) -> str | None:
    converted = (hint for words, hint in _CONVERSIONS if words in message)
    return advice.find(message, FUNCTIONS) or next(converted, None)


_CONVERSIONS = (
    ("must be a string, not ", "write `value | string`"),
    ("must be an integer, not ", "write `value | int`"),
    ("must be a list, not ", "put the value into brackets: [value]"),
)

SHARED = {function.name: LibraryFunction(function) for function in FUNCTIONS}
SHARED_FILTERS = {name: call for name, call in SHARED.items() if call.function.is_filter}
