"""Adapter of the library that is shared with Starlark: its rows as functions and filters.

Arguments are charged before the library reads them.
"""

import itertools
from typing import cast

from jinja2 import Undefined

from function_script.engines.jinja.budget import CHARACTERS_PER_STEP
from function_script.engines.jinja.calls import CallContext
from function_script.engines.jinja.exceptions import MissingError, RenderError
from function_script.engines.jinja.output import to_plain
from function_script.engines.library import FUNCTIONS, Function, find_hint
from function_script.engines.library.bounds import READERS
from function_script.values import Readable

# A library function may read every character a few times.
_READINGS = 4
_LOOK_INTO = READERS[Readable][1]


class LibraryFunction:
    """A function of the library, callable as a template's function or filter."""

    __slots__ = ("alias", "function", "lazy", "names")

    def __init__(self, function: Function, alias: str | None = None) -> None:
        self.function = function
        self.alias = alias or function.name
        self.names = [parameter.name for parameter in function.parameters]
        # Parameters that are only looked into are not copied: they may be all observed state.
        self.lazy = {each.name for each in function.parameters if each.read is _LOOK_INTO}

    def __call__(self, run: CallContext, /, *arguments: object, **named: object) -> object:
        """Call it; raises RenderError where the library raises ValueError."""
        # The library itself rejects surplus arguments.
        names = itertools.chain(self.names, itertools.repeat(""))
        positional = [self._read(run, *pair) for pair in zip(names, arguments, strict=False)]
        keywords = {name: self._read(run, name, value) for name, value in named.items()}
        try:
            if self.function.is_seeded:
                result = self.function.call_seeded(run.scope, *positional, **keywords)
            else:
                result = self.function.call(*positional, **keywords)
        except ValueError as error:
            message = str(error)
            converted = (hint for words, hint in _CONVERSIONS if words in message)
            hint = find_hint(message, FUNCTIONS) or next(converted, None)
            raise RenderError(message, name=self.alias, hint=hint) from error
        if isinstance(result, str):
            run.budget.charge_characters(len(result))
        return result

    def _read(self, run: CallContext, name: str, value: object) -> Readable:
        if isinstance(value, str):
            run.budget.spend(_READINGS * len(value) // CHARACTERS_PER_STEP)
            return value
        if isinstance(value, Undefined):
            # Functions that look into an object define their result for a missing one.
            if name == self.names[0] and name in self.lazy:
                return None
            raise MissingError(value)
        return cast("Readable", value) if name in self.lazy else to_plain(run.budget, value)


_CONVERSIONS = (
    ("must be a string, not ", "write `value | string`"),
    ("must be an integer, not ", "write `value | int`"),
    ("must be a list, not ", "put the value into brackets: [value]"),
)

LIBRARY = {function.name: LibraryFunction(function) for function in FUNCTIONS}
LIBRARY_FILTERS = {name: call for name, call in LIBRARY.items() if call.function.is_filter}
