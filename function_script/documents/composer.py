"""YAML text to plain values, as Kubernetes reads it: one pass over the parser's events.

Called by the stream reader for each document. Builds no node graph; bounded in nodes, depth and
expanded text, so that neither nesting nor aliases can make a small text a huge value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import yaml
from yaml.events import (
    AliasEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from function_script.documents import hints
from function_script.documents.errors import TooLargeError, YamlError
from function_script.documents.scalars import (
    NUMBER_STARTS,
    SPECIAL_STARTS,
    WORDS,
    key_text_of,
    resolve,
    to_float,
    to_integer,
)
from function_script.values import type_phrase

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.errors import LimitName
    from function_script.values import Object, Scalar, Value

try:
    from yaml._yaml import CParser as Parser
except ImportError:  # PyYAML was built without libyaml: the same events, fifteen times slower
    from yaml import SafeLoader as Parser  # type: ignore[assignment] # has the same get_event

# What all aliases of a document may expand to, in characters.
_MAX_EXPANDED = 16 << 20
# Of a document; finding the place of one takes as long as the map is.
_MAX_DOUBTS = 10
_TAG = "tag:yaml.org,2002:"
LAST_COUNTS = "the last one counts"
_MERGE_FIRST = "write << before the other keys"


class ParsedDocument(NamedTuple):
    """A document's value, its first line (0-based; of content, not of comments), and its size."""

    value: Value
    line: int
    nodes: int
    depth: int


def parse(
    text: str, *, nodes: int, depth: int, doubts: list[YamlError] | None = None
) -> ParsedDocument | None:
    """Read a text of at most one document; None when it holds none.

    Raises YamlError, with the place, for text that is not YAML or not what Kubernetes accepts;
    TooLargeError for more than ``nodes`` keys and values or ``depth`` levels. With ``doubts``, a
    key that comes again is noted there, and counts.
    """
    try:
        return _Composer(text, nodes, depth, doubts).document()
    except yaml.MarkedYAMLError as error:
        raise hints.explain_yaml_error(error, text) from error
    except (yaml.reader.ReaderError, UnicodeEncodeError) as error:
        raise hints.invalid_character(text) from error


def events(text: str) -> Callable[[], Event]:
    """What gives the next event of the text each time it is called."""
    return cast("Callable[[], Event]", Parser(text).get_event)


class _Incomplete:
    """Stands for an anchored map or list until all of it has been read."""


_INCOMPLETE = _Incomplete()


