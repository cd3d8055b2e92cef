"""What a failed run is told as: one error with its place, its cause and what would mend it.

Called by the engine with whatever was raised while a template ran. What is no user's mistake is
not for this module: it is raised on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jinja2 import TemplateError

from function_script.engines.jinja import paths, positions, scope
from function_script.engines.jinja.exceptions import (
    AuthorError,
    BudgetError,
    MissingError,
    RenderError,
    reworded,
)
from function_script.errors import FatalError, LimitError, ProgramError

if TYPE_CHECKING:
    from function_script.engines.jinja.positions import Place
    from function_script.engines.jinja.run import Run

_RENDER = "cannot render template: "
_TOO_DEEP = "calls are nested too deeply"
# What Python says, and what mends it.
_PYTHON = (
    (
        "unpack",
        "to loop over an object's keys and values, write `for key, value in object.items()`",
    ),
    ("by zero", "test that the divisor is not 0 first"),
)


def to_error(error: Exception, run: Run, last: Place | None) -> FatalError:
    """The user's error that ``error`` is; raises ``error`` itself when it is a bug of ours.

    ``last`` is where the template had got to, in case the error was not raised inside of it.
    """
    places = positions.of_traceback(error.__traceback__) or ([last] if last else [])
    place = places[-1] if places else None
    message, hint, name = _told(error, run, place)
    told = positions.to_diagnostic(place, message, name=name, hint=hint)
    problem = replace(told, notes=positions.callers(places))
    if isinstance(error, BudgetError):
        return LimitError(problem, limit=error.limit)
    return LimitError(problem) if isinstance(error, RecursionError) else ProgramError(problem)


def _told(error: Exception, run: Run, place: Place | None) -> tuple[str, str | None, str | None]:
    """Message, hint, and the word to underline."""
    if isinstance(error, MissingError):
        statement = place.statement() if place else ""
        story = paths.describe(error.undefined, scope.roots(run), statement)
        return _RENDER + story.message, story.hint, story.name
    if isinstance(error, AuthorError):
        return error.message, error.hint, error.name
    if isinstance(error, RenderError):
        return _RENDER + error.message, error.hint, error.name
    if isinstance(error, RecursionError):
        return _RENDER + _TOO_DEEP, None, None
    if isinstance(error, TemplateError):
        return _RENDER + reworded(error.message or "the template failed"), None, None
    if isinstance(error, (TypeError, ValueError, ArithmeticError)):
        return _of_python(str(error))
    raise error


def _of_python(text: str) -> tuple[str, str | None, str | None]:
    hint = next((hint for words, hint in _PYTHON if words in text), None)
    return _RENDER + reworded(text), hint, None
