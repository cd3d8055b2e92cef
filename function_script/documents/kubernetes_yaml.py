"""A YAML document to plain values, as Kubernetes reads it: the rules of go-yaml v2.

One pass over the parser's events, without a node graph. Nodes, depth and expanded text are
bounded, so that neither nesting nor aliases make a huge value of a small text.
"""

import math
import re
import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

from yaml.events import (
    AliasEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from function_script.documents import errors
from function_script.request.values import Object, Scalar, Value, type_phrase
from function_script.texts.errors import LimitName

# The characters that all aliases of a document may expand to.
_MAX_EXPANDED = 16 << 20
# Of one document: to find the position of a key takes as long as its map is.
_MAX_WARNINGS = 10
_TAG = "tag:yaml.org,2002:"
LAST_COUNTS = "the last one counts"
_MERGE_FIRST = "write << before the other keys"

# A plain word stands for one of these values, as a key, too: `on: 1` has the key "true".
WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(
        ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True
    ),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE"), False),
    **dict.fromkeys(("off", "Off", "OFF"), False),
}
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
_INTEGER = re.compile(
    r"[-+]?(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<binary>[01]+)|0[oO]?(?P<octal>[0-7]+)"
    r"|(?P<decimal>0|[1-9][0-9]*))\Z"
)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_BASES = {"hex": 16, "binary": 2, "octal": 8, "decimal": 10}

# The first characters of all scalars that may not be strings: cheaper than a regular expression.
NUMBER_STARTS = frozenset("+-.0123456789")
SPECIAL_STARTS = NUMBER_STARTS | {word[:1] for word in WORDS}

_MIN_INTEGER = -(2**63)
_MAX_INTEGER = 2**64
_MAX_SIGNED = 2**63
# More digits are beyond 64 bits in every base; Python refuses to convert thousands of them.
_MAX_DIGITS = 64
# Outside of these bounds Go's %v and %g write a number with an exponent.
_MIN_PLAIN_FLOAT = 1e-4
_MAX_PLAIN_FLOAT = 1e6
# More decimal digits than any 32-bit float needs to be distinguished from all others.
_SINGLE_DIGITS = 10


class ParsedDocument(NamedTuple):
    """The value of a document.

    ``line`` is the first line of its content, 0-based and without comments; ``nodes`` and
    ``depth`` are its size.
    """

    value: Value
    line: int
    nodes: int
    depth: int


def parse(
    text: str, *, nodes: int, depth: int, warnings: list[errors.YamlError] | None = None
) -> ParsedDocument | None:
    """Parse a text of at most one document; return None when it holds none.

    Raises YamlError for text that is not YAML or that Kubernetes does not accept, TooLargeError
    for more than ``nodes`` keys and values or ``depth`` levels. With ``warnings``, a repeated key
    is added there, and its last value counts.
    """
    try:
        return _DocumentParser(text, nodes, depth, warnings).parse()
    except errors.PARSER_ERRORS as error:
        raise errors.explain_parser_error(error, text) from error


def read_events(text: str) -> Iterator[Event]:
    """Yield the parser's events of a text. Raises YamlError where it is not YAML."""
    try:
        next_event = errors.Parser(text).get_event
        while (event := next_event()) is not None:
            yield event
    except errors.PARSER_ERRORS as error:
        raise errors.explain_parser_error(error, text) from error


class _Incomplete:
    """The value of an anchor while its map or list is being read."""


_INCOMPLETE = _Incomplete()


