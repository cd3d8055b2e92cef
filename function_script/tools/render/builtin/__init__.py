"""Functions of the Crossplane project that run here, without their image.

Each equals one version of the real function: the same desired state, readiness, context,
requirements and severity. docs/reference/render-compatibility.md has the differences.
"""

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, cast

from function_script.errors import InputError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.tools.render import messages
from function_script.values import Object

_TTL_SECONDS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinFunction:
    """A function that runs here.

    ``name`` is the last part of its package's repository, ``version`` the release it equals, and
    ``module`` has ``run(input, request, response)``, which raises InputError for a FATAL result.
    """

    name: str
    version: str
    module: str


_FUNCTIONS: Final = {
    function.name: function
    for function in (
        BuiltinFunction(name="function-auto-ready", version="v0.7.0", module="auto_ready"),
        BuiltinFunction(
            name="function-environment-configs", version="v0.7.1", module="environment_configs"
        ),
        BuiltinFunction(
            name="function-extra-resources", version="v0.3.0", module="extra_resources"
        ),
    )
}


def find(names: Iterable[str]) -> BuiltinFunction | None:
    """Return the function for one of these names or package references, if there is one."""
    matches = (_FUNCTIONS.get(repository_name(name)) for name in names)
    return next((match for match in matches if match is not None), None)


def repository_name(reference: str) -> str:
    """Return the last part of a package's repository, without tag and digest."""
    return reference.partition("@")[0].rpartition("/")[2].partition(":")[0]


def call(function: BuiltinFunction, request: fnv1.RunFunctionRequest) -> fnv1.RunFunctionResponse:
    """Answer a request as the function does."""
    module = importlib.import_module(f"{__name__}.{function.module}")
    run = cast(
        "Callable[[Object, fnv1.RunFunctionRequest, fnv1.RunFunctionResponse], None]", module.run
    )
    response = _pass_through(request)
    try:
        run(messages.read_struct(request.input), request, response)
    except InputError as error:
        response = _pass_through(request)
        message = "; ".join(diagnostic.message for diagnostic in error.diagnostics)
        response.results.add(severity=fnv1.SEVERITY_FATAL, message=message)
    return response


def _pass_through(request: fnv1.RunFunctionRequest) -> fnv1.RunFunctionResponse:
    """Build the response of a function that changes nothing."""
    response = fnv1.RunFunctionResponse()
    response.meta.tag = request.meta.tag
    response.meta.ttl.seconds = _TTL_SECONDS
    if request.HasField("desired"):
        response.desired.CopyFrom(request.desired)
    if request.HasField("context"):
        response.context.CopyFrom(request.context)
    return response
