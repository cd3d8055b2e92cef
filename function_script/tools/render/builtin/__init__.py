"""Functions of the Crossplane project that run here, without their image.

Each equals one release of the real function: the same desired state, readiness, context,
requirements and severity. docs/reference/functions.md has the differences.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, cast

from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request.values import Object
from function_script.texts.errors import InputError
from function_script.tools.render import messages
from function_script.tools.render.requirements import StepResponse

# The beginning of the real functions' message.
_CANNOT_DECODE: Final = "cannot get Function input from *v1.RunFunctionRequest: "


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinFunction:
    """A function that runs here.

    ``name`` is the last part of its package's repository, ``version`` the release it equals,
    and ``api_version`` that of its input, whatever a step writes there. The module of its name has
    ``run(input, request, response)``, which raises InputError for a FATAL result.
    """

    name: str
    version: str
    api_version: str


FUNCTIONS: Final = {
    name: BuiltinFunction(name=name, version=version, api_version=f"{group}/v1beta1")
    for name, version, group in (
        ("function-auto-ready", "v0.7.0", "autoready.fn.crossplane.io"),
        ("function-environment-configs", "v0.7.1", "environmentconfigs.fn.crossplane.io"),
        ("function-extra-resources", "v0.3.0", "extra-resources.fn.crossplane.io"),
    )
}
"""The functions by the last part of their packages' repositories."""


def repository_name(reference: str) -> str:
    """Return the last part of a package's repository, without tag and digest."""
    return reference.partition("@")[0].rpartition("/")[2].partition(":")[0]


def call(function: BuiltinFunction, request: fnv1.RunFunctionRequest) -> StepResponse:
    """Answer a request as the function does."""
    module_name = function.name.removeprefix("function-").replace("-", "_")
    module = importlib.import_module(f"{__name__}.{module_name}")
    run = cast(
        "Callable[[Object, fnv1.RunFunctionRequest, fnv1.RunFunctionResponse], None]", module.run
    )
    response = messages.pass_through(request)
    value = messages.read_struct(request.input)
    try:
        _check_input(function, value)
        run(value, request, response)
    except InputError as error:
        # What the function wrote before its error is no part of a FATAL response.
        response = messages.pass_through(request)
        text = "; ".join(problem.message for problem in error.diagnostics)
        response.results.add(severity=fnv1.SEVERITY_FATAL, message=text)
        return StepResponse(response=response, diagnostics=error.diagnostics)
    return StepResponse(response=response)


def _check_input(function: BuiltinFunction, value: Object) -> None:
    """Raise InputError if the real function's type or its schema has no such input."""
    if not value:
        return
    from function_script.tools import input_schema  # noqa: PLC0415 - jsonschema is slow to import

    problems = input_schema.check_other(value, function.api_version)
    if problems:
        raise InputError(
            *(
                replace(problem.to_diagnostic(_CANNOT_DECODE), field=f"input.{problem.path}")
                for problem in problems
            )
        )
