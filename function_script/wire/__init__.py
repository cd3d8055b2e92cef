"""The protocol on the wire: index a request, Struct bytes <-> plain values, splice, respond.

The main path calls it with bytes and gets bytes, dicts and tuples; it never imports protobuf.
"""

from __future__ import annotations

from function_script.wire import decode as _decode
from function_script.wire.decode import decode_struct, decode_struct_fields, decode_value
from function_script.wire.encode import EncodeError, encode_struct
from function_script.wire.fields import WireError
from function_script.wire.messages import (
    Condition,
    Request,
    Requirements,
    Resource,
    Response,
    Result,
    Selector,
    State,
)
from function_script.wire.request import index_request, index_resource
from function_script.wire.response import encode_resource, encode_response
from function_script.wire.splice import splice_resource, splice_state, splice_struct

__all__ = [
    "Condition",
    "EncodeError",
    "Request",
    "Requirements",
    "Resource",
    "Response",
    "Result",
    "Selector",
    "State",
    "WireError",
    "decode_struct",
    "decode_struct_fields",
    "decode_value",
    "encode_resource",
    "encode_response",
    "encode_struct",
    "index_request",
    "index_resource",
    "is_compiled",
    "splice_resource",
    "splice_state",
    "splice_struct",
]


def is_compiled() -> bool:
    """Whether this installation runs the codec as machine code or as plain Python."""
    return not str(_decode.__file__).endswith(".py")
