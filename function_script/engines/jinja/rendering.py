"""A compiled program and a scope in, text out: one run.

Called by the engine, and by `tracing` to run a program once more.
"""

from __future__ import annotations

from types import GeneratorType
from typing import TYPE_CHECKING

from function_script.engines.jinja import diagnostics, positions, scope
from function_script.engines.jinja.deferring import DeferringBudget, collect_gaps
from function_script.engines.jinja.environment import RUN
from function_script.engines.jinja.output import collect
from function_script.engines.jinja.run import Run
from function_script.program import MissingValue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.engines.jinja.deferring import Gaps
    from function_script.engines.jinja.programs import Compiled
    from function_script.limits import Limits
    from function_script.program import Scope

_RENDER = "cannot render template: "
# Finding the path of a missing value means searching the data for it.
_MAX_TOLD = 50


def render(compiled: Compiled, data: Scope, limits: Limits) -> tuple[str, tuple[MissingValue, ...]]:
    """The text of the whole template, and the gaps that missing values left; raises FatalError."""
    run = Run(compiled.environment, data, limits)
    if compiled.environment.defers:
        run.budget = DeferringBudget(limits)
    chunks = begin(compiled, run)
    try:
        if not compiled.environment.defers:
            return collect(chunks, limits.output_bytes), ()
        text, gaps = collect_gaps(chunks, limits.output_bytes)
        return text, tuple(_told(gaps, run))
    except Exception as error:
        frame = chunks.gi_frame if isinstance(chunks, GeneratorType) else None
        raise diagnostics.to_error(error, run, positions.of_generator(frame)) from error
    finally:
        run.close()


def _told(gaps: Gaps, run: Run) -> Iterator[MissingValue]:
    """The gaps with what they wait for, which must be found while the run has its data."""
    for number, (offset, error) in enumerate(gaps):
        if number < _MAX_TOLD:
            (told,) = diagnostics.to_error(error, run, None).diagnostics
            yield MissingValue(
                offset=offset, missing=told.message.removeprefix(_RENDER), span=told.span
            )
        else:
            yield MissingValue(offset=offset, missing="a value that does not exist", span=None)


def begin(compiled: Compiled, run: Run) -> Iterator[str]:
    """The template's text, piece by piece."""
    run.variables = scope.variables(run.scope, compiled.used)
    run.variables[RUN] = run
    context = compiled.main.new_context(run.variables, shared=True)
    return compiled.main.root_render_func(context)
