"""Which values are secret: those of a request, and the parts that one value consists of.

Secret are credentials, connection details and the data of Secrets, wherever these are, and what
programs take out of such a value: its lines, members, assignments and passwords.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import TYPE_CHECKING, Final

from function_script import wire
from function_script.redaction.finder import WORD_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from function_script.redaction.budget import Budget
    from function_script.values import Object, Value

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation of a Secret that holds its data once more, perhaps an older one."""

# A struct with an object of kind Secret has this text as a value: its size, however it is encoded.
_KIND: Final = re.compile(rb"(?:\x06|\x86\x80*\x00)Secret")
# A value in a value in a value: a password in a connection string in JSON in base64.
_MAX_DEPTH: Final = 4
# Keeping a line of a value costs as much as looking at so many bytes, and splitting one as many.
_LINE_COST: Final = 64
_MEMBER_COST: Final = 128
_SECRET_NAME: Final = re.compile(rb"pass|pwd|secret|token|key|auth|cred|pin", re.IGNORECASE)
_ASSIGNMENT: Final = re.compile(rb"(?:- |export )?[\"']?([\w.-]+)[\"']?[ \t]*[=:][ \t]*(\S.*)")
_PASSWORD: Final = re.compile(
    rb"(?:pass|pwd|secret|token|key)[\w.-]{0,30}[ \t]?[=:][ \t]?[\"']?([^\s;,&\"']+)", re.IGNORECASE
)
# user:password@host, with and without a scheme before it.
_USERINFO: Final = re.compile(rb"(?:^|//)[^/\s:@]*:([^/\s@]+)@", re.MULTILINE)
_PERCENT: Final = re.compile(rb"%([0-9A-Fa-f]{2})")
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/_-]{11,}={0,2}")


class Parts:
    """Values to look for; ``short`` are those below WORD_LENGTH whose names do not say secret."""

    def __init__(self) -> None:
        self.texts: Final[set[bytes]] = set()
        self.short: Final[set[bytes]] = set()


def find_in_request(request: wire.Request, budget: Budget) -> Iterator[bytes]:
    """The secret values of a request. Raises WireError, TooMuchWorkError."""
    for credentials in request.credentials.values():
        yield from credentials.values()
    for resource in _resources(request):
        yield from resource.connection_details.values()
        yield from _find_in_struct(resource.struct, budget)
    yield from _find_in_struct(request.context, budget)
    yield from _find_in_struct(request.input, budget)


def find_objects(value: Value) -> Iterator[Object]:
    """Every object of kind Secret in ``value``: in manifests of other resources, too."""
    waiting: list[Value] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, dict):
            if item.get("kind") == "Secret":
                yield item
            waiting.extend(item[key] for key in sorted(item, reverse=True))


def find_last_applied(secret: Object) -> str | None:
    """The text of a Secret's annotation LAST_APPLIED."""
    metadata = secret.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    text = annotations.get(LAST_APPLIED) if isinstance(annotations, dict) else None
    return text if isinstance(text, str) else None


def decode_base64(text: str) -> bytes:
    """Decode the data of a Secret; a text that is not base64 is a value as it is."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return to_bytes(text)


def encode_base64(data: str | bytes) -> str:
    """Encode a text or bytes as the data of Secrets is."""
    return base64.b64encode(data if isinstance(data, bytes) else to_bytes(data)).decode()


def to_bytes(text: str) -> bytes:
    """Encode a text as UTF-8, with lone surrogates."""
    return text.encode("utf-8", "surrogatepass")


def split(value: bytes, parts: Parts, budget: Budget) -> None:
    """Add a value and its parts to ``parts``. Raises TooMuchWorkError."""
    _split(value, parts, budget, _MAX_DEPTH)


def _split(value: bytes, parts: Parts, budget: Budget, depth: int) -> None:
    budget.spend(_MEMBER_COST + len(value))
    text = value.strip()
    lines = {line.strip() for line in text.splitlines()}
    budget.spend(_LINE_COST * len(lines))
    parts.texts.update(lines)
    parts.texts.add(value)
    parts.texts.add(text)
    if depth == 0:
        return
    for name, member in _members(text, lines):
        if len(member) >= WORD_LENGTH:
            if member not in parts.texts:
                _split(member, parts, budget, depth - 1)
        elif _SECRET_NAME.search(name):
            parts.texts.add(member)
        elif not member.isdigit():
            parts.short.add(member)


def _members(value: bytes, lines: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Names and texts of what is inside a value: of JSON, assignments, passwords, base64."""
    if value[:1] in {b"{", b"["}:
        yield from _json_members(value)
    if b"=" in value or b":" in value:
        for line in lines:
            match = _ASSIGNMENT.match(line)
            if match:
                yield match[1], match[2].strip(b"\"',")
        yield from ((b"password", match[1]) for match in _PASSWORD.finditer(value))
    if b"@" in value:
        for match in _USERINFO.finditer(value):
            yield b"password", match[1]
            yield b"password", _unquote(match[1])
    if _BASE64.fullmatch(value):
        yield b"", _decoded(value)


def _json_members(value: bytes) -> Iterator[tuple[bytes, bytes]]:
    try:
        document: Value = json.loads(value)
    except (ValueError, RecursionError):
        return
    waiting: list[tuple[str, Value]] = [("", document)]
    while waiting:
        name, item = waiting.pop()
        if isinstance(item, str):
            yield to_bytes(name), to_bytes(item)
        elif isinstance(item, list):
            waiting.extend((name, member) for member in item)
        elif isinstance(item, dict):
            waiting.extend(item.items())


def _unquote(text: bytes) -> bytes:
    return _PERCENT.sub(lambda match: bytes.fromhex(match[1].decode()), text)


def _decoded(value: bytes) -> bytes:
    """The text that base64 holds; empty when it holds none."""
    standard = value.replace(b"-", b"+").replace(b"_", b"/").rstrip(b"=")
    try:
        decoded = binascii.a2b_base64(standard + b"=" * (-len(standard) % 4))
        decoded.decode()
    except (binascii.Error, UnicodeDecodeError):
        return b""
    return decoded


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


def _find_in_struct(struct: bytes | None, budget: Budget) -> Iterator[bytes]:
    if struct is None or b"Secret" not in struct or not _KIND.search(struct):
        return
    budget.spend(len(struct))
    for secret in find_objects(wire.decode_struct(struct)):
        yield from _values_of(secret)
        applied = find_last_applied(secret)
        if applied is not None:
            yield from _applied_values(applied)


def _applied_values(text: str) -> Iterator[bytes]:
    try:
        document: Value = json.loads(text)
    except (ValueError, RecursionError):
        return
    for secret in find_objects(document):
        yield from _values_of(secret)


def _values_of(secret: Object) -> Iterator[bytes]:
    yield from (to_bytes(text) for text in _texts(secret.get("stringData")))
    yield from (decode_base64(text) for text in _texts(secret.get("data")))


def _texts(members: Value) -> list[str]:
    items = members.values() if isinstance(members, dict) else ()
    return [item for item in items if isinstance(item, str)]
