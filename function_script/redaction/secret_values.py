"""The secret values of a request, and the parts of a value that programs extract.

Secrets are credentials, connection details and the data of Secrets, wherever these are. The parts
of a value are its lines, members, assignments and passwords.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import unquote_to_bytes

from function_script import wire
from function_script.redaction.finder import WORD_LENGTH, Budget
from function_script.values import Object, Value

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation of a Secret with its data as it was last applied."""

# The string value Secret in a Struct: its size, also as a padded varint, and its bytes.
_KIND: Final = re.compile(rb"(?:\x06|\x86\x80*\x00)Secret")
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


def find_objects(value: Value) -> Iterator[Object]:
    """Yield every object of kind Secret in ``value``, also in manifests of other resources."""
    stack: list[Value] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, dict):
            if item.get("kind") == "Secret":
                yield item
            stack.extend(item[key] for key in sorted(item, reverse=True))


def find_last_applied(secret: Object) -> str | None:
    """Return the annotation LAST_APPLIED of a Secret, None if it has none."""
    metadata = secret.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    text = annotations.get(LAST_APPLIED) if isinstance(annotations, dict) else None
    return text if isinstance(text, str) else None


def decode_base64(text: str) -> bytes:
    """Decode the data of a Secret; return a text that is not base64 as it is."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return to_bytes(text)


def encode_base64(data: str | bytes) -> str:
    """Encode a text or bytes as data of a Secret."""
    return base64.b64encode(data if isinstance(data, bytes) else to_bytes(data)).decode()


def to_bytes(text: str) -> bytes:
    """Encode a text as UTF-8, including lone surrogates."""
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
    if struct is None or b"Secret" not in struct or not _KIND.search(struct):
        return
    budget.spend(len(struct))
    for secret in find_objects(wire.decode_struct(struct)):
        yield from _values_of(secret)
        try:
            document: Value = json.loads(find_last_applied(secret) or "null")
        except (ValueError, RecursionError):
            continue
        for former in find_objects(document):
            yield from _values_of(former)


def _values_of(secret: Object) -> Iterator[bytes]:
    yield from (to_bytes(text) for text in _texts(secret.get("stringData")))
    yield from (decode_base64(text) for text in _texts(secret.get("data")))


def _texts(members: Value) -> list[str]:
    items = members.values() if isinstance(members, dict) else ()
    return [item for item in items if isinstance(item, str)]
