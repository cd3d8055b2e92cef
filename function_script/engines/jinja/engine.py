"""The engine for JinjaTemplate: renders a YAML stream in a hardened Jinja.

Its functions raise FatalError only.
"""

from collections.abc import Iterator
from types import GeneratorType

from function_script.engines import foreign_syntax
from function_script.engines.allowance import Allowance
from function_script.engines.jinja import deferral, diagnostics, positions, programs
from function_script.engines.jinja.output import join_chunks
from function_script.engines.jinja.run import Run
from function_script.engines.jinja.source_map import Costs, LineLocator
from function_script.request.limits import Limits
from function_script.request.program import MissingValue, Program, Scope, TemplateResult

# Describing a missing value means searching the data for it, so only the first are described.
_MAX_DESCRIBED = 50


def evaluate(program: Program, scope: Scope, limits: Limits) -> TemplateResult:
    """Render the template; ``locate`` of the result renders it once more, when first called."""
    allowance = Allowance(limits)
    compiled = programs.load(program, limits)
    start = allowance.used_seconds()
    text, gaps, outdents = _render(compiled, scope, limits)
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


def _render(
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
        raise diagnostics.to_error(error, run, positions.current_position(frame)) from error
    finally:
        run.close()


def _describe(gaps: deferral.Gaps, run: Run) -> Iterator[MissingValue]:
    """Describe the missing value of each gap; this needs the data, so the run must be open."""
    for number, (offset, error) in enumerate(gaps):
        if number < _MAX_DESCRIBED:
            path, span = diagnostics.describe_missing(error, run)
            yield MissingValue(offset=offset, missing=path, span=span)
        else:
            yield MissingValue(offset=offset, missing="a value that does not exist", span=None)


def check(program: Program, limits: Limits) -> None:
    """Compile the template and all modules; raises FatalError with the problems found by that."""
    programs.check_size(program, limits)
    programs.build(program, is_whole=True)


def unused_modules(program: Program, limits: Limits) -> tuple[str, ...]:
    """Return the modules that no used template refers to; the program must pass `check`."""
    used = programs.load(program, limits).environment.templates
    return tuple(name for name in program.modules if name not in used)
