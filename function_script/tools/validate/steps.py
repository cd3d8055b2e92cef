"""Validation of the inputs of a pipeline's steps; each input is reported as its own resource.

Behind the check against its CRD an input of ours is parsed as when it runs, and its program is
compiled: this finds mistakes that a schema cannot express.
"""

from collections.abc import Iterator
from dataclasses import replace

from function_script.documents import Document
from function_script.inputs import FindInput
from function_script.request.values import Object
from function_script.texts import diagnostics
from function_script.texts.errors import FatalError, InputError
from function_script.tools import author_positions, input_schema, step_inputs
from function_script.tools.validate.report import Problem


def misplaced_problems(document: Document) -> Iterator[Problem]:
    """Yield the inputs of a pipeline, and references to inputs, that no function gets."""
    for field, misplaced in step_inputs.find_misplaced_fields(document):
        line = diagnostics.to_line(
            (diagnostics.Diagnostic(message=misplaced.text, hint=misplaced.hint),)
        )
        yield Problem(type="schema", field=field, message=f"{field}: {line}")


def metadata_problems(value: Object) -> Iterator[Problem]:
    """Yield the problems of the metadata of another function's input."""
    for field, text, *_ in input_schema.find_metadata_problems(value):
        yield Problem(type="schema", field=field, message=f"{field}: {text}", path=field)


def parser_problems(step: step_inputs.StepInput, find_input: FindInput) -> Iterator[Problem]:
    """Yield the problems that would stop the step before its program runs.

    ``find_input`` finds the object that an input refers to, whose fields are then the step's.
    """
    try:
        step_inputs.check_program(step_inputs.parse(step, find_input=find_input))
    except InputError as error:
        for diagnostic in error.diagnostics:
            text = diagnostic.message.removeprefix(f"{diagnostic.field}: ")
            field = diagnostic.field.removeprefix("input").removeprefix(".")
            line = diagnostics.to_line(
                (diagnostics.Diagnostic(message=text, hint=diagnostic.hint),)
            )
            yield Problem(type="schema", field=field, message=f"{field}: {line}")
    except FatalError as error:
        for diagnostic in error.diagnostics:
            span = diagnostic.span
            outer = None if span is None else author_positions.find_outer(span, step)
            line = diagnostics.to_line((replace(diagnostic, span=outer or span),))
            field = "" if span is None else span.name
            yield Problem(type="program", field=field, message=line)
