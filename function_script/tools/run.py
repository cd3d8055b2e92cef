"""The command ``run``: one RunFunctionRequest as JSON or YAML in, its response as JSON out.

Called by the command line. The request takes the path it takes in production, sandbox included.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from google.protobuf import json_format

from function_script import capture, function, objects
from function_script.errors import FatalError, InputError, ProgramError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.sandbox import Answered, Pool, PoolOptions
from function_script.sandbox.outcome import RETRIED
from function_script.tools import bounded, manifests
from function_script.tools.results import fatal_messages

if TYPE_CHECKING:
    from pathlib import Path

    from function_script.diagnostics import Diagnostic
    from function_script.source import Source
    from function_script.values import Object


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The response as JSON, what the program printed, and the problems behind a FATAL."""

    text: str
    log: str
    error: FatalError | None


def parse(source: Source) -> fnv1.RunFunctionRequest:
    """The request; fields that it does not know are ignored. Raises InputError, DocumentError."""
    found = bounded.read_documents(source)
    if len(found) != 1:
        raise InputError.of(
            f"cannot read {source.name}: it holds {len(found)} requests instead of one"
        )
    value = found[0].value
    if "kind" in value:
        # Its fields would be ignored like any that the request does not know.
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
    request: fnv1.RunFunctionRequest, options: PoolOptions, *, case: Path | None = None
) -> Result:
    """Answer ``request`` as a server does, and write both to the file ``case``.

    Where a worker died or took too long, that is a FATAL result, with desired state as it came.
    Raises FatalError where a server would have the call tried again, and InputError when the case
    cannot be written.
    """
    data = request.SerializeToString()
    with Pool(options) as pool:
        reply = pool.run(data)
    if isinstance(reply, Answered):
        answer, problems = reply.response, reply.diagnostics
    elif reply.cause in RETRIED:
        raise reply.error
    else:
        answer, problems = function.pass_through_unread(data, reply.error), reply.error.diagnostics
    if case is not None:
        _write(case, capture.to_case(data, answer, problems))
    response = fnv1.RunFunctionResponse.FromString(answer)
    return Result(text=to_json(response), log=reply.log, error=_error(response, problems))


def check_name(path: Path) -> None:
    """Raise InputError for a file that `test` would not find."""
    if not path.name.endswith(capture.SUFFIX):
        raise InputError.of(
            f'cannot capture the request in "{path}": it is not the name of a case',
            hint=f"name it NAME{capture.SUFFIX}",
        )


def _write(path: Path, case: str) -> None:
    try:
        path.write_text(case, encoding="utf-8")
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise InputError.of(f'cannot write "{path}": {cause}') from error


def to_json(response: fnv1.RunFunctionResponse) -> str:
    """Protobuf JSON with the protocol's field names; integral numbers without a fraction."""
    found: Object = json_format.MessageToDict(response, preserving_proto_field_name=True)
    return json.dumps(objects.with_integers(found), indent=2, sort_keys=True, ensure_ascii=False)


def _error(
    response: fnv1.RunFunctionResponse, problems: tuple[Diagnostic, ...]
) -> FatalError | None:
    messages = fatal_messages(response)
    if not messages:
        return None
    if problems:
        return ProgramError(*problems)
    return ProgramError.of(f"the function returned a fatal result: {messages[0]}")