class _DocumentParser:
    """Builds the value of one text from its events; parameters ``depth`` are levels left."""

    def __init__(
        self, text: str, nodes: int, depth: int, warnings: list[errors.YamlError] | None = None
    ) -> None:
        self._next = cast("Callable[[], Event]", errors.Parser(text).get_event)
        self._warnings = warnings
        self._anchors: dict[str, Value | _Incomplete] = {}
        self._nodes = self._nodes_left = nodes
        self._depth = self._depth_left = depth
        self._characters_left = _MAX_EXPANDED

    def parse(self) -> ParsedDocument | None:
        self._next()
        if isinstance(self._next(), StreamEndEvent):
            return None
        start = self._next()
        value = self._value(start, self._depth)
        self._next()
        after = self._next()
        if not isinstance(after, StreamEndEvent):
            raise _error("more than one document, where one is expected", after)
        return ParsedDocument(
            value=value,
            line=start_of(start)[0],
            nodes=self._nodes - self._nodes_left,
            depth=self._depth - self._depth_left,
        )

    def _value(self, event: Event, depth: int) -> Value:
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise _too_large(f"more than {self._nodes:,} values", event, "nodes")
        if type(event) is ScalarEvent:
            value: Value = event.value
            if event.tag is not None or event.value[:1] in SPECIAL_STARTS:
                value = _scalar(event)
            if event.anchor is not None:
                self._anchors[event.anchor] = value
            return value
        if isinstance(event, AliasEvent):
            return self._expand(self._anchor_value(event), depth, event)
        return self._collection(event, self._level(depth, event))

    def _level(self, depth: int, event: Event) -> int:
        """Return the depth that is left below a collection; raise TooLargeError if none is."""
        if depth == 0:
            raise _too_large(f"nested more than {self._depth} levels deep", event, "depth")
        if depth <= self._depth_left:
            self._depth_left = depth - 1
        return depth - 1

    def _collection(self, event: Event, depth: int) -> Value:
        anchor = event.anchor  # type: ignore[attr-defined] # maps and lists have one, or None
        if anchor is not None:
            self._anchors[anchor] = _INCOMPLETE
        value: Value
        items: list[Value]
        if isinstance(event, MappingStartEvent):
            _check_tag(event, "map")
            value = self._mapping(depth)
        else:
            _check_tag(event, "seq")
            value = items = []
            while type(item := self._next()) is not SequenceEndEvent:
                items.append(self._value(item, depth))
        if anchor is not None:
            self._anchors[anchor] = value
        return value

    def _mapping(self, depth: int) -> Object:
        result: Object = {}
        is_merged = False
        keys: dict[str, Event] = {}
        next_event, value_of = self._next, self._value
        while type(event := next_event()) is not MappingEndEvent:
            # Most keys are plain words: save them two calls.
            if (
                type(event) is ScalarEvent
                and event.anchor is None
                and event.tag is None
                and (text := event.value) not in WORDS
                # The empty text has no first character, and is one of WORDS.
                and text[0] not in NUMBER_STARTS
            ):
                key = text
            else:
                key = self._key(event)
            if (
                key == "<<"
                and type(event) is ScalarEvent
                and event.implicit[0]
                and event.tag is None
            ):
                if is_merged:
                    hint = "write <<: [*one, *other]"
                    error = _error("a second << in one map", event, hint=hint)
                    self._warn(error, "both are merged, and the later one counts")
                is_merged = True
                self._merge(result, keys, event, depth)
                continue
            if key in keys:
                places = start_of(keys[key]), start_of(event)
                self._warn(errors.DuplicateKeyError(key, *places), LAST_COUNTS)
            else:
                keys[key] = event
            result[key] = value_of(next_event(), depth)
        return result

    def _warn(self, error: errors.YamlError, consequence: str) -> None:
        """Add a warning; raise the error instead if the reader is strict."""
        if self._warnings is None:
            raise error
        if len(self._warnings) < _MAX_WARNINGS:
            self._warnings.append(error.with_consequence(consequence))

    def _merge(self, result: Object, keys: dict[str, Event], event: Event, depth: int) -> None:
        """Read the value of a merge key and merge it over the keys before it, as Go does.

        Only the keys after it override it. In YAML's own rule all other keys do. Of a list of
        maps, the first that has a key counts.
        """
        start = self._next()
        operand = self._value(start, depth)
        maps = [operand]
        if isinstance(operand, list) and not isinstance(start, AliasEvent):
            maps = operand
        merged: Object = {}
        for source in reversed(maps):
            if not isinstance(source, dict):
                raise _error("<< takes a map or a list of maps", start)
            merged.update(source)
        for key, value in merged.items():
            if key in keys and result[key] != value:
                message = f"the key {key!r} is before the << that has it, too"
                error = _error(message, event, hint=_MERGE_FIRST)
                self._warn(error, "the merged value counts")
            result[key] = value

    def _key(self, event: Event) -> str:
        if type(event) is ScalarEvent:
            if event.anchor is not None:
                self._anchors[event.anchor] = _scalar(event)
            return key_text(event)
        if isinstance(event, AliasEvent):
            return _as_key(self._expand(self._anchor_value(event), 0, event), event)
        hint = errors.UNQUOTED_BRACES if isinstance(event, MappingStartEvent) else None
        raise _error("a map or a list cannot be a key", event, hint=hint)

    def _anchor_value(self, event: AliasEvent) -> Value:
        name = event.anchor
        if name not in self._anchors:
            hint = 'quote a text that begins with "*"; an anchor is in the same document'
            raise _error(f"the alias *{name} has no anchor &{name} before it", event, hint=hint)
        value = self._anchors[name]
        if isinstance(value, _Incomplete):
            raise _error(f"the value of the anchor &{name} holds itself", event)
        return value

    def _expand(self, value: Value, depth: int, event: Event) -> Value:
        """Copy the value of an alias; it counts like a value that is written out."""
        if isinstance(value, str):
            self._characters_left -= len(value)
            if self._characters_left < 0:
                raise _too_large(f"aliases expand to more than {_MAX_EXPANDED >> 20} MiB", event)
            return value
        if not isinstance(value, (dict, list)):
            return value
        below = self._level(depth, event)
        # Before the copy is made, or it would be too large already.
        self._nodes_left -= len(value)
        if self._nodes_left < 0:
            message = f"more than {self._nodes:,} values with aliases expanded"
            raise _too_large(message, event, "nodes")
        if isinstance(value, list):
            return [self._expand(item, below, event) for item in value]
        return {key: self._expand(item, below, event) for key, item in value.items()}


