"""Takes a request's secrets out of the problems that are told of it.

Called by the main path for every error, since a message may quote a value and a note a rendered
line; and by the server for what programs print and native code says.
What is secret is known by its value, wherever a program has put it: credentials, connection
details and the data of Secrets.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from function_script import wire

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from function_script.diagnostics import Diagnostic
    from function_script.errors import FatalError

MARK: Final = "[secret]"
# A text may be cut anywhere behind this many characters, and is still found.
_PREFIX: Final = 8
_ELLIPSIS: Final = re.compile(r"…|\.\.\.")
# Shorter values are words like any other.
_MIN_LENGTH: Final = 4


def redact_error(error: FatalError, data: bytes) -> FatalError:
    """The error without the secrets of the request in ``data``."""
    # Of a request that is none, nothing has been read.
    with suppress(wire.WireError):
        return type(error)(*redact(error.diagnostics, wire.index_request(data)))
    return error


def redact_text(text: str, data: bytes) -> str:
    """A text of a program's, or of native code, without the secrets of the request in ``data``."""
    with suppress(wire.WireError):
        text = _without(text, _found(wire.index_request(data)))
    return text


def redact(problems: tuple[Diagnostic, ...], request: wire.Request) -> tuple[Diagnostic, ...]:
    """The problems with MARK in the place of every secret of ``request``.

    Excerpts stay, for they are of the program's own text.
    """
    secrets = _found(request)
    if not secrets:
        return problems
    return tuple(
        replace(
            problem,
            message=_without(problem.message, secrets),
            hint=None if problem.hint is None else _without(problem.hint, secrets),
            notes=tuple(_without(note, secrets) for note in problem.notes),
        )
        for problem in problems
    )


def _found(request: wire.Request) -> list[str]:
    """All ways to write a secret; a longer one may hold a shorter one."""
    found = {text for data in _secrets(request) for text in _texts(data)}
    return sorted(found, key=lambda text: (len(text), text))


def _without(text: str, secrets: list[str]) -> str:
    for secret in reversed(secrets):
        if len(secret) < _PREFIX:
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", MARK, text)
        else:
            text = text.replace(secret, MARK)
    # Whole ones are gone, in every spelling: what is left of any was cut.
    for secret in reversed(secrets):
        text = _without_cut(text, secret)
    return text


def _without_cut(text: str, secret: str) -> str:
    """Without the secret's beginning where the text, or a quotation in it, was cut off in it."""
    start = text.find(secret[:_PREFIX]) if len(secret) >= _PREFIX else -1
    while start >= 0:
        end = start + _PREFIX
        while text[end : end + 1] and text[end : end + 1] == secret[end - start : end - start + 1]:
            end += 1
        if end == len(text) or _ELLIPSIS.match(text, end):
            text = text[:start] + MARK + text[end:]
        start = text.find(secret[:_PREFIX], start + 1)
    return text


def _texts(data: bytes) -> Iterator[str]:
    """How a value may stand in a text: as it is, in JSON, line by line, in base64."""
    found = [base64.b64encode(data).decode().rstrip("=")]
    text = data.decode("utf-8", "ignore")
    for part in {text, *(line.strip() for line in text.splitlines())}:
        found += [part, json.dumps(part)[1:-1], json.dumps(part, ensure_ascii=False)[1:-1]]
        found.append(repr(part)[1:-1])
    return (each for each in found if len(each.strip()) >= _MIN_LENGTH)


def _secrets(request: wire.Request) -> Iterator[bytes]:
    for credentials in request.credentials.values():
        yield from credentials.values()
    for resource in _resources(request):
        yield from resource.connection_details.values()
        yield from _of_secret(resource.struct or b"")


def _resources(request: wire.Request) -> Iterator[wire.Resource]:
    for state in (request.observed, request.desired):
        if state is not None:
            yield from [state.composite] if state.composite is not None else []
            yield from state.resources.values()
    groups: Iterable[list[wire.Resource]] = (
        *request.required_resources.values(),
        *request.extra_resources.values(),
    )
    for group in groups:
        yield from group


def _of_secret(struct: bytes) -> Iterator[bytes]:
    """The data of an object that is a Secret."""
    fields = wire.decode_struct_fields(struct)
    if "kind" not in fields or wire.decode_value(fields["kind"]) != "Secret":
        return
    yield from (text.encode() for text in _members(fields, "stringData"))
    for text in _members(fields, "data"):
        try:
            yield base64.b64decode(text, validate=True)
        except binascii.Error:
            yield text.encode()


def _members(fields: Mapping[str, bytes], key: str) -> list[str]:
    found = wire.decode_value(fields[key]) if key in fields else None
    members = found.values() if isinstance(found, dict) else ()
    return [item for item in members if isinstance(item, str)]
