"""Cases with one request, such as those that were captured: read them, and ask the function again.

Called by the parser and by what runs cases. Crossplane is not played here: what counts is what
the function answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from google.protobuf import json_format

from function_script.capture import answers
from function_script.diagnostics import Diagnostic
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.tools.cases import programs
from function_script.tools.cases.model import Setup
from function_script.tools.render import error_positions, runners, steps
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.results import fatal_messages

if TYPE_CHECKING:
    from function_script.fields import ObjectReader
    from function_script.tools.cases.loader import ObjectLoader
    from function_script.tools.render.requirements import StepResponse
    from function_script.tools.render.runners import FunctionCaller
    from function_script.tools.render.steps import Step
    from function_script.values import Object

KEYS: Final = ("description", "request", "redacted", "input", "expect")


def read(loader: ObjectLoader, fields: ObjectReader) -> Setup | None:
    """What a case with a ``request`` gives; None when it has problems."""
    for key in sorted(fields.value.keys() - {*KEYS}):
        fields.problems.add(key, "cannot stand beside request", hint="the request has it all")
    if fields.value.get("expect") is None:
        fields.problems.add("expect", "is required beside request")
    redacted = fields.value.get("redacted", 0)
    if not isinstance(redacted, int) or isinstance(redacted, bool):
        fields.problems.add("redacted", "must be a whole number")
        redacted = 0
    found = fields.object("request")
    if found is None:
        return None
    if fields.value.get("input") is not None:
        replaced = loader.value(fields, "input")
        found.value["input"] = {} if replaced is None else replaced
    try:
        request = json_format.ParseDict(found.value, fnv1.RunFunctionRequest())
    except json_format.ParseError as error:
        fields.problems.add("request", f"is no RunFunctionRequest: {error}")
        return None
    program = programs.of_request(loader, fields, found.value.get("input"))
    if program is None:
        return None
    return Setup(program=program, xr={}, request=request, redacted=redacted)


def replay(
    setup: Setup, request: fnv1.RunFunctionRequest, caller: FunctionCaller, seconds: float
) -> Object:
    """The loader of the answer. Raises FatalError, positions in the files of its author."""
    program = setup.program
    (step,) = steps.parse(program.composition)
    runner = runners.build({step.name: "local"}, caller, seconds)
    with error_positions.map_errors(program.document, program.root, program.find_input):
        answer = runner(step, request)
        if fatal_messages(answer.response):
            raise _failure(step, answer)
    response: Object = json_format.MessageToDict(answer.response, preserving_proto_field_name=True)
    return answers.to_parts(response)


def _failure(step: Step, answer: StepResponse) -> PipelineError:
    told = [Diagnostic(message=text) for text in fatal_messages(answer.response)]
    return PipelineError(step, *(answer.diagnostics or told))
