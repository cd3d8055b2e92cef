"""The engine for JinjaTemplate: renders a YAML stream in a hardened Jinja.

Its functions raise FatalError only.
"""

from function_script.engines import foreign_syntax
from function_script.engines.allowance import Allowance
from function_script.engines.jinja import programs
from function_script.engines.jinja.rendering import render
from function_script.engines.jinja.source_map import Costs, LineLocator
from function_script.limits import Limits
from function_script.program import Program, Scope, TemplateResult


def evaluate(program: Program, scope: Scope, limits: Limits) -> TemplateResult:
    """Render the template; ``locate`` of the result renders it once more, when first called."""
    allowance = Allowance(limits)
    compiled = programs.load(program, limits)
    start = allowance.used_seconds()
    text, gaps = render(compiled, scope, limits)
    costs = Costs(compiled.compile_seconds, allowance.used_seconds() - start, allowance)
    locator = LineLocator(program, scope, limits, costs)
    return TemplateResult(
        text=text,
        gaps=gaps,
        locate=locator.locate,
        explain=lambda line: locator.explain(line, text),
        doubts=foreign_syntax.find_dollars(program.sources()),
    )


def check(program: Program, limits: Limits) -> None:
    """Compile the template and all modules; raises FatalError with the problems found by that."""
    programs.check_size(program, limits)
    programs.build(program, is_whole=True)


def unused_modules(program: Program, limits: Limits) -> tuple[str, ...]:
    """Return the modules that no used template refers to; the program must pass `check`."""
    used = programs.load(program, limits).environment.templates
    return tuple(name for name in program.modules if name not in used)
