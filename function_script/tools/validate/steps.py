"""The inputs of a pipeline's steps: each is checked like a resource of its own.

An input of ours is also parsed as when it runs, and its program compiled, so that what a schema
cannot say shows here and not in the cluster.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from function_script import diagnostics
from function_script.diagnostics import Diagnostic
from function_script.errors import FatalError, InputError
from function_script.tools import author_positions, step_inputs
from function_script.tools.validate.findings import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.tools.step_inputs import StepInput


def problems(found: StepInput) -> Iterator[Problem]:
    """What would stop the step before its program runs."""
    try:
        step_inputs.check_program(step_inputs.parse(found))
    except InputError as error:
        for diagnostic in error.diagnostics:
            yield _field_problem(diagnostic)
    except FatalError as error:
        for diagnostic in error.diagnostics:
            yield _program_problem(diagnostic, found)


def _field_problem(diagnostic: Diagnostic) -> Problem:
    """A problem with a field, seen from inside the input."""
    text = diagnostic.message.removeprefix(f"{diagnostic.field}: ")
    field = diagnostic.field.removeprefix("input").removeprefix(".")
    line = diagnostics.to_line((Diagnostic(message=text, hint=diagnostic.hint),))
    return Problem(type="schema", field=field, message=f"{field}: {line}")


def _program_problem(diagnostic: Diagnostic, found: StepInput) -> Problem:
    span = diagnostic.span
    outer = None if span is None else author_positions.find_outer(span, found)
    line = diagnostics.to_line((replace(diagnostic, span=outer or span),))
    return Problem(type="program", field="" if span is None else span.name, message=line)
