"""The masking of secrets in messages, as protobuf JSON: each secret becomes a word of its own.

A masked secret keeps its encoding, so a program that passes secrets on, or reads fields of one that
is JSON, works with the masked request as well.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Final

from function_script.request.values import Object, Value, to_integer
from function_script.texts.errors import InputError
from function_script.texts.redaction import secret_values
from function_script.texts.redaction.finder import Budget, Finder, TooMuchWorkError, fold
from function_script.texts.redaction.rewriting import Rewriter

WORD: Final = "redacted"
"""The prefix of the masks: redacted1 is valid as a name in every language, and as base64."""

# In bytes; at most one second and ten seconds, measured. The server's thread sleeps nine times as
# long as a capture took.
_VALUES_BUDGET: Final = 32 << 20
_TEXTS_BUDGET: Final = 64 << 20
# A shorter number, such as a port, also occurs elsewhere, so only the secret's own field is masked.
_NUMBER_LENGTH: Final = 8


class SecretMasker:
    """Replaces secrets: first `find` those of all messages, then `mask` a value."""

    def __init__(self) -> None:
        self.words: Final[set[str]] = set()
        """The words that replace secrets, one for each secret."""

        self._marks: Final[dict[str, str]] = {}
        self._of_values: Final[dict[bytes, bytes]] = {}
        self._of_parts: Final[dict[bytes, bytes]] = {}
        self._budget = Budget(_VALUES_BUDGET)

    @property
    def count(self) -> int:
        """How many secrets are replaced; JSON without a text has no word and is replaced, too."""
        return len(self.words) or sum(secret != mark for secret, mark in self._marks.items())

    def find(self, message: Object) -> None:
        """Collect the secrets of a message, and mask them in their own fields.

        Raises InputError if they exceed the budget.
        """
        try:
            for resource in _resources(message):
                self._replace(resource.get("connection_details"), is_base64=True)
            for credentials in _sorted_items(message.get("credentials")):
                data = credentials.get("credential_data")
                self._replace(data.get("data") if isinstance(data, dict) else None, is_base64=True)
            for field in secret_values.find_fields(message, self._budget):
                self._replace_member(field.members, field.key, is_base64=field.is_base64)
        except TooMuchWorkError as error:
            raise _too_many_error() from error

    def mask(self, value: Object) -> Object:
        """Return the value without secrets, also in keys, and with integral doubles as integers.

        Raises InputError if the search exceeds its budget.
        """
        finder = Finder([*self._of_values, *self._of_parts])
        texts = sorted({*_texts(value)})
        if finder:
            marks = _Marks(self._of_values, self._of_parts)
            budget = Budget(_TEXTS_BUDGET)
            rewriter = Rewriter(finder, marks.choose, budget, is_masked=False)
            try:
                rewritten = dict(zip(texts, rewriter.rewrite(texts), strict=True))
            except TooMuchWorkError as error:
                raise _too_many_error() from error
        else:
            rewritten = dict(zip(texts, texts, strict=True))
        return {rewritten[key]: _replace_texts(item, rewritten) for key, item in value.items()}

    def _replace(self, members: Value, *, is_base64: bool) -> None:
        """Mask all values of a map of secrets."""
        if isinstance(members, dict):
            for key in sorted(members):
                self._replace_member(members, key, is_base64=is_base64)

    def _replace_member(self, members: Object, key: str, *, is_base64: bool) -> None:
        value = members[key]
        secret = value if isinstance(value, str) else json.dumps(value)
        if is_base64:
            mark = self._mark_bytes(secret_values.decode_base64(secret))
            members[key] = secret_values.encode_base64(mark)
        else:
            members[key] = self._mark(secret)

    def _mark_bytes(self, secret: bytes) -> str:
        try:
            return self._mark(secret.decode())
        except UnicodeDecodeError:
            key = secret_values.encode_base64(secret)
            if key not in self._marks:
                self._marks[key] = self._mark_parts(secret)
            return self._marks[key]

    def _mark(self, secret: str) -> str:
        """Return the text that replaces a secret; JSON keeps its structure."""
        if not secret or secret in self.words:
            return secret
        if secret not in self._marks:
            try:
                document: Value = json.loads(secret)
            except (ValueError, RecursionError):
                document = None
            if isinstance(document, dict | list):
                self._marks[secret] = json.dumps(self._mark_leaves(document))
            else:
                self._marks[secret] = self._mark_parts(secret_values.to_bytes(secret))
            for text in (secret, secret.strip()):
                self._add(secret_values.to_bytes(text), self._marks[secret], self._of_values)
        return self._marks[secret]

    def _mark_parts(self, secret: bytes) -> str:
        mark = f"{WORD}{len(self.words) + 1}"
        self.words.add(mark)
        parts = secret_values.Parts()
        secret_values.split(secret, parts, self._budget)
        for part in sorted(parts.texts | parts.short):
            self._add(part, mark, self._of_parts)
        return mark

    def _mark_leaves(self, value: Value) -> Value:
        if isinstance(value, dict):
            return {key: self._mark_leaves(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._mark_leaves(item) for item in value]
        if isinstance(value, str):
            return self._mark(value)
        return value if value is None or isinstance(value, bool) else 0

    def _add(self, secret: bytes, mark: str, marks: dict[bytes, bytes]) -> None:
        """Add a secret to those that `mask` searches for."""
        self._budget.spend(len(secret))
        if not (secret.isdigit() and len(secret) < _NUMBER_LENGTH):
            marks.setdefault(secret, secret_values.to_bytes(mark))


class _Marks:
    """The marks by the text of a secret, also in lower or upper case."""

    def __init__(self, of_values: Mapping[bytes, bytes], of_parts: Mapping[bytes, bytes]) -> None:
        self._exact = {**of_parts, **of_values}
        self._folded = {
            folded: mark for text, mark in reversed(self._exact.items()) for folded in fold(text)
        }

    def choose(self, secret: bytes) -> bytes:
        mark = self._exact.get(secret)
        if mark is not None:
            return mark
        mark = self._folded[secret.lower()]
        return mark.upper() if secret.isupper() else mark


def _too_many_error() -> InputError:
    return InputError.of(
        "cannot capture the request: its secrets are too many or too large to look for in it"
    )


def _texts(value: Value) -> Iterator[str]:
    """Yield all texts in a value: strings, keys and numbers."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(to_integer(value))


def _replace_texts(value: Value, rewritten: Mapping[str, str]) -> Value:
    if isinstance(value, str):
        return rewritten[value]
    if isinstance(value, dict):
        return {
            rewritten[key]: _replace_texts(item, rewritten) for key, item in sorted(value.items())
        }
    if isinstance(value, list):
        return [_replace_texts(item, rewritten) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    number = to_integer(value)
    return number if rewritten[str(number)] == str(number) else 0


def _resources(message: Object) -> Iterator[Object]:
    for name in ("observed", "desired"):
        state = message.get(name)
        if isinstance(state, dict):
            composite = state.get("composite")
            yield from [composite] if isinstance(composite, dict) else []
            yield from _sorted_items(state.get("resources"))
    for name in ("required_resources", "extra_resources"):
        for group in _sorted_items(message.get(name)):
            items = group.get("items")
            for item in items if isinstance(items, list) else []:
                if isinstance(item, dict):
                    yield item


def _sorted_items(members: Value) -> Iterator[Object]:
    for _, item in sorted(members.items()) if isinstance(members, dict) else []:
        if isinstance(item, dict):
            yield item
