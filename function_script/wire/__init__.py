"""The codec of the protocol: index a request, Struct bytes <-> plain values, splice, respond.

It takes and returns bytes and plain values, and does not import protobuf. mypyc compiles it where
possible (setup.py).
"""

# A message is a sequence of fields. A field is its tag, which is its number and its wire type
# (number << 3 | type), and its content. Content of type LENGTH, for strings, bytes and messages, is
# preceded by its size. The .proto maps numbers to names. {"on": true, "tags": ["a"]} is:
#
#   0a 08                 Struct.fields (field 1, LENGTH), 8 bytes: the first entry of a map
#      0a 02  6f 6e          its key (field 1, LENGTH), 2 bytes: "on"
#      12 02                 its value (field 2, LENGTH), 2 bytes: a Value
#         20 01                 Value.bool_value (field 4, VARINT): true
#   0a 0f                 Struct.fields, 15 bytes: the second entry
#      0a 04  74 61 67 73    its key: "tags"
#      12 07                 its value, 7 bytes
#         32 05                 Value.list_value (field 6, LENGTH), 5 bytes: a ListValue
#            0a 03                 ListValue.values (field 1, LENGTH), 3 bytes: a Value
#               1a 01  61             Value.string_value (field 3, LENGTH), 1 byte: "a"
#
# Value.number_value (field 2, FIXED64) is 11 and eight bytes of a double; null_value (field 1,
# VARINT) is 08 00; struct_value is field 5. A VARINT, such as a size, has seven bits in each byte,
# the lowest first, and every byte but the last has the top bit set: 300 is ac 02.
#
# Fields may have any order. Unknown ones are skipped, because a newer protocol may define them. Of
# a repeated scalar, and of a repeated key of a map, the last one counts; a repeated message is
# merged.
#
#   fields              reading and writing fields of any message
#   decode, encode      Struct <-> dict
#   messages, request, response
#                       the messages of the protocol
#   identity            the XR and the input of a request, without an index
#
# Differences from protobuf's reader in Python (upb). In all but the first, Go's reader does the
# same:
#   - 200 nested containers are read; upb stops at 100 messages, which is 33 objects;
#   - a map entry with an unknown field keeps its key and value; upb drops the entry;
#   - in a group, which is unknown and skipped, field number 0 is an error as anywhere else;
#   - a number of more than 64 bits is an error; upb drops the bits above;
#   - tags and sizes may be padded to ten bytes; upb accepts five.
#
# A Struct is validated when it is decoded. `index_object` and `find_part` read only the last value
# of a key, so an invalid value that is not read is not an error. The protocol's own maps are
# validated completely: of two entries with the same key, the replaced one is decoded as well.

from function_script.wire import decode as _decode
from function_script.wire.decode import (
    decode_field,
    decode_part,
    decode_struct,
    find_part,
    index_object,
    open_part,
)
from function_script.wire.encode import EncodeError, encode_struct
from function_script.wire.fields import Part, WireError
from function_script.wire.identity import Identity, read_identity
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
from function_script.wire.request import (
    index_passed,
    index_request,
    index_resource,
    index_tag,
    read_credentials,
)
from function_script.wire.response import (
    encode_resource,
    encode_response,
    splice_resource,
    splice_state,
    splice_struct,
)

__all__ = [
    "Condition",
    "EncodeError",
    "Identity",
    "Part",
    "Request",
    "Requirements",
    "Resource",
    "Response",
    "Result",
    "Selector",
    "State",
    "WireError",
    "decode_field",
    "decode_part",
    "decode_struct",
    "describe_build",
    "encode_resource",
    "encode_response",
    "encode_struct",
    "find_part",
    "index_object",
    "index_passed",
    "index_request",
    "index_resource",
    "index_tag",
    "is_compiled",
    "open_part",
    "read_credentials",
    "read_identity",
    "splice_resource",
    "splice_state",
    "splice_struct",
]


def is_compiled() -> bool:
    """Report whether this installation runs the codec as machine code."""
    return not str(_decode.__file__).endswith(".py")


def describe_build() -> str:
    """Return ``compiled`` or ``plain Python``, as the loaded modules are."""
    return "compiled" if is_compiled() else "plain Python"
