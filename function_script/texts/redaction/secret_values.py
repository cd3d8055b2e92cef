"""The secret values of a request, and the parts of a value that programs extract.

Secrets are credentials, connection details and the data of Secrets, wherever these are. The parts
of a value are its lines, members, assignments and passwords.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from function_script import wire
from function_script.request.values import Object, Value
from function_script.texts.redaction.finder import WORD_LENGTH, Budget

# The string value Secret in a Struct: its size, also as a padded varint, and its bytes.
_KIND: Final = re.compile(rb"(?:\x06|\x86\x80*\x00)Secret")
# The end of such a value in a text in JSON, whose quotes may be escaped.
_KIND_IN_JSON: Final = re.compile(rb'Secret\\*"')
# The depth of values in values, such as a password in a connection string in JSON in base64.
_MAX_DEPTH: Final = 4
# The cost of a line, and of a member to split, in bytes of search.
_LINE_COST: Final = 64
_MEMBER_COST: Final = 128
_SECRET_NAME: Final = re.compile(rb"pass|pwd|secret|token|key|auth|cred|pin", re.IGNORECASE)
_ASSIGNMENT: Final = re.compile(rb"(?:- |export )?[\"']?([\w.-]+)[\"']?[ \t]*[=:][ \t]*(\S.*)")
_PASSWORD: Final = re.compile(
    rb"(?:pass|pwd|secret|token|key)[\w.-]{0,30}[ \t]?[=:][ \t]?[\"']?([^\s;,&\"']+)", re.IGNORECASE
)
# user:password@host, with and without a scheme.
_USERINFO: Final = re.compile(rb"(?:^|//)[^/\s:@]*:([^/\s@]+)@", re.MULTILINE)
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/_-]{11,}={0,2}")


class Parts:
    """The values to search for; ``short`` are short ones whose names do not suggest a secret."""

    def __init__(self) -> None:
        self.texts: Final[set[bytes]] = set()
        self.short: Final[set[bytes]] = set()


def find_in_request(request: wire.Request, budget: Budget) -> Iterator[bytes]:
    """Yield the secret values of a request. Raises WireError, TooMuchWorkError."""
    for credentials in request.credentials.values():
        yield from credentials.values()
    for resource in _resources(request):
        yield from resource.connection_details.values()
        yield from _find_in_struct(resource.struct, budget)
    yield from _find_in_struct(request.context, budget)
    yield from _find_in_struct(request.input, budget)


class SecretField(NamedTuple):
    """One member of ``data`` or ``stringData`` in a Secret; who masks it replaces it there."""

    members: Object
    key: str
    is_base64: bool

    def value(self) -> bytes:
        """Return the secret, decoded."""
        item = self.members[self.key]
        text = item if isinstance(item, str) else json.dumps(item)
        return decode_base64(text) if self.is_base64 else to_bytes(text)


def find_fields(value: Value, budget: Budget, *, is_secret: bool = False) -> Iterator[SecretField]:
    """Yield the secrets in ``value``: of every object of kind Secret, also in texts in JSON.

    Such a text is written anew when its secrets were yielded. ``is_secret``: the value is a Secret,
    whatever its kind. Raises TooMuchWorkError.
    """
    stack: list[Value] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack.extend(item)
        if not isinstance(item, dict):
            continue
        if item.get("kind") == "Secret" or (is_secret and item is value):
            yield from _fields_of(item.get("stringData"), is_base64=False)
            yield from _fields_of(item.get("data"), is_base64=True)
            metadata = item.get("metadata")
            annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
            if isinstance(annotations, dict):
                yield from _fields_in_texts(annotations, budget, are_secrets=True)
        yield from _fields_in_texts(item, budget, are_secrets=False)
        stack.extend(item[key] for key in sorted(item, reverse=True))


def _fields_of(members: Value, *, is_base64: bool) -> Iterator[SecretField]:
    if isinstance(members, dict):
        for key in sorted(members):
            if members[key] is not None and not isinstance(members[key], bool):
                yield SecretField(members, key, is_base64)


def _fields_in_texts(
    members: Object, budget: Budget, *, are_secrets: bool
) -> Iterator[SecretField]:
    """Yield the secrets in the members that are texts in JSON, such as a former state of an object.

    ``are_secrets``: such a text is a Secret, whatever its kind. One that is not valid is a secret
    itself.
    """
    for key in sorted(members):
        text = members[key]
        if not isinstance(text, str) or not text.startswith("{"):
            continue
        if are_secrets or _KIND_IN_JSON.search(to_bytes(text)):
            budget.spend(len(text))
            try:
                document: Value = json.loads(text)
            except (ValueError, RecursionError):
                if are_secrets:
                    yield SecretField(members, key, is_base64=False)
                continue
            yield from find_fields(document, budget, is_secret=are_secrets)
            members[key] = json.dumps(document)


def decode_base64(text: str) -> bytes:
    """Decode the data of a Secret; return a text that is not base64 as it is.

    The API server ignores line breaks.
    """
    try:
        return base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return to_bytes(text)


def encode_base64(data: str | bytes) -> str:
    """Encode a text or bytes as data of a Secret."""
    return base64.b64encode(data if isinstance(data, bytes) else to_bytes(data)).decode()


def to_bytes(text: str) -> bytes:
    """Encode a text as UTF-8, including lone surrogates."""
    return text.encode("utf-8", "surrogatepass")


def split(value: bytes, parts: Parts, budget: Budget, depth: int = _MAX_DEPTH) -> None:
    """Add a value and its parts to ``parts``. Raises TooMuchWorkError."""
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
                split(member, parts, budget, depth - 1)
        elif _SECRET_NAME.search(name):
            parts.texts.add(member)
        elif not member.isdigit():
            parts.short.add(member)


def _members(value: bytes, lines: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield names and texts of the members of a value: JSON, assignments, passwords, base64."""
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
            yield b"password", unquote_to_bytes(match[1])
    if _BASE64.fullmatch(value):
        yield b"", _decode_text(value)


def _json_members(value: bytes) -> Iterator[tuple[bytes, bytes]]:
    try:
        document: Value = json.loads(value)
    except (ValueError, RecursionError):
        return
    stack: list[tuple[str, Value]] = [("", document)]
    while stack:
        name, item = stack.pop()
        if isinstance(item, str):
            yield to_bytes(name), to_bytes(item)
        elif isinstance(item, list):
            stack.extend((name, member) for member in item)
        elif isinstance(item, dict):
            stack.extend(item.items())


def _decode_text(value: bytes) -> bytes:
    """Return the text that base64 encodes; empty if it encodes other bytes."""
    standard = value.replace(b"-", b"+").replace(b"_", b"/").rstrip(b"=")
    try:
        text = binascii.a2b_base64(standard + b"=" * (-len(standard) % 4))
        text.decode()
    except (binascii.Error, UnicodeDecodeError):
        return b""
    return text


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
    if struct is None or b"Secret" not in struct:
        return
    if _KIND.search(struct) or _KIND_IN_JSON.search(struct):
        budget.spend(len(struct))
        for field in find_fields(wire.decode_struct(struct), budget):
            yield field.value()
