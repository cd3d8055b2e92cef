"""A compiled program and a scope in, text out: one run.

Called by the engine, and by `tracing` to run a program once more.
"""

from __future__ import annotations

from types import GeneratorType
from typing import TYPE_CHECKING

from function_script.engines.jinja import faults, positions, scope
from function_script.engines.jinja.environment import RUN
from function_script.engines.jinja.output import collect
from function_script.engines.jinja.run import Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.engines.jinja.compiled import Compiled
    from function_script.limits import Limits
    from function_script.program import Scope


def render(compiled: Compiled, data: Scope, limits: Limits) -> str:
    """The text of the whole template; raises FatalError."""
    run = Run(compiled.environment, data, limits)
    chunks = begin(compiled, run)
    try:
        return collect(chunks, limits.output_bytes)
    except Exception as error:
        frame = chunks.gi_frame if isinstance(chunks, GeneratorType) else None
        raise faults.to_error(error, run, positions.of_generator(frame)) from error
    finally:
        run.close()


def begin(compiled: Compiled, run: Run) -> Iterator[str]:
    """The template's text, piece by piece."""
    run.variables = scope.variables(run.scope, compiled.used)
    run.variables[RUN] = run
    context = compiled.main.new_context(run.variables, shared=True)
    return compiled.main.root_render_func(context)
