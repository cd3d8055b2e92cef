"""Rendering of a compiled program: a scope in, text out."""

from collections.abc import Iterator
from types import GeneratorType

from function_script.engines.jinja import deferral, diagnostics, environment, positions, scope
from function_script.engines.jinja.output import join_chunks
from function_script.engines.jinja.programs import CompiledProgram
from function_script.engines.jinja.run import Run
from function_script.limits import Limits
from function_script.program import MissingValue, Scope

_RENDER = "cannot render template: "
# Describing a missing value means searching the data for it, so only the first are described.
_MAX_DESCRIBED = 50


def render(
    program: CompiledProgram, data: Scope, limits: Limits
) -> tuple[str, tuple[MissingValue, ...]]:
    """Return the text of the main template and its gaps; raises FatalError."""
    run = Run(program.environment, data, limits)
    if program.is_deferring:
        run.budget = deferral.DeferringBudget(limits)
    chunks = start(program, run)
    try:
        if not program.is_deferring:
            return join_chunks(chunks, limits.output_bytes), ()
        text, gaps = deferral.collect_gaps(chunks, limits.output_bytes)
        return text, tuple(_describe(gaps, run))
    except Exception as error:
        frame = chunks.gi_frame if isinstance(chunks, GeneratorType) else None
        raise diagnostics.to_error(error, run, positions.current_position(frame)) from error
    finally:
        run.close()


def _describe(gaps: deferral.Gaps, run: Run) -> Iterator[MissingValue]:
    """Describe the missing value of each gap; this needs the data, so the run must be open."""
    for number, (offset, error) in enumerate(gaps):
        if number < _MAX_DESCRIBED:
            (diagnostic,) = diagnostics.to_error(error, run, None).diagnostics
            path = diagnostic.message.removeprefix(_RENDER)
            yield MissingValue(offset=offset, missing=path, span=diagnostic.span)
        else:
            yield MissingValue(offset=offset, missing="a value that does not exist", span=None)


def start(program: CompiledProgram, run: Run) -> Iterator[str]:
    """Start a run: return an iterator over the chunks of the main template's text."""
    run.variables = scope.build_variables(run.scope, program.used_names)
    run.variables[environment.RUN] = run
    context = program.main.new_context(run.variables, shared=True)
    return program.main.root_render_func(context)
