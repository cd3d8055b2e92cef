"""Warnings for secrets that can be computed: random texts without a salt, and their digests."""

import base64
import binascii
import hashlib
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

from function_script.contribution import lint
from function_script.contribution.model import Contribution
from function_script.engines import secret_fields
from function_script.request import objects
from function_script.request.reader import child
from function_script.request.values import Value
from function_script.texts.diagnostics import Diagnostic

# Shorter texts may be in a value by chance.
_MIN_CHARACTERS: Final = 6
# The work is bounded: so many texts are looked for, in so many characters.
_MAX_TEXTS: Final = 100
_MAX_CHARACTERS: Final = 1 << 20
_MAX_WARNINGS: Final = 10
# A digest of a random text is no more secret than the text; programs cut digests to this length.
_DIGESTS: Final = ("md5", "sha1", "sha256", "sha512")
_DIGEST_CHARACTERS: Final = 12
_SECRET: Final = ("v1", "Secret")
_MEMBERS: Final = ("data", "stringData")


def warn(contribution: Contribution, random_texts: Collection[str]) -> Contribution:
    """Return the contribution with a warning for each secret that has one of the texts in it."""
    texts = {text for text in random_texts if len(text) >= _MIN_CHARACTERS}
    if not texts:
        return contribution
    # Sorted, so that equal runs look for the same texts and give the same warnings.
    search = _Search([part for text in sorted(texts)[:_MAX_TEXTS] for part in _parts(text)])
    places = [*_places(contribution, search)]
    results = lint.warn(map(_to_problem, places[:_MAX_WARNINGS]), lint.PREDICTABLE)
    return (
        replace(contribution, results=contribution.results + results) if results else contribution
    )


def _to_problem(place: str) -> Diagnostic:
    return Diagnostic(
        message=f"{place} is a random text that is no secret: whoever knows the XR's UID and the "
        "program can compute it",
        hint="take it from a Secret, or make it by a function for secrets, and serve with "
        "--seed-file",
    )


def _parts(text: str) -> Iterator[str]:
    """Yield a random text, and the beginnings of its digests."""
    yield text
    for name in _DIGESTS:
        digest = hashlib.new(name, text.encode("utf-8", "replace"), usedforsecurity=False)
        yield digest.hexdigest()[:_DIGEST_CHARACTERS]


class _Search:
    """A search for texts in values, which ends when it has read enough."""

    def __init__(self, texts: Collection[str]) -> None:
        self._texts = texts
        self._budget = _MAX_CHARACTERS

    def is_in(self, value: str | bytes) -> bool:
        """Report whether a text is in a value, as it is or in base64."""
        text = value if isinstance(value, str) else value.decode("utf-8", "replace")
        self._budget -= len(text)
        if self._budget < 0:
            return False
        return any(part in each for each in (text, _decoded(text)) for part in self._texts)


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def _places(contribution: Contribution, search: _Search) -> Iterator[str]:
    """Yield descriptions of the secrets that have a text in them."""
    for name, entry in contribution.composed.items():
        if entry.resource is not None:
            for path in _find(entry.resource, "", search):
                yield f'resource "{name}": {path}'
    for name, value in contribution.composite.connection_details.items():
        if not secret_fields.is_public(name) and search.is_in(value):
            yield f'connection detail "{name}"'
    for path in _find(contribution.composite.status, "status", search):
        yield f"the XR's {path}"


def _find(value: Value, path: str, search: _Search) -> Iterator[str]:
    """Yield the paths of secrets in a value, and in Secrets within it."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _find(item, f"{path}[{index}]", search)
    if not isinstance(value, dict):
        return
    is_secret = objects.api_version_and_kind(value) == _SECRET
    for key, item in value.items():
        here = child(path, key)
        if is_secret and key in _MEMBERS and isinstance(item, dict):
            yield from (
                child(here, name)
                for name, text in item.items()
                if isinstance(text, str)
                and not secret_fields.is_public(name)
                and search.is_in(text)
            )
        elif isinstance(item, str):
            if secret_fields.is_secret(key) and search.is_in(item):
                yield here
        else:
            yield from _find(item, here, search)
