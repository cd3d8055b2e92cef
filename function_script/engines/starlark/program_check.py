"""Find all problems of a program's sources; the interpreter reports only the first.

Each source is built on its own, and again with stubs for its undefined names, until a build finds
nothing new.
"""

import re
from collections import defaultdict
from dataclasses import replace
from typing import Final

import starlark

from function_script.diagnostics import Diagnostic
from function_script.engines.starlark import build
from function_script.errors import LimitError, ProgramError
from function_script.limits import Limits
from function_script.program import Program

_UNDEFINED: Final = re.compile(r'name "([^"]+)" is not defined$')
_MAX_NAMES: Final = 20


def find_problems(
    program: Program, limits: Limits, options: starlark.EvalOptions
) -> list[Diagnostic]:
    """Return the problems of the main source and of every module; raises LimitError."""
    problems = [
        problem
        for source in program.sources()
        for problem in _find_in_main(replace(program, main=source), limits, options)
    ]
    return list(dict.fromkeys(problems))


def _find_in_main(
    program: Program, limits: Limits, options: starlark.EvalOptions
) -> list[Diagnostic]:
    stubs: dict[str, set[str]] = defaultdict(set)
    problems: list[Diagnostic] = []
    for _ in range(_MAX_NAMES):
        try:
            build.dry_run(program, limits, options, stubs)
        except LimitError:
            raise
        except ProgramError as error:
            (problem,) = error.diagnostics
            name = _UNDEFINED.search(problem.message)
            if name is None or problem.span is None:
                # With stubs, a further error may be no mistake of the program.
                return problems or [problem]
            problems.append(problem)
            stubs[problem.span.name].add(name[1])
        else:
            return problems
    return problems
