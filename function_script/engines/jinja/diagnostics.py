"""Conversion of exceptions raised while a template ran to errors with one diagnostic.

An exception that is not a user's mistake is raised again.
"""

from dataclasses import replace

from jinja2 import TemplateError

from function_script.engines.jinja import exceptions, paths, positions, scope
from function_script.engines.jinja.run import Run
from function_script.texts.errors import FatalError, LimitError, ProgramError
from function_script.texts.source import Span

_RENDER = "cannot render template: "
# Generated code unpacks the items of a loop itself; these are Python's words.
_UNPACKING = "unpack"
_PAIRS = "of an object, write `for key, value in object.items()`; of a list, loop.index counts"


def to_error(error: Exception, run: Run, last: positions.Position | None) -> FatalError:
    """Convert an exception to the user's error; raises ``error`` itself if it is a bug of ours.

    ``last`` is the current position of the main template, for errors raised outside of templates.
    """
    stack = positions.find_positions(error.__traceback__) or ([last] if last else [])
    position = stack[-1] if stack else None
    message, hint, name = _explain(error, run, position)
    diagnostic = positions.to_diagnostic(position, message, name=name, hint=hint)
    is_refusal = isinstance(error, exceptions.AuthorError)
    notes = positions.caller_notes(stack)
    problem = replace(diagnostic, notes=notes, kind="refusal" if is_refusal else "mistake")
    if isinstance(error, exceptions.BudgetError):
        return LimitError(problem, limit=error.limit)
    return LimitError(problem) if isinstance(error, RecursionError) else ProgramError(problem)


def describe_missing(error: exceptions.MissingError, run: Run) -> tuple[str, Span | None]:
    """Return what is missing, and the place that reads it."""
    stack = positions.find_positions(error.__traceback__)
    path = _describe_path(error, run, stack[-1] if stack else None)
    return path.message, stack[-1].span(path.name) if stack else None


def _describe_path(
    error: exceptions.MissingError, run: Run, position: positions.Position | None
) -> paths.MissingPath:
    statement = position.statement() if position else ""
    template = position.source.text if position else ""
    return paths.describe(error.undefined, scope.find_roots(run), statement, template)


def _explain(
    error: Exception, run: Run, position: positions.Position | None
) -> tuple[str, str | None, str | None]:
    """Return the message, the hint, and the word to underline."""
    if isinstance(error, exceptions.MissingError):
        path = _describe_path(error, run, position)
        return _RENDER + path.message, path.hint, path.name
    if isinstance(error, exceptions.AuthorError):
        return error.message, error.hint, error.name
    if isinstance(error, exceptions.RenderError):
        return _RENDER + error.message, error.hint, error.name
    if isinstance(error, RecursionError):
        return _RENDER + "calls are nested too deeply", None, None
    if isinstance(error, TemplateError):
        return _RENDER + exceptions.reword(error.message or "the template failed"), None, None
    if isinstance(error, (TypeError, ValueError, ArithmeticError)):
        text = str(error)
        hint = _PAIRS if _UNPACKING in text else None
        if isinstance(error, ZeroDivisionError):
            hint = "test that the divisor is not 0 first"
        return _RENDER + exceptions.reword(text), hint, None
    raise error
