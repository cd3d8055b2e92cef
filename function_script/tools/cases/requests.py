"""Cases with one request, such as captured ones: parse them, and call the function again.

The response of the function is compared, not what Crossplane makes of it.
"""

from typing import Final

from google.protobuf import json_format

from function_script.capture import responses
from function_script.diagnostics import Diagnostic
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.reader import ObjectReader
from function_script.tools.cases import programs
from function_script.tools.cases.loader import ObjectLoader
from function_script.tools.cases.model import Setup
from function_script.tools.render import error_positions, steps
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.runtimes.local import Local
from function_script.tools.render.runtimes.model import FunctionCaller, build_runner
from function_script.tools.results import fatal_messages
from function_script.values import Object

KEYS: Final = ("description", "request", "redacted", "input", "expect")


def read(loader: ObjectLoader, fields: ObjectReader) -> Setup | None:
    """Parse the setup of a case with a ``request``; None if it has problems."""
    for key in sorted(fields.value.keys() - {*KEYS}):
        fields.problems.add(key, "cannot stand beside request", hint="the request has it all")
    if fields.value.get("expect") is None:
        fields.problems.add("expect", "is required beside request")
    redacted = fields.value.get("redacted", 0)
    if not isinstance(redacted, int) or isinstance(redacted, bool):
        fields.problems.add("redacted", "must be a whole number")
        redacted = 0
    request_fields = fields.object("request")
    if request_fields is None:
        return None
    if fields.value.get("input") is not None:
        other = loader.value(fields, "input")
        request_fields.value["input"] = {} if other is None else other
    try:
        request = json_format.ParseDict(request_fields.value, fnv1.RunFunctionRequest())
    except json_format.ParseError as error:
        fields.problems.add("request", f"is no RunFunctionRequest: {error}")
        return None
    program = programs.read_request(loader, fields, request_fields.value.get("input"))
    if program is None:
        return None
    return Setup(program=program, xr={}, request=request, redacted=redacted)


def replay(
    setup: Setup, request: fnv1.RunFunctionRequest, caller: FunctionCaller, seconds: float
) -> Object:
    """Call the function; return the outcome. Raises FatalError, positions in the author's files."""
    program = setup.program
    (step,) = steps.parse(program.composition)
    runner = build_runner({step.name: Local()}, caller, seconds)
    with error_positions.map_errors(program.document, program.root, program.find_input):
        reply = runner(step, request)
        if messages := fatal_messages(reply.response):
            problems = reply.diagnostics or [Diagnostic(message=text) for text in messages]
            raise PipelineError(step, *problems)
    response: Object = json_format.MessageToDict(reply.response, preserving_proto_field_name=True)
    return responses.to_parts(response)
