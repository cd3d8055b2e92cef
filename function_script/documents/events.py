"""A YAML text's parser events as plain tuples, for readers whose rules are not Kubernetes' own.

Called by fromYaml of GoTemplate. Resolves nothing: a scalar is its text, a tag what was written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from function_script.documents import hints
from function_script.documents.composer import events

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["scalar", "alias", "map", "list", "end", "other"]


class Event(NamedTuple):
    """One event; ``plain`` says that a scalar has no quotes, ``line`` counts from 1."""

    kind: Kind
    text: str = ""
    tag: str = ""
    anchor: str = ""
    plain: bool = False
    line: int = 0


def read_events(text: str) -> Iterator[Event]:
    """The events of a text in their order; raises YamlError where it is not YAML."""
    try:
        next_event = events(text)
        while (event := next_event()) is not None:
            yield _plain(event)
    except yaml.MarkedYAMLError as error:
        raise hints.explain_yaml_error(error, text) from error
    except (yaml.reader.ReaderError, UnicodeEncodeError) as error:
        raise hints.invalid_character(text) from error


def _plain(event: yaml.events.Event) -> Event:
    line = event.start_mark.line + 1 if event.start_mark is not None else 0
    if isinstance(event, ScalarEvent):
        tag, anchor = event.tag or "", event.anchor or ""
        return Event(
            "scalar", event.value, tag, anchor, event.style is None or event.style == "", line
        )
    if isinstance(event, AliasEvent):
        return Event("alias", anchor=event.anchor or "", line=line)
    if isinstance(event, (MappingStartEvent, SequenceStartEvent)):
        kind: Kind = "map" if isinstance(event, MappingStartEvent) else "list"
        return Event(kind, tag=event.tag or "", anchor=event.anchor or "", line=line)
    ends = isinstance(event, (MappingEndEvent, SequenceEndEvent))
    return Event("end" if ends else "other", line=line)
