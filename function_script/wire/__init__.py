"""The protocol on the wire: index a request, Struct bytes <-> plain values, splice, respond.

The main path hands it bytes and plain values and gets the same. It never imports protobuf, and
knows nothing of what the values mean. mypyc compiles it where possible (setup.py).
"""

# A message is a row of fields. A field is its tag, one byte that says which field it is and of
# which wire type (number << 3 | type), and its content. Content of type LENGTH, which strings,
# bytes and messages have, comes with its size in front. Numbers of fields are looked up in the
# .proto; nothing on the wire names anything. This is all of {"on": true, "tags": ["a"]}:
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
# VARINT) is 08 00; struct_value is field 5. A VARINT, and so a size, has seven bits to a byte,
# the lowest first, and every byte but its last has the top bit set: 300 is ac 02.
#
# Fields may come in any order. Unknown ones are skipped: they belong to a newer protocol. Of a
# scalar given twice the last stands, as of a map's key; a message given twice is merged.
#
#   fields, write       fields of any message, read and written
#   decode, encode      Struct <-> dict
#   messages, request, response, splice
#                       the protocol: what comes in, what goes out, what is handed on
#   identity            who a request is about, without indexing it
#
# Differences from protobuf's own reader in Python (upb). In all but the first Go's does the same:
#   - 200 containers inside one another are read; upb stops at 100 messages, which is 33 objects;
#   - a map entry with an unknown field keeps its key and value; upb sets the entry aside;
#   - in a group, which is unknown and skipped, field number 0 is refused as anywhere else;
#   - a number of more than 64 bits is refused; upb drops the bits above;
#   - tags and sizes may be padded to ten bytes; upb takes five.
#
# A Struct is checked when it is decoded. `index_struct` and `find_part` look only at the last value
# of a key, so a fault in a value that nobody reads is not refused. The protocol's own maps
# are checked whole: of two entries with the same key, the replaced one is decoded as well.

from __future__ import annotations

from function_script.wire import decode as _decode
from function_script.wire.decode import (
    decode_part,
    decode_struct,
    decode_struct_fields,
    decode_value,
    find_part,
    index_object,
    index_part,
    index_struct,
    open_part,
)
from function_script.wire.encode import EncodeError, encode_struct
from function_script.wire.fields import Part, WireError
from function_script.wire.identity import Identity, read_identity, read_owner
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
from function_script.wire.request import index_passed, index_request, index_resource, index_tag
from function_script.wire.response import encode_resource, encode_response
from function_script.wire.splice import splice_resource, splice_state, splice_struct

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
    "decode_part",
    "decode_struct",
    "decode_struct_fields",
    "decode_value",
    "encode_resource",
    "encode_response",
    "encode_struct",
    "find_part",
    "index_object",
    "index_part",
    "index_passed",
    "index_request",
    "index_resource",
    "index_struct",
    "index_tag",
    "is_compiled",
    "open_part",
    "read_identity",
    "read_owner",
    "splice_resource",
    "splice_state",
    "splice_struct",
]


def is_compiled() -> bool:
    """Whether this installation runs the codec as machine code or as plain Python."""
    return not str(_decode.__file__).endswith(".py")