class _Composer:
    """One text's way from events to a value; ``depth`` counts the levels that are left."""

    def __init__(
        self, text: str, nodes: int, depth: int, doubts: list[YamlError] | None = None
    ) -> None:
        self._next = events(text)
        self._doubts = doubts
        self._anchors: dict[str, Value | _Incomplete] = {}
        self._nodes = self._nodes_left = nodes
        self._depth = self._depth_left = depth
        self._characters_left = _MAX_EXPANDED

    def document(self) -> ParsedDocument | None:
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
            line=place(start)[0],
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
            return self._expanded(self._anchored(event), depth, event)
        return self._collection(event, self._level(depth, event))

    def _level(self, depth: int, event: Event) -> int:
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
        if isinstance(event, MappingStartEvent):
            _check_tag(event, "map")
            value = self._mapping(depth)
        else:
            _check_tag(event, "seq")
            value = self._sequence(depth)
        if anchor is not None:
            self._anchors[anchor] = value
        return value

    def _sequence(self, depth: int) -> list[Value]:
        items: list[Value] = []
        while type(event := self._next()) is not SequenceEndEvent:
            items.append(self._value(event, depth))
        return items

    def _mapping(self, depth: int) -> Object:
        result: Object = {}
        is_merged = False
        keys: dict[str, Event] = {}
        next_event, value_of = self._next, self._value
        while type(event := next_event()) is not MappingEndEvent:
            # Most keys are plain words: spare them two calls.
            if (
                type(event) is ScalarEvent
                and event.anchor is None
                and event.tag is None
                and (text := event.value) not in WORDS
                and text[0] not in NUMBER_STARTS
            ):
                key = text
            else:
                key = self._key(event)
            if key == "<<" and _is_plain(event):
                if is_merged:
                    hint = "write <<: [*one, *other]"
                    error = _error("a second << in one map", event, hint=hint)
                    self._doubt(error, "both are merged, and the later one counts")
                is_merged = True
                self._merge(result, keys, event, depth)
                continue
            if key in keys:
                self._doubt(_duplicate(key, event, keys[key]), LAST_COUNTS)
            else:
                keys[key] = event
            result[key] = value_of(next_event(), depth)
        return result

    def _doubt(self, error: YamlError, consequence: str) -> None:
        """Note what a lenient reader lets pass, with what comes of it; raise it for any other."""
        if self._doubts is None:
            raise error
        if len(self._doubts) < _MAX_DOUBTS:
            self._doubts.append(error.let_pass(consequence))

    def _merge(self, result: Object, keys: dict[str, Event], event: Event, depth: int) -> None:
        """Put the maps of a merge key in, where it stands: over what is before it, as Go does.

        Only what comes after it counts more. YAML's own rule is that all other keys do.
        """
        for key, value in self._merged(depth).items():
            if key in keys and result[key] != value:
                message = f"the key {key!r} is before the << that has it, too"
                error = _error(message, event, hint=_MERGE_FIRST)
                self._doubt(error, "the merged value counts")
            result[key] = value

    def _merged(self, depth: int) -> Object:
        """What a merge key takes: a map, or of a list of maps the first that has a key."""
        event = self._next()
        value = self._value(event, depth)
        is_list = isinstance(value, list) and not isinstance(event, AliasEvent)
        sources = value if isinstance(value, list) and is_list else [value]
        merged: Object = {}
        for source in reversed(sources):
            if not isinstance(source, dict):
                raise _error("<< takes a map or a list of maps", event)
            merged.update(source)
        return merged

    def _key(self, event: Event) -> str:
        if type(event) is ScalarEvent:
            if event.anchor is not None:
                self._anchors[event.anchor] = _scalar(event)
            return key_text(event)
        if isinstance(event, AliasEvent):
            return _as_key(self._expanded(self._anchored(event), 0, event), event)
        hint = hints.UNQUOTED_BRACES if isinstance(event, MappingStartEvent) else None
        raise _error("a map or a list cannot be a key", event, hint=hint)

    def _anchored(self, event: AliasEvent) -> Value:
        name = event.anchor
        if name not in self._anchors:
            hint = 'quote a value that begins with "*"'
            raise _error(f"the alias *{name} has no anchor &{name} before it", event, hint=hint)
        value = self._anchors[name]
        if isinstance(value, _Incomplete):
            raise _error(f"the value of the anchor &{name} holds itself", event)
        return value

    def _expanded(self, value: Value, depth: int, event: Event) -> Value:
        """A copy of an anchored value, charged as if it had been written out."""
        if isinstance(value, str):
            self._characters_left -= len(value)
            if self._characters_left < 0:
                raise _too_large(f"aliases expand to more than {_MAX_EXPANDED >> 20} MiB", event)
            return value
        if not isinstance(value, (dict, list)):
            return value
        below = self._level(depth, event)
        self._nodes_left -= len(value)
        if self._nodes_left < 0:
            raise _too_large(
                f"more than {self._nodes:,} values with aliases expanded", event, "nodes"
            )
        if isinstance(value, list):
            return [self._expanded(item, below, event) for item in value]
        return {key: self._expanded(item, below, event) for key, item in value.items()}


def _is_plain(event: Event) -> bool:
    return isinstance(event, ScalarEvent) and event.implicit[0] and event.tag is None


def _scalar(event: ScalarEvent) -> Scalar:
    text = event.value
    if event.tag is not None:
        return _tagged(event)
    if text[:1] not in SPECIAL_STARTS or not event.implicit[0]:
        return text
    try:
        return resolve(text)
    except ValueError as error:
        raise _error(str(error), event, hint="quote it to have it as text") from error


def _tagged(event: ScalarEvent) -> Scalar:
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


def _unknown_tag(event: Event, tag: str) -> YamlError:
    name = tag if tag.startswith("!") else f"!!{tag.removeprefix(_TAG)}"
    return _error(f"the tag {name} is not supported", event, hint="leave it out")


def key_text(event: ScalarEvent) -> str:
    """The key a scalar is; raises YamlError for null."""
    value = _scalar(event)
    return value if isinstance(value, str) else _as_key(value, event)


def _as_key(value: Value, event: Event) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return key_text_of(value)
    raise _error(f"a key must be a string, not {type_phrase(value)}", event, hint="quote it")


def _duplicate(key: str, event: Event, first: Event) -> YamlError:
    lines = place(event)[0] - place(first)[0]
    where = "on the same line" if lines == 0 else f"{lines} line{'s' * (lines > 1)} above"
    message = f"duplicate key {key!r}, first {where}"
    return _error(message, event, hint="take one of them out, or give it another name")


def _error(message: str, event: Event, *, hint: str | None = None) -> YamlError:
    line, column = place(event)
    return YamlError(message, line=line, column=column, hint=hint)


def _too_large(message: str, event: Event, limit: LimitName | None = None) -> TooLargeError:
    line, column = place(event)
    return TooLargeError(message, line=line, column=column, limit=limit)


def place(event: Event) -> tuple[int, int]:
    """Line and column where an event begins, 0-based."""
    mark = event.start_mark
    return (0, 0) if mark is None else (mark.line, mark.column)
