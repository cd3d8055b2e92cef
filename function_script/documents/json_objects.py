"""JSON objects in a text, one after the other: what a stream that begins with ``{`` is read as.

Called by the stream reader. Ten times faster than reading the same text as YAML.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from function_script.diagnostics import cut
from function_script.documents.composer import LAST_COUNTS, ParsedDocument, parse
from function_script.documents.errors import TooLargeError, YamlError
from function_script.documents.scalars import to_float, to_integer
from function_script.values import is_encodable

if TYPE_CHECKING:
    from function_script.values import Object, Value

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_SHOWN_BYTES = 32


def find_object(
    text: str, start: int, *, nodes: int, depth: int, doubts: list[YamlError] | None = None
) -> tuple[ParsedDocument, int] | None:
    """The object that begins at ``start``, and where it ends; None when it is not JSON.

    Raises YamlError, with lines counted from ``start``, for JSON that is not acceptable. With
    ``doubts``, a key that comes again is noted there, and counts, and what else is not acceptable
    in the grammar of JSON may be YAML.
    """
    try:
        found = _decoded(_DECODER, text, start, depth)
    except _RefusedError as error:
        if doubts is None:
            # Rare enough to be read again by the reader that knows places; both refuse the same.
            parse(text[start:], nodes=nodes, depth=depth)
            raise
        if not isinstance(error, _RepeatedError):
            return None
        found = _with_repeated(text, start, nodes, depth, doubts)
    if found is None:
        return None
    value, end = found
    _check_surrogates(value, text, start, end)
    counter = _Counter(nodes, depth)
    counter.check(value, depth)
    return (
        ParsedDocument(
            value=value, line=0, nodes=nodes - counter.nodes, depth=depth - counter.depth
        ),
        end,
    )


def _decoded(
    decoder: json.JSONDecoder, text: str, start: int, depth: int
) -> tuple[Value, int] | None:
    try:
        found: tuple[Value, int] = decoder.raw_decode(text, start)
    except json.JSONDecodeError:
        return None
    except RecursionError:
        message = f"nested more than {depth} levels deep"
        raise TooLargeError(message, line=0, column=0, limit="depth") from None
    return found


def _with_repeated(
    text: str, start: int, nodes: int, depth: int, doubts: list[YamlError]
) -> tuple[Value, int] | None:
    """The object, of each key its last value; notes as doubts which come again."""
    try:
        found = _decoded(_LENIENT_DECODER, text, start, depth)
    except _RefusedError:
        return None
    if found is not None:
        noted: list[YamlError] = []
        try:
            parse(text[start : found[1]], nodes=nodes, depth=depth, doubts=noted)
        except YamlError:
            # JSON that is no YAML: without its place.
            noted = [_repeated().let_pass(LAST_COUNTS)]
        doubts += noted
    return found


class _RefusedError(YamlError):
    """JSON by its grammar, but nothing we accept."""


class _RepeatedError(_RefusedError):
    """A key that is there twice in one object."""


def _check_surrogates(value: Value, text: str, start: int, end: int) -> None:
    """Refuse halves of surrogate pairs: they have no place in UTF-8, and so in no message."""
    if _SURROGATE.search(text, start, end) is None:
        return
    if not is_encodable(value):
        raise YamlError("half of a surrogate pair in a string", line=0, column=0)


class _Counter:
    """What is left of the nodes and levels that a value may have."""

    def __init__(self, nodes: int, depth: int) -> None:
        self.nodes = nodes
        self.depth = depth
        self._message = f"more than {nodes:,} values", f"nested more than {depth} levels deep"

    def check(self, value: Value, depth: int) -> None:
        self.nodes -= 1
        if self.nodes < 0:
            raise TooLargeError(self._message[0], line=0, column=0, limit="nodes")
        if not isinstance(value, (dict, list)):
            return
        if depth == 0:
            raise TooLargeError(self._message[1], line=0, column=0, limit="depth")
        self.depth = min(self.depth, depth - 1)
        for item in value.values() if isinstance(value, dict) else value:
            self.check(item, depth - 1)


def _object(pairs: list[tuple[str, Value]]) -> Object:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise _repeated()
    return result


def _repeated() -> _RepeatedError:
    return _RepeatedError("duplicate key in an object", line=0, column=0)


def _integer(text: str) -> int | float:
    value = to_integer(text)
    return _float(text) if value is None else value


def _float(text: str) -> int | float:
    value = to_float(text)
    if value is None:
        raise _RefusedError(f"the number {cut(text, _SHOWN_BYTES)} is too large", line=0, column=0)
    return value


def _constant(text: str) -> Value:
    raise _RefusedError(f"{text} has no place in JSON", line=0, column=0)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_float,
    parse_constant=_constant,
)
_LENIENT_DECODER = json.JSONDecoder(
    parse_int=_integer, parse_float=_float, parse_constant=_constant
)
