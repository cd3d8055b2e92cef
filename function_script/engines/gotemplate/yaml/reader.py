"""fromYaml: the first document of a text as yaml.v3 decodes it.

``yes`` is a string, ``0777`` is 511, dates are times, a map with keys other than strings is a
map[interface {}]interface {}.
"""

import base64
import binascii
from collections.abc import Iterator
from typing import Final

from function_script.documents import events
from function_script.documents.errors import YamlError
from function_script.documents.events import Event
from function_script.engines.gotemplate import values
from function_script.engines.gotemplate.data import copy_tree
from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Allocator
from function_script.engines.gotemplate.yaml import scalars

_TAG: Final = "tag:yaml.org,2002:"
_MAX_DEPTH: Final = 100
_MERGE: Final = "<<"
# Python's descriptions of bad UTF-8, and yaml.v3's.
_NOT_UTF8: Final = {
    "invalid start byte": "invalid leading UTF-8 octet",
    "invalid continuation byte": "invalid trailing UTF-8 octet",
    "unexpected end of data": "incomplete UTF-8 octet sequence",
}


def from_yaml(allocator: Allocator, text: str) -> object:
    """Return the value of the first document, None when there is none; raises CallError."""
    try:
        values.to_bytes(text).decode()
    except UnicodeDecodeError as error:
        raise CallError(f"yaml: {_NOT_UTF8[error.reason]}") from error
    try:
        return _Decoder(allocator, events.read_events(text)).read_document()
    except YamlError as error:
        raise CallError(f"yaml: line {error.line + 1}: {error.message}") from error


class _Unfinished:
    """Stands for an anchored container while it is read."""


class _Decoder:
    def __init__(self, allocator: Allocator, stream: Iterator[Event]) -> None:
        self.allocator = allocator
        self.stream = stream
        self.anchors: dict[str, object] = {}

    def read_document(self) -> object:
        """Return the first node of the stream."""
        for event in self.stream:
            if event.kind != "other":
                return self.read_value(event, _MAX_DEPTH)
        return None

    def read_value(self, event: Event, depth: int) -> object:
        """Return the value that begins with ``event``."""
        if depth == 0:
            raise CallError("yaml: exceeded max depth")
        if event.kind == "alias":
            return self.resolve_alias(event)
        if event.anchor:
            self.anchors[event.anchor] = _Unfinished()
        if event.kind == "scalar":
            value: object = scalar(event)
        elif event.kind == "list":
            value = [self.read_value(item, depth - 1) for item in self.read_until_end()]
        else:
            value = self.read_map(depth)
        if event.anchor:
            self.anchors[event.anchor] = value
        return value

    def read_until_end(self) -> Iterator[Event]:
        """Yield the events that begin the parts of a container."""
        for event in self.stream:
            if event.kind == "end":
                return
            yield event

    def resolve_alias(self, event: Event) -> object:
        """Return a copy of an anchored value."""
        if event.anchor not in self.anchors:
            raise CallError(f"yaml: unknown anchor '{event.anchor}' referenced")
        value = self.anchors[event.anchor]
        if isinstance(value, _Unfinished):
            raise CallError(f"yaml: anchor '{event.anchor}' value contains itself")
        self.allocator.check_tree(value)
        return copy_tree(value)

    def read_map(self, depth: int) -> object:
        """Return a map; what it merges gives way to its own keys."""
        entries: dict[object, object] = {}
        lines: dict[object, int] = {}
        merged: dict[object, object] = {}
        for event in self.read_until_end():
            if event.kind == "scalar" and event.text == _MERGE and event.plain and not event.tag:
                merged.update(self.read_merge(next(self.stream), depth - 1))
                continue
            key = self.read_value(event, depth - 1)
            if isinstance(key, (dict, list)):
                raise CallError(f"yaml: invalid map key: {key}")
            if key in entries:
                problem = f'mapping key "{event.text}" already defined at line {lines[key]}'
                raise CallError(f"yaml: unmarshal errors:\n  line {event.line}: {problem}")
            lines[key] = event.line
            entries[key] = self.read_value(next(self.stream), depth - 1)
        everything = {
            **{key: item for key, item in merged.items() if key not in entries},
            **entries,
        }
        return (
            everything if all(type(key) is str for key in everything) else values.AnyMap(everything)
        )

    def read_merge(self, event: Event, depth: int) -> dict[object, object]:
        """Return the map that ``<<`` merges; of several maps the first wins."""
        value = self.read_value(event, depth)
        merged: dict[object, object] = {}
        for source in value if isinstance(value, list) else [value]:
            if not isinstance(source, dict):
                raise CallError("yaml: map merge requires map or sequence of maps as the value")
            merged = {**source, **merged}
        return merged


def scalar(event: Event) -> object:
    """Return the value of a scalar, by its tag if it has one."""
    tag = event.tag.removeprefix(_TAG)
    if tag == "binary":
        return _binary(event.text)
    if tag in {"", "int", "float", "bool", "null", "timestamp"}:
        value = scalars.resolve(event.text) if tag or event.plain else event.text
        return _check_tag(value, tag, event.text) if tag else value
    return event.text


_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "int": (values.Int,),
    "float": (float,),
    "bool": (bool,),
    "null": (type(None),),
}


def _check_tag(value: object, tag: str, text: str) -> object:
    if tag == "float" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if tag in _TYPES and not isinstance(value, _TYPES[tag]):
        raise CallError(f"yaml: cannot decode !!str `{text}` as a !!{tag}")
    return value


def _binary(text: str) -> str:
    try:
        return values.to_string(base64.b64decode("".join(text.split()), validate=True))
    except (binascii.Error, ValueError) as error:
        raise CallError("yaml: !!binary value contains invalid base64 data") from error
