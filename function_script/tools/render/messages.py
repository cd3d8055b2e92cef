"""Plain values to and from the protocol's messages: the only module here that builds them.

Called by the pipeline, for each step and each call.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from function_script import wire
from function_script.errors import InputError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.tools import manifests

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from google.protobuf.struct_pb2 import Struct

    from function_script.values import Object

# For modules that pass the message on.
State = fnv1.State

CAPABILITIES: Final = (
    fnv1.CAPABILITY_CAPABILITIES,
    fnv1.CAPABILITY_REQUIRED_RESOURCES,
    fnv1.CAPABILITY_CREDENTIALS,
    fnv1.CAPABILITY_CONDITIONS,
    fnv1.CAPABILITY_REQUIRED_SCHEMAS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """One observed object and its connection secret's data."""

    manifest: Object
    connection_details: Mapping[str, bytes] = field(default_factory=dict)


def write_struct(struct: Struct, value: Object, what: str = "") -> None:
    """Set ``struct`` to ``value``, an object or ``what`` it is called.

    Raises InputError for what JSON cannot hold.
    """
    try:
        struct.ParseFromString(wire.encode_struct(value))
    except ValueError as error:
        called = what or manifests.describe(value)
        raise InputError.of(f"cannot hand over {called}: {error}") from error


def read_struct(struct: Struct) -> Object:
    """The plain value; integral numbers are ints."""
    return wire.decode_struct(struct.SerializeToString())


def state(xr: Observed, composed: Mapping[str, Observed]) -> fnv1.State:
    """The observed state: the same message for every step."""
    message = fnv1.State()
    _write_resource(message.composite, xr)
    for name in sorted(composed):
        _write_resource(message.resources[name], composed[name])
    return message


def _write_resource(message: fnv1.Resource, observed: Observed) -> None:
    write_struct(message.resource, observed.manifest)
    message.connection_details.update(observed.connection_details)


def resources(found: Iterable[Object]) -> fnv1.Resources:
    """What a requirement is answered with; empty means that nothing was found."""
    message = fnv1.Resources()
    for manifest in found:
        write_struct(message.items.add().resource, manifest)
    return message


def schema(found: Object | None) -> fnv1.Schema:
    """A kind's OpenAPI schema; empty means that it is not known."""
    message = fnv1.Schema()
    if found is not None:
        write_struct(message.openapi_v3, found)
    return message


def sign(request: fnv1.RunFunctionRequest) -> None:
    """Set ``meta``: the tag is a hash of everything else, as in Crossplane."""
    tag = hashlib.sha256(request.SerializeToString(deterministic=True)).hexdigest()
    request.meta.tag = tag
    request.meta.capabilities.extend(CAPABILITIES)


def quoted(text: str) -> str:
    """``text`` in quotes, as Crossplane's events and errors have it."""
    return json.dumps(text, ensure_ascii=False)


def secrets(found: Iterable[Object]) -> list[Object]:
    """Secrets as they are looked up: one without a type is of the usual one."""
    return [{"apiVersion": "v1", "kind": "Secret", **item} for item in found]


def secret_data(secret: Object) -> dict[str, bytes]:
    """A Secret's data, decoded; ``stringData`` wins, as when it is applied. Raises InputError."""
    data = manifests.texts_at(secret, "data")
    try:
        decoded = {key: base64.b64decode(text, validate=True) for key, text in data.items()}
    except binascii.Error as error:
        raise InputError.of(
            f"cannot read {manifests.describe(secret)}: its data is not base64",
            hint="plain text goes into stringData",
        ) from error
    texts = manifests.texts_at(secret, "stringData")
    return decoded | {key: text.encode() for key, text in texts.items()}
