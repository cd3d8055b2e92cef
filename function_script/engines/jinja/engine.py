"""The engine for JinjaTemplate: renders a YAML stream in a hardened Jinja.

Raises nothing but FatalError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.engines.allowance import Allowance
from function_script.engines.jinja import programs
from function_script.engines.jinja.environment import Environment
from function_script.engines.jinja.rendering import render
from function_script.engines.jinja.source_map import Costs, Tracer
from function_script.program import TemplateResult

if TYPE_CHECKING:
    from function_script.limits import Limits
    from function_script.program import Program, Scope


def evaluate(program: Program, scope: Scope, limits: Limits) -> TemplateResult:
    """Render the template; ``locate`` of the result renders it once more, when first called."""
    allowance = Allowance(limits)
    loaded = programs.load(program, limits)
    began = allowance.used_seconds()
    text, gaps = render(loaded, scope, limits)
    run_seconds = allowance.used_seconds() - began
    costs = Costs(loaded.compile_seconds, run_seconds, allowance)
    return TemplateResult(text=text, gaps=gaps, locate=Tracer(program, scope, limits, costs).locate)


def check(program: Program, limits: Limits) -> None:
    """Compile the template and all modules; raises with every problem that shows by that."""
    programs.check_size(program, limits)
    programs.build(program, Environment(), is_whole=True)


def unused_modules(program: Program, limits: Limits) -> tuple[str, ...]:
    """The names of modules that no template in use refers to; the program must pass `check`."""
    used = programs.load(program, limits).environment.templates
    return tuple(name for name in program.modules if name not in used)
