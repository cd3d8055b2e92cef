"""Validation of the inputs of a pipeline's steps; each input is reported as its own resource.

An input of ours is validated against its CRD with jsonschema, then parsed as when it runs, and its
program is compiled: this finds mistakes that a schema cannot express.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, cast

from function_script.documents import Document
from function_script.inputs import FindInput
from function_script.request.values import Object, Value
from function_script.texts import diagnostics
from function_script.texts.errors import FatalError, InputError
from function_script.tools import author_positions, input_schema, step_inputs, structural_schema
from function_script.tools.validate import wording
from function_script.tools.validate.report import Problem

_MAX_INT64: Final = 1 << 63
_FAULTS: Final = {
    "minLength": "should be at least {} chars long",
    "minItems": "should have at least {} items",
    "minProperties": "should have at least {} properties",
    "pattern": "should match '{}'",
    "minimum": "should be greater than or equal to {}",
}


def schema_problems(value: Object, schema: Object) -> Iterator[Problem]:
    """Yield what the CRD of our own does not allow, in the API server's words."""
    for violation in input_schema.find_violations(value, schema):
        path, part, expected = violation.path, violation.value, violation.expected
        match violation.keyword:
            case "required":
                yield wording.missing(path)
            case "enum":
                yield wording.unsupported(path, part, cast("list[Value]", expected))
            case "maxLength":
                yield wording.too_long(path, cast("int", expected))
            case "maxItems" | "maxProperties":
                yield wording.too_many(path, len(cast("Object", part)), cast("int", expected))
            case "anyOf":
                yield wording.whole(path, f'"{path}" must validate at least one schema (anyOf)')
            case "allOf":
                count = "" if expected else ". None validated"
                yield wording.whole(path, f'"{path}" must validate all the schemas (allOf){count}')
            case "type" | structural_schema.INT_OR_STRING:
                yield from _type_problems(violation)
            case keyword:
                # Problems of lists and objects show their size in place of their value.
                part_or_size = len(part) if isinstance(part, (list, dict)) else part
                yield wording.invalid(path, part_or_size, _FAULTS[keyword].format(expected))


def _type_problems(violation: input_schema.Violation) -> Iterator[Problem]:
    path, value, expected = violation.path, violation.value, violation.expected
    types = ",".join(map(str, expected)) if isinstance(expected, list) else str(expected)
    actual = wording.type_of(value)
    yield wording.wrong_type(path, types, actual)
    number = cast("float", value)
    if (
        expected == "integer"
        and actual == "number"
        and not (
            (isinstance(number, int) or number.is_integer()) and -_MAX_INT64 <= number < _MAX_INT64
        )
    ):
        text = f"Checked value must be of type integer (default format) in {path}"
        yield wording.whole(path, text)


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
