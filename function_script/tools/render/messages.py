"""Convert plain values to messages of the function protocol and back."""

import base64
import binascii
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final, cast

from google.protobuf.descriptor import Descriptor
from google.protobuf.struct_pb2 import Struct

from function_script import wire
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request.values import Object
from function_script.texts.errors import InputError
from function_script.tools import manifests

with suppress(ImportError):
    # Compiled protobuf reads 33 nested objects at most; a CRD's schema has about 40.
    from google._upb import _message

    _message.SetAllowOversizeProtos(True)  # noqa: FBT003 - it has no name

# An object with 200 others inside one another has 600. Protobuf has no stack for some 50,000.
_MAX_MESSAGES: Final = 1_000
# The lifetime of a response that names none, in the SDKs of functions.
_TTL_SECONDS: Final = 60

CAPABILITIES: Final = (
    fnv1.CAPABILITY_CAPABILITIES,
    fnv1.CAPABILITY_REQUIRED_RESOURCES,
    fnv1.CAPABILITY_CREDENTIALS,
    fnv1.CAPABILITY_CONDITIONS,
    fnv1.CAPABILITY_REQUIRED_SCHEMAS,
)


def write_struct(
    struct: Struct,
    value: Object,
    what: str = "",
    *,
    at: str | None = None,
    error_type: type[InputError] = InputError,
) -> None:
    """Set ``struct`` to ``value``. Errors call it ``what``, or by its kind and name.

    Raises an InputError if JSON cannot hold it, with the field if the value is ``at`` a place.
    """
    try:
        struct.ParseFromString(wire.encode_struct(value))
    except wire.EncodeError as error:
        subject = what or manifests.describe(value)
        field = "" if at is None else f"{at}{error.path}".removeprefix(".")
        raise error_type.of(f"cannot hand over {subject}: {error}", field=field) from error


def read_struct(struct: Struct) -> Object:
    """Return the plain value; integral numbers are ints. Raises InputError for a deep one."""
    try:
        # Protobuf has the keys in another order in each process.
        return wire.decode_struct(struct.SerializeToString(deterministic=True))
    except wire.WireError as error:
        raise InputError.of(f"cannot read an object of a function: {error}") from error


def is_too_deep(response: bytes) -> bool:
    """Report whether messages are so deep inside one another that parsing ends the process."""
    whole, descriptor = wire.Part(response, 0, len(response)), fnv1.RunFunctionResponse.DESCRIPTOR
    parts = [(whole, cast("Descriptor", descriptor))]
    for remaining in range(_MAX_MESSAGES, 0, -1):
        # Each message takes two bytes at least.
        parts = [inner for each in parts for inner in _list_inner(*each, 2 * remaining)]
    return bool(parts)


def _list_inner(
    part: wire.Part, descriptor: Descriptor, size: int
) -> Iterator[tuple[wire.Part, Descriptor]]:
    """Yield the messages in a message that have ``size`` bytes or more, each with its type."""
    with suppress(wire.WireError):
        fields = part.fields()
        while fields.next():
            if fields.end - fields.start >= size:
                field = descriptor.fields_by_number.get(fields.number)
                if field is not None and field.message_type is not None:
                    yield fields.part(), field.message_type


def state(composed: Mapping[str, Object]) -> fnv1.State:
    """Build a state of objects alone: nothing says that a resource is ready."""
    message = fnv1.State()
    for name in sorted(composed):
        write_struct(message.resources[name].resource, composed[name])
    return message


def make_start(context: Object, desired: fnv1.State) -> fnv1.RunFunctionResponse:
    """Build what the first step of a pipeline gets, as the response of a step before it."""
    response = fnv1.RunFunctionResponse(desired=desired)
    write_struct(response.context, context, "the context")
    return response


def sign(request: fnv1.RunFunctionRequest) -> None:
    """Set ``meta``: the tag is a hash of everything else, as in Crossplane."""
    # Maps of protobuf have no order of their own, and equal requests need equal tags.
    request.meta.tag = hashlib.sha256(request.SerializeToString(deterministic=True)).hexdigest()
    request.meta.capabilities.extend(CAPABILITIES)


def pass_through(request: fnv1.RunFunctionRequest) -> fnv1.RunFunctionResponse:
    """Build the response of a function that changes nothing."""
    response = fnv1.RunFunctionResponse()
    response.meta.tag = request.meta.tag
    response.meta.ttl.seconds = _TTL_SECONDS
    if request.HasField("desired"):
        response.desired.CopyFrom(request.desired)
    if request.HasField("context"):
        response.context.CopyFrom(request.context)
    return response


def fatal_messages(response: fnv1.RunFunctionResponse) -> list[str]:
    """Return the messages of the fatal results, which end the pipeline."""
    fatal = fnv1.SEVERITY_FATAL
    return [result.message for result in response.results if result.severity == fatal]


def quoted(text: str) -> str:
    """Quote ``text`` as Crossplane's events and errors do."""
    return json.dumps(text, ensure_ascii=False)


def secret_data(secret: Object) -> dict[str, bytes]:
    """Decode a Secret's data; ``stringData`` wins, as when it is applied. Raises InputError."""
    data = manifests.texts_at(secret, "data")
    try:
        values = {key: base64.b64decode(text, validate=True) for key, text in data.items()}
    except binascii.Error as error:
        raise InputError.of(
            f"cannot read {manifests.describe(secret)}: its data is not base64",
            hint="plain text goes into stringData",
        ) from error
    texts = manifests.texts_at(secret, "stringData")
    return values | {key: text.encode() for key, text in texts.items()}
