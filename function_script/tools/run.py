"""The command ``run``: a RunFunctionRequest as JSON or YAML in, its response as JSON out.

The request is handled as in production, sandbox included.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from google.protobuf import json_format

from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import capture, objects
from function_script.request.values import Object
from function_script.sandbox.outcome import RETRIED
from function_script.sandbox.pool import Pool, PoolOptions
from function_script.step import function
from function_script.step.telemetry import Answered
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError, InputError, ProgramError
from function_script.texts.source import Source
from function_script.tools import local_pool, manifests, sources
from function_script.tools.processes.options import PackageOptions
from function_script.tools.project import write_named
from function_script.tools.render.messages import fatal_messages

_EXPLICIT: Final = "=process"
# For one answer of a function of somebody else.
_PACKAGE_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The response as JSON, the program's output, and the problems behind a FATAL result."""

    text: str
    log: str
    error: FatalError | None


def parse(source: Source) -> fnv1.RunFunctionRequest:
    """Parse a request; unknown fields are ignored. Raises InputError, DocumentError."""
    value = sources.read_one(source, noun="request").value
    if "kind" in value:
        # A manifest's fields would be ignored like all unknown fields.
        raise InputError.of(
            f"cannot read {source.name} as a RunFunctionRequest: it is {manifests.describe(value)}",
            hint="render takes manifests, and makes requests of them",
        )
    try:
        return json_format.ParseDict(value, fnv1.RunFunctionRequest(), ignore_unknown_fields=True)
    except json_format.ParseError as error:
        raise InputError.of(
            f"cannot read {source.name} as a RunFunctionRequest: {error}",
            hint="it has the fields meta, observed, desired, input, context and so on",
        ) from error


def run(
    request: fnv1.RunFunctionRequest,
    options: PoolOptions,
    *,
    case: Path | None = None,
    packages: PackageOptions | None = None,
) -> Result:
    """Handle ``request`` as a server does, and write request and response to the file ``case``.

    If a worker dies or exceeds its time, the response is a FATAL result with the desired state of
    the request. Raises FatalError where a server would let the caller retry, and InputError if the
    case cannot be written.
    """
    data = request.SerializeToString()
    with Pool(options) as pool:
        reply = local_pool.evaluate(data, pool.run, packages or PackageOptions())
    if isinstance(reply, Answered):
        response_data, problems = reply.response, reply.diagnostics
    elif reply.cause in RETRIED:
        raise local_pool.error_of(reply)
    else:
        response_data = function.pass_through_unread(data, reply.error)
        problems = reply.error.diagnostics
    if case is not None:
        write_named(case, capture.to_case(data, response_data, problems).encode())
    response = fnv1.RunFunctionResponse.FromString(response_data)
    return Result(text=to_json(response), log=reply.log, error=_error(response, problems))


def run_package(
    reference: str, request: fnv1.RunFunctionRequest, options: PackageOptions
) -> Result:
    """Call the function of a package, started for this one request. Raises FatalError.

    ``=process`` after the reference allows to run it without confinement.
    """
    if sys.platform != "linux":
        raise InputError.of("cannot run a package: it runs as a process on Linux alone")
    from function_script.tools.processes import cache, server  # noqa: PLC0415 - of Linux

    package = reference.removesuffix(_EXPLICIT)
    image = cache.load_package(package, package, options)
    is_explicit = reference.endswith(_EXPLICIT)
    process = server.FunctionServer(package, image, allows_unconfined=is_explicit)
    try:
        process.wait()
        response = process.call(request, _PACKAGE_SECONDS)
    finally:
        process.stop()
    return Result(text=to_json(response), log="", error=_error(response, ()))


def check_name(path: Path) -> None:
    """Raise InputError for a name that `test` does not recognize, or of a case that is there."""
    if path.exists():
        raise InputError.of(f'cannot capture the request in "{path}": the file is there already')
    if not path.name.endswith(capture.SUFFIX):
        raise InputError.of(
            f'cannot capture the request in "{path}": it is not the name of a case',
            hint=f"name it NAME{capture.SUFFIX}",
        )


def to_json(response: fnv1.RunFunctionResponse) -> str:
    """Format as protobuf JSON with the protocol's field names; whole numbers have no fraction."""
    fields: Object = json_format.MessageToDict(response, preserving_proto_field_name=True)
    return json.dumps(objects.with_integers(fields), indent=2, sort_keys=True, ensure_ascii=False)


def _error(
    response: fnv1.RunFunctionResponse, problems: tuple[Diagnostic, ...]
) -> FatalError | None:
    messages = fatal_messages(response)
    if not messages:
        return None
    if problems:
        return ProgramError(*problems)
    return ProgramError.of(f"the function returned a fatal result: {messages[0]}")
