"""Capture: a request and its response as a case file without secrets, for `function-script test`.

The server captures for composite resources with an annotation, the command `run` on request.
"""

from collections.abc import Sequence
from typing import Final

from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message

from function_script import documents, wire
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.capture import responses
from function_script.request.capture.masking import SecretMasker
from function_script.request.request import view_object
from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError

ANNOTATION: Final = "script.fn.crossplane.io/capture"
"""The annotation of composite resources that allows captures with the value "true"."""

SUFFIX: Final = ".case.yaml"


def is_requested(request: bytes) -> bool:
    """Report whether the observed composite resource has the annotation."""
    try:
        observed = wire.index_request(request).observed
        composite = None if observed is None else observed.composite
        xr = view_object(None if composite is None else composite.struct_part)
        return objects.find_path(xr, ("metadata", "annotations", ANNOTATION)) == "true"
    except wire.WireError:
        return False


def to_case(request: bytes, response: bytes, problems: Sequence[Diagnostic] = ()) -> str:
    """Return the YAML of a case that expects ``response`` to ``request``.

    ``problems`` are the diagnostics of a FATAL result. Raises InputError for messages that JSON
    cannot represent, and for secrets beyond the budget of the search.
    """
    request_object = _to_object(fnv1.RunFunctionRequest, request)
    expectation = responses.to_expected(_to_object(fnv1.RunFunctionResponse, response), problems)
    meta = request_object.get("meta")
    if isinstance(meta, dict):
        # The tag differs between equal requests, and programs do not see it.
        meta.pop("tag", None)
        if not meta:
            del request_object["meta"]
    masker = SecretMasker()
    masker.find(request_object)
    # Before anything is masked: a secret of one message may be anywhere in the other.
    masker.find(_to_object(fnv1.RunFunctionResponse, response))
    case: Object = {"description": _describe(request_object)}
    if masker.count:
        case["redacted"] = masker.count
    case.update({"request": request_object, "expect": expectation})
    return documents.to_yaml(masker.mask(case))


def _describe(request: Object) -> str:
    xr = objects.find_path(request, "observed.composite.resource")
    if not isinstance(xr, dict):
        return "A request that was captured."
    fields = (objects.find_path(xr, f"metadata.{key}") for key in ("namespace", "name"))
    names = "/".join(name for name in fields if isinstance(name, str))
    return f"A request of {xr.get('kind')} {names} that was captured."


def _to_object(type_: type[Message], data: bytes) -> Object:
    try:
        message = type_.FromString(data)
        value: Object = json_format.MessageToDict(message, preserving_proto_field_name=True)
    except (json_format.SerializeToJsonError, DecodeError, RecursionError) as error:
        raise InputError.of(f"cannot capture the request: {error}") from error
    return value
