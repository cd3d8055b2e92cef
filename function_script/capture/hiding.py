"""Secrets out of messages: each becomes a word of its own, the same wherever it stands.

Called with requests and responses as protobuf JSON. A program that only passes secrets on, or
reads fields of one that is JSON, works as before.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final

from function_script.errors import InputError
from function_script.values import MAX_SAFE_INTEGER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from function_script.values import Object, Value

WORD: Final = "redacted"
"""What stands for the first secret is this and a 1: a name in every language, and base64."""

_MAX_SPELLINGS: Final = 5_000
_MIN_LENGTH: Final = 4
# Shorter ones are known as whole words: they may be parts of others.
_MIN_PART: Final = 8
# Connection details have such values, and programs such words; they are hidden in their places.
_WORDS: Final = frozenset({"true", "false", "null", "none", "None", "True", "False", "main"})
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_ASSIGNMENT: Final = re.compile(r"^\s*[\w.-]+\s*[=:]\s*(\S.*?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hiding:
    """First `find` secrets in all messages, then `hide` them."""

    marks: dict[str, str] = field(default_factory=dict)
    """By the secret's text; what is not UTF-8 stands here as base64."""
    spellings: dict[str, str] = field(default_factory=dict)
    """By how a secret may be written elsewhere, what is written instead."""

    words: set[str] = field(default_factory=set)
    """One for each secret."""

    def find(self, message: Object) -> None:
        """Note the secrets of a message, and hide them where they are at home in it."""
        for state in ("observed", "desired"):
            for resource in _resources(message.get(state)):
                self._replace(resource.get("connection_details"), is_base64=True)
        credentials = message.get("credentials")
        for one in _sorted_items(credentials):
            data = one.get("credential_data")
            self._replace(data.get("data") if isinstance(data, dict) else None, is_base64=True)
        self._find_secrets(message)

    def hide(self, value: Object) -> Object:
        """The same without any secret, in keys as well; integral numbers without a fraction."""
        replace = _replacer(self.spellings)
        return {replace(key): _mapped(item, replace) for key, item in value.items()}

    def _find_secrets(self, value: Value) -> None:
        """Objects that are Secrets, wherever they are: in manifests of other resources, too."""
        if isinstance(value, list):
            for item in value:
                self._find_secrets(item)
        elif isinstance(value, dict):
            if value.get("kind") == "Secret":
                self._replace(value.get("data"), is_base64=True)
                self._replace(value.get("stringData"), is_base64=False)
                _drop_last_applied(value)
            for key in sorted(value):
                self._find_secrets(value[key])

    def _replace(self, found: Value, *, is_base64: bool) -> None:
        """Hide all that a map of secrets has."""
        if not isinstance(found, dict):
            return
        for key in sorted(found):
            stated = found[key]
            secret = stated if isinstance(stated, str) else json.dumps(stated)
            if is_base64:
                found[key] = _encoded(self._mark(_decoded(secret)))
            else:
                found[key] = self._mark(secret)

    def _mark(self, secret: str) -> str:
        """What stands for a secret: fields of JSON stay fields."""
        if not secret:
            return secret
        if secret in self.words:
            return secret
        if secret not in self.marks:
            self.marks[secret] = self._shaped(secret) or self._word(secret)
            self._spell(secret, self.marks[secret])
        return self.marks[secret]

    def _word(self, secret: str) -> str:
        mark = f"{WORD}{len(self.words) + 1}"
        self.words.add(mark)
        lines = {line.strip() for line in secret.splitlines()} if "\n" in secret else set()
        for part in (*lines, *_ASSIGNMENT.findall(secret)):
            self._spell(part.strip("\"'"), mark)
        return mark

    def _shaped(self, secret: str) -> str | None:
        try:
            found: Value = json.loads(secret)
        except (ValueError, RecursionError):
            return None
        if not isinstance(found, dict | list):
            return None
        return json.dumps(self._leaves(found))

    def _leaves(self, value: Value) -> Value:
        if isinstance(value, dict):
            return {key: self._leaves(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._leaves(item) for item in value]
        if isinstance(value, str):
            return self._mark(value)
        return value if value is None or isinstance(value, bool) else 0

    def _spell(self, secret: str, mark: str) -> None:
        if len(self.spellings) > _MAX_SPELLINGS:
            raise InputError.of("cannot capture the request: it has too many secrets")
        if len(secret) < _MIN_LENGTH or secret in _WORDS:
            return
        if secret.isdecimal() and len(secret) < _MIN_PART:
            return
        encoded, marked = _encoded(secret), _encoded(mark)
        self.spellings[encoded] = marked
        self.spellings[encoded.rstrip("=")] = marked.rstrip("=")
        for text in {secret, secret.strip()}:
            self.spellings[text] = mark
            for written in (json.dumps(text), json.dumps(text, ensure_ascii=False), repr(text)):
                self.spellings.setdefault(written[1:-1], json.dumps(mark)[1:-1])


def _replacer(spellings: dict[str, str]) -> Callable[[str], str]:
    """Longer spellings first, as they may hold shorter ones."""
    ordered = sorted(spellings.items(), key=lambda item: (-len(item[0]), item[0]))

    # Keys and many values are in a request again and again.
    @cache
    def replace(text: str) -> str:
        if len(text) < _MIN_LENGTH:
            return text
        for spelling, mark in ordered:
            if spelling not in text:
                continue
            if len(spelling) < _MIN_PART:
                # No mark has a backslash: it is its own template.
                text = re.sub(rf"(?<!\w){re.escape(spelling)}(?!\w)", mark, text)
            else:
                text = text.replace(spelling, mark)
        return text

    return replace


def _mapped(value: Value, replace: Callable[[str], str]) -> Value:
    if isinstance(value, str):
        return replace(value)
    if isinstance(value, dict):
        return {replace(key): _mapped(item, replace) for key, item in sorted(value.items())}
    if isinstance(value, list):
        return [_mapped(item, replace) for item in value]
    return _number(value, replace)


def _number(value: Value, replace: Callable[[str], str]) -> Value:
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_SAFE_INTEGER:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return value if replace(str(value)) == str(value) else 0


def _resources(state: Value) -> Iterator[Object]:
    if isinstance(state, dict):
        composite = state.get("composite")
        yield from [composite] if isinstance(composite, dict) else []
        yield from _sorted_items(state.get("resources"))


def _sorted_items(found: Value) -> Iterator[Object]:
    for _, item in sorted(found.items()) if isinstance(found, dict) else []:
        if isinstance(item, dict):
            yield item


def _drop_last_applied(secret: Object) -> None:
    """It holds the data once more, perhaps an older one."""
    metadata = secret.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if isinstance(annotations, dict) and _LAST_APPLIED in annotations:
        annotations[_LAST_APPLIED] = WORD


def _decoded(text: str) -> str:
    """The text that base64 holds; what holds none is a secret as it is."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return text


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()
