"""The parser events of a YAML text as plain tuples, for a reader with rules of its own.

Nothing is resolved: a scalar is its text, a tag is as written.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from yaml import events

from function_script.documents.errors import PARSER_ERRORS, explain_parser_error
from function_script.documents.kubernetes_yaml import event_source

Kind = Literal["scalar", "alias", "map", "list", "end", "other"]


class Event(NamedTuple):
    """A parser event; ``plain``: a scalar without quotes; ``line`` is 1-based, 0 if unknown."""

    kind: Kind
    text: str = ""
    tag: str = ""
    anchor: str = ""
    plain: bool = False
    line: int = 0


def read_events(text: str) -> Iterator[Event]:
    """Yield the events of a text in order; raise YamlError where it is not YAML."""
    try:
        next_event = event_source(text)
        while (event := next_event()) is not None:
            line = event.start_mark.line + 1 if event.start_mark is not None else 0
            if isinstance(event, events.ScalarEvent):
                tag, anchor = event.tag or "", event.anchor or ""
                is_plain = event.style is None or event.style == ""
                yield Event("scalar", event.value, tag, anchor, is_plain, line)
            elif isinstance(event, events.AliasEvent):
                yield Event("alias", anchor=event.anchor or "", line=line)
            elif isinstance(event, (events.MappingStartEvent, events.SequenceStartEvent)):
                kind: Kind = "map" if isinstance(event, events.MappingStartEvent) else "list"
                yield Event(kind, tag=event.tag or "", anchor=event.anchor or "", line=line)
            else:
                is_end = isinstance(event, (events.MappingEndEvent, events.SequenceEndEvent))
                yield Event("end" if is_end else "other", line=line)
    except PARSER_ERRORS as error:
        raise explain_parser_error(error, text) from error