def _scalar(event: ScalarEvent) -> Scalar:
    text = event.value
    if event.tag is not None:
        return _tagged_scalar(event)
    if text[:1] not in SPECIAL_STARTS or not event.implicit[0]:
        return text
    try:
        return resolve(text)
    except ValueError as error:
        raise _error(str(error), event, hint="quote it to have it as text") from error


def _tagged_scalar(event: ScalarEvent) -> Scalar:
    text, tag = event.value, str(event.tag).removeprefix(_TAG)
    if tag in {"!", "str"}:
        return text
    if tag == "null" and text in WORDS and WORDS[text] is None:
        return None
    if tag == "bool" and isinstance(WORDS.get(text), bool):
        return WORDS[text]
    number: int | float | None = None
    if tag == "int":
        number = to_integer(text.replace("_", ""))
    elif tag == "float":
        number = to_float(text.replace("_", ""))
    if number is not None:
        return number
    if tag in {"null", "bool", "int", "float"}:
        raise _error(f"{text!r} is no !!{tag}", event)
    raise _unknown_tag(event, tag)


def _check_tag(event: Event, expected: str) -> None:
    tag = event.tag  # type: ignore[attr-defined] # checked for events that begin a map or list only
    if tag not in {None, "!", _TAG + expected}:
        raise _unknown_tag(event, tag)


def _unknown_tag(event: Event, tag: str) -> errors.YamlError:
    name = tag if tag.startswith("!") else f"!!{tag.removeprefix(_TAG)}"
    return _error(f"the tag {name} is not supported", event, hint="leave it out, or quote the text")


def key_text(event: ScalarEvent) -> str:
    """Return a scalar as a map's key; raise YamlError for null."""
    return _as_key(_scalar(event), event)


