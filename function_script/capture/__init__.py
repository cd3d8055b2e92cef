"""A request and its answer as one case file without secrets, which `function-script test` replays.

Called by the server for composite resources that ask for it, and by the command `run`. Knows
nothing of where the text goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from google.protobuf import json_format
from google.protobuf.message import DecodeError

from function_script import documents, objects
from function_script.capture import answers
from function_script.capture.masking import SecretMasker
from function_script.errors import InputError
from function_script.proto.v1 import run_function_pb2 as fnv1

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.protobuf.message import Message

    from function_script.diagnostics import Diagnostic
    from function_script.values import Object

ANNOTATION: Final = "script.fn.crossplane.io/capture"
"""On a composite resource with the value "true": its requests may be captured."""

SUFFIX: Final = ".case.yaml"


def is_requested(request: bytes) -> bool:
    """Whether the observed composite resource asks for it."""
    if ANNOTATION.encode() not in request:
        return False
    try:
        message = fnv1.RunFunctionRequest.FromString(request)
    except DecodeError:
        return False
    metadata = message.observed.composite.resource.fields["metadata"].struct_value
    annotations = metadata.fields["annotations"].struct_value
    return annotations.fields[ANNOTATION].string_value == "true"


def to_case(request: bytes, response: bytes, problems: Sequence[Diagnostic] = ()) -> str:
    """The text of a case: the request, and that it is answered like this again.

    ``problems`` are those behind a FATAL result. Raises InputError for messages that JSON cannot
    hold, and for more secrets than can be looked for.
    """
    asked = _to_object(fnv1.RunFunctionRequest.FromString(request))
    answer = fnv1.RunFunctionResponse.FromString(response)
    told = answers.to_expected(_to_object(answer), [problem.message for problem in problems])
    # Equal requests differ in it, and no program sees it.
    _drop_tag(asked)
    masker = SecretMasker()
    masker.find(asked)
    masker.find(_to_object(answer))
    case: Object = {"description": _describe(asked)}
    if masker.words:
        case["redacted"] = len(masker.words)
    case.update({"request": asked, "expect": told})
    return documents.to_yaml(masker.mask(case))


def _drop_tag(request: Object) -> None:
    meta = request.get("meta")
    if isinstance(meta, dict):
        meta.pop("tag", None)
        if not meta:
            del request["meta"]


def _describe(request: Object) -> str:
    xr = objects.find_path(request, "observed.composite.resource")
    if not isinstance(xr, dict):
        return "A request that was captured."
    metadata = xr.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    names = [metadata[key] for key in ("namespace", "name") if isinstance(metadata.get(key), str)]
    return f"A request of {xr.get('kind')} {'/'.join(map(str, names))} that was captured."


def _to_object(message: Message) -> Object:
    try:
        found: Object = json_format.MessageToDict(message, preserving_proto_field_name=True)
    except (json_format.SerializeToJsonError, RecursionError) as error:
        raise InputError.of(f"cannot capture the request: {error}") from error
    return found
