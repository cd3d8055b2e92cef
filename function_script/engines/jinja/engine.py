"""The engine for JinjaTemplate: renders a YAML stream in a hardened Jinja.

Its functions raise FatalError only.
"""

import re
from collections.abc import Iterator, Sequence
from types import GeneratorType

from jinja2 import TemplateError

from function_script.engines import foreign_syntax, missing_values
from function_script.engines.allowance import Allowance
from function_script.engines.jinja import deferral, exceptions, paths, positions, programs, wording
from function_script.engines.jinja.functions import find_roots
from function_script.engines.jinja.output import join_chunks
from function_script.engines.jinja.run import Run
from function_script.engines.jinja.source_map import Costs, LineLocator
from function_script.request.limits import Limits
from function_script.request.program import MissingValue, Program, Scope, TemplateResult
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError, LimitError, ProgramError

# Describing a missing value means searching the data for it, so only the first are described.
_MAX_DESCRIBED = 50


_RENDER = "cannot render template: "
_OPTIONAL = "where it may be missing, use `| default(value)`"
_PAIRS = "of an object, write `for key, value in object.items()`; of a list, loop.index counts"


def evaluate(program: Program, scope: Scope, limits: Limits) -> TemplateResult:
    """Render the template; ``locate`` of the result renders it once more, when first called."""
    allowance = Allowance(limits)
    compiled = programs.load(program, limits)
    start = allowance.used_seconds()
    text, gaps, outdents = render(compiled, scope, limits)
    costs = Costs(compiled.compile_seconds, allowance.used_seconds() - start, allowance)
    locator = LineLocator(program, scope, limits, costs)
    return TemplateResult(
        text=text,
        gaps=gaps,
        locate=locator.locate,
        explain=lambda line: locator.explain(line, text),
        trace=locator.trace,
        outdents=outdents,
        doubts=foreign_syntax.find_dollars(program.sources()),
    )


def render(
    program: programs.CompiledProgram, data: Scope, limits: Limits
) -> tuple[str, tuple[MissingValue, ...], list[tuple[int, int]]]:
    """Return the text of the main template, its gaps and its outdents; raises FatalError."""
    run = Run(program.environment, data, limits)
    if program.is_deferring:
        run.budget = deferral.DeferringBudget(limits)
    chunks = program.start(run)
    try:
        if not program.is_deferring:
            text = join_chunks(run.budget, chunks, limits.output_bytes)
            return text, (), run.budget.outdents
        text, gaps = deferral.collect_gaps(run.budget, chunks, limits.output_bytes)
        return text, tuple(_describe(gaps, run)), run.budget.outdents
    except Exception as error:
        frame = chunks.gi_frame if isinstance(chunks, GeneratorType) else None
        raise to_error(error, run, positions.current_position(frame)) from error
    finally:
        run.close()


def _describe(gaps: deferral.Gaps, run: Run) -> Iterator[MissingValue]:
    """Describe the missing value of each gap; this needs the data, so the run must be open."""
    for number, (offset, error) in enumerate(gaps):
        if number < _MAX_DESCRIBED:
            stack = positions.find_positions(error.__traceback__)
            path = _describe_path(error, run, stack[-1] if stack else None)
            span = stack[-1].span(path.name) if stack else None
            yield MissingValue(offset=offset, missing=path.message, span=span)
        else:
            yield MissingValue(offset=offset, missing="a value that does not exist", span=None)


def check(program: Program, limits: Limits) -> None:
    """Compile the template and all modules; raises FatalError with the problems found by that."""
    program.check_size(limits)
    programs.build(program, is_whole=True)


def unused_modules(program: Program, limits: Limits) -> tuple[str, ...]:
    """Return the modules that no used template refers to; the program must pass `check`."""
    used = programs.load(program, limits).environment.templates
    return tuple(name for name in program.modules if name not in used)


def to_error(error: Exception, run: Run, last: positions.Position | None) -> FatalError:
    """Convert an exception to the user's error; raises ``error`` itself if it is a bug of ours.

    ``last`` is the current position of the main template, for errors raised outside of templates.
    """
    stack = positions.find_positions(error.__traceback__) or ([last] if last else [])
    position = stack[-1] if stack else None
    message, hint, name = _explain(error, run, stack)
    problem = Diagnostic(
        message=message,
        hint=hint,
        notes=positions.caller_notes(stack),
        kind="refusal" if isinstance(error, exceptions.AuthorError) else "mistake",
    )
    if position is not None:
        problem = problem.at(position.source, position.span(name))
    if isinstance(error, exceptions.BudgetError):
        return LimitError(problem, limit=error.limit)
    return LimitError(problem) if isinstance(error, RecursionError) else ProgramError(problem)


def _describe_path(
    error: exceptions.MissingError, run: Run, position: positions.Position | None
) -> paths.MissingPath:
    statement = position.statement() if position else ""
    template = position.source.text if position else ""
    return paths.describe(error.undefined, find_roots(run), statement, template)


def _explain(
    error: Exception, run: Run, stack: Sequence[positions.Position]
) -> tuple[str, str | None, str | None]:
    """Return the message, the hint, and the word to underline."""
    if isinstance(error, exceptions.MissingError):
        path = _describe_path(error, run, stack[-1] if stack else None)
        hints = [path.hint]
        if path.is_open:
            waits = bool(path.resource) and _can_wait(stack, path)
            hints += [missing_values.DOCUMENT_WAITS * waits, _OPTIONAL]
        return _RENDER + path.message, "; ".join(filter(None, hints)) or None, path.name
    if isinstance(error, exceptions.RenderError):
        prefix = "" if isinstance(error, exceptions.AuthorError) else _RENDER
        return prefix + error.message, error.hint, error.name
    if isinstance(error, RecursionError):
        return _RENDER + "calls are nested too deeply", None, None
    if isinstance(error, TemplateError):
        return _RENDER + wording.reword(error.message or "the template failed"), None, None
    if isinstance(error, (TypeError, ValueError, ArithmeticError)):
        in_loop = bool(stack) and re.search(r"\bfor\b", stack[-1].statement()) is not None
        hint = _PAIRS if in_loop and wording.is_unpacking(error) else None
        return _RENDER + wording.reword(str(error)), hint, None
    raise error


def _can_wait(stack: Sequence[positions.Position], path: paths.MissingPath) -> bool:
    """Report whether the document of what failed can wait for its value."""
    # A macro may write several documents.
    if len(stack) != 1 or not stack[0].is_written:
        return False
    (position,) = stack
    before = position.text_before(path.name)
    return (
        before is not None
        and missing_values.can_wait_behind(before)
        and missing_values.comes_from_another_document(
            path.resource, position.source.text, position.offset
        )
    )