def _as_key(value: Value, event: Event) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        # As a key, a number with a point or an exponent stays a fraction: 1e6 is no 1000000.
        text = event.value if isinstance(event, ScalarEvent) else str(value)
        if to_integer(text.replace("_", "")) is not None:
            return str(value)
        value = float(value)
    if not isinstance(value, float):
        raise _error(f"a key must be a string, not {type_phrase(value)}", event, hint="quote it")
    # The digits that Go's conversion of keys, through 32 bits, leaves a number.
    try:
        single = struct.pack("<f", value)
    except OverflowError:
        return ".inf" if value > 0 else "-.inf"
    rounded: float = struct.unpack("<f", single)[0]
    digits = (float(f"{rounded:.{precision}g}") for precision in range(1, _SINGLE_DIGITS))
    shortest = (number for number in digits if struct.pack("<f", number) == single)
    return number_text(next(shortest, rounded))


def _error(message: str, event: Event, *, hint: str | None = None) -> errors.YamlError:
    line, column = start_of(event)
    return errors.YamlError(message, line=line, column=column, hint=hint)


def _too_large(message: str, event: Event, limit: LimitName | None = None) -> errors.TooLargeError:
    line, column = start_of(event)
    return errors.TooLargeError(message, line=line, column=column, limit=limit)


def start_of(event: Event) -> tuple[int, int]:
    """Return the line and column, both 0-based, where an event begins."""
    mark = event.start_mark
    return (0, 0) if mark is None else (mark.line, mark.column)


def width_of(event: Event) -> int:
    """Return the number of characters of a scalar in one line, quotes included; else 1."""
    start, end = event.start_mark, event.end_mark
    if not isinstance(event, ScalarEvent) or start is None or end is None:
        return 1
    return max(1, end.column - start.column) if start.line == end.line else 1


def resolve(text: str) -> Scalar:
    """Return the value of a plain, untagged scalar; raise ValueError for infinities and NaN."""
    if text[:1] not in SPECIAL_STARTS:
        return text
    if text in WORDS:
        return WORDS[text]
    if text[0] not in NUMBER_STARTS:
        return text
    if _NOT_FINITE.match(text):
        raise ValueError(f"{text} has no place in JSON")
    digits = text if text[0] == "." else text.replace("_", "")
    integer = to_integer(digits)
    number = to_float(digits) if integer is None else integer
    return text if number is None else number


def to_integer(text: str) -> int | None:
    """Parse an integer within 64 bits, signed or not; a leading 0 is octal. None for others."""
    match = _INTEGER.match(text)
    if match is None:
        return None
    base = str(match.lastgroup)
    digits = match[base].lstrip("0") or "0"
    if len(digits) > _MAX_DIGITS:
        return None
    value = int(digits, _BASES[base])
    if text[0] == "-":
        value = -value
    # Beyond 63 bits only a number without a sign is an integer.
    limit = _MAX_SIGNED if text[0] in "+-" else _MAX_INTEGER
    return value if _MIN_INTEGER <= value < limit else None


def to_float(text: str) -> int | float | None:
    """Parse a finite number; one without a fraction, within 63 bits, is an integer."""
    if not _FLOAT.match(text):
        return None
    value = float(text)
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) < _MAX_SIGNED else value


def number_text(value: float) -> str:
    """Write a number as Go does: the shortest digits that read back, exponents from 1e+06 on."""
    if isinstance(value, int):
        return str(value)
    if not value or _MIN_PLAIN_FLOAT <= abs(value) < _MAX_PLAIN_FLOAT:
        return repr(value).removesuffix(".0")
    return exponent_text(value)


def exponent_text(number: float) -> str:
    """Return the shortest digits with an exponent of at least two digits: ``1.25e+06``."""
    digits = repr(number).partition("e")[0].replace(".", "").strip("-0")
    return f"{number:.{len(digits) - 1}e}"
