"""Plain scalars of a YAML text that have another type than they seem to, for warnings.

Kubernetes reads YAML 1.1 as go-yaml does: `no` is a boolean, also as a key, and `1_000` a number.
Numbers of base 60, such as `12:30`, are texts there and numbers to other readers.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import yaml
from yaml import events

from function_script.documents.errors import YamlError
from function_script.documents.kubernetes_yaml import WORDS, event_source, start_of

# Everybody reads these as booleans.
_EVIDENT: Final = frozenset({"true", "false"})
_UNDERSCORES: Final = re.compile(r"[-+]?[0-9]+(_[0-9]+)+(\.[0-9_]*)?")
_BASE_60: Final = re.compile(r"[-+]?[1-9][0-9]*(:[0-5]?[0-9])+(\.[0-9]*)?")
_TEXT_MAPS: Final = frozenset({"labels", "annotations", "matchLabels", "nodeSelector"})


class PlainScalar(NamedTuple):
    """A scalar at a position, both numbers 0-based; ``message`` says how it is read.

    ``is_certain``: it stands where a text is needed, so the author did not mean that type.
    """

    text: str
    line: int
    column: int
    message: str
    hint: str
    is_certain: bool


def find(text: str) -> list[PlainScalar]:
    """Find the scalars in the documents of a text; nothing in a text that is not YAML."""
    try:
        return list(_Walk(text).scalars())
    except (yaml.YAMLError, YamlError, UnicodeEncodeError):
        return []


class _Walk:
    def __init__(self, text: str) -> None:
        self._next: Callable[[], events.Event | None] = event_source(text)

    def scalars(self) -> Iterator[PlainScalar]:
        while (event := self._next()) is not None:
            yield from self._value(event, is_text=False)

    def _value(self, event: events.Event, *, is_text: bool) -> Iterator[PlainScalar]:
        if isinstance(event, events.ScalarEvent):
            yield from _judge(event, is_key=False, is_text=is_text)
        elif isinstance(event, events.MappingStartEvent):
            yield from self._map(is_text=is_text)
        elif isinstance(event, events.SequenceStartEvent):
            yield from self._list()

    def _map(self, *, is_text: bool) -> Iterator[PlainScalar]:
        keys: list[str] = []
        while (key := self._next()) is not None and not isinstance(key, events.MappingEndEvent):
            name = ""
            if isinstance(key, events.ScalarEvent):
                name = key.value
                yield from _judge(key, is_key=True, is_text=True)
            else:
                yield from self._value(key, is_text=False)
            value = self._next()
            if value is None:
                return
            is_map = isinstance(value, events.MappingStartEvent)
            # A variable of a container: {name: DEBUG, value: no}.
            is_variable = name == "value" and keys == ["name"]
            is_below = is_map and name in _TEXT_MAPS
            yield from self._value(
                value, is_text=is_below or (not is_map and (is_text or is_variable))
            )
            keys.append(name)

    def _list(self) -> Iterator[PlainScalar]:
        items: list[PlainScalar] = []
        has_text = False
        while (item := self._next()) is not None and not isinstance(item, events.SequenceEndEvent):
            if isinstance(item, events.ScalarEvent):
                scalars = list(_judge(item, is_key=False, is_text=False))
                is_word = item.value not in WORDS and not item.value[:1].isdigit()
                has_text = has_text or (is_word and not scalars)
                items += scalars
            else:
                yield from self._value(item, is_text=False)
        for scalar in items:
            # Beside a text, the others of a list are meant as texts.
            yield scalar._replace(is_certain=has_text)


def _judge(event: events.ScalarEvent, *, is_key: bool, is_text: bool) -> Iterator[PlainScalar]:
    text = event.value
    if not event.implicit[0]:
        return
    message = ""
    hint = f'write "{text}" for the text'
    word = WORDS.get(text)
    if isinstance(word, bool) and text.lower() not in _EVIDENT:
        value = "true" if word else "false"
        message = f'the key {text} is read as "{value}"' if is_key else f"{text} is read as {value}"
        hint += "" if is_key else f", {value} for the boolean"
    elif _UNDERSCORES.fullmatch(text):
        digits = text.replace("_", "")
        message = f"{text} is read as the number {digits}"
        hint += f", {digits} for the number"
    elif _BASE_60.fullmatch(text) and not is_key:
        message = f"{text} is text here, and a number of base 60 to other readers of YAML 1.1"
    if message:
        line, column = start_of(event)
        yield PlainScalar(text, line, column, message, hint, is_key or is_text)
