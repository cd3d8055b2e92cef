"""Everything that is wrong with a program's sources, where the interpreter tells the first only.

Called when a program is checked without being run: each source is tried on its own, and again
with the names that it does not know, until nothing new turns up.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from function_script.engines.starlark import build
from function_script.errors import LimitError, ProgramError

if TYPE_CHECKING:
    import starlark

    from function_script.diagnostics import Diagnostic
    from function_script.limits import Limits
    from function_script.program import Program

_UNDEFINED: Final = re.compile(r'name "([^"]+)" is not defined$')
_MAX_NAMES: Final = 20


def find_problems(
    program: Program, limits: Limits, options: starlark.EvalOptions
) -> list[Diagnostic]:
    """The problems of the main source and of every module, each once; raises LimitError."""
    sources = (program.main, *program.modules.values())
    found = [
        problem
        for source in sources
        for problem in _of_source(replace(program, main=source), limits, options)
    ]
    return list(dict.fromkeys(found))


def _of_source(program: Program, limits: Limits, options: starlark.EvalOptions) -> list[Diagnostic]:
    given: dict[str, set[str]] = defaultdict(set)
    found: list[Diagnostic] = []
    for _ in range(_MAX_NAMES):
        try:
            build.dry_run(program, limits, options, given)
        except LimitError:
            raise
        except ProgramError as error:
            (problem,) = error.diagnostics
            name = _UNDEFINED.search(problem.message)
            if name is None or problem.span is None:
                # With names that stand for nothing, what follows may be no mistake.
                return found or [problem]
            found.append(problem)
            given[problem.span.name].add(name[1])
        else:
            return found
    return found
