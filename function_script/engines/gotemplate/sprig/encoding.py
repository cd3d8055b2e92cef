"""sprig's encodings and checksums: ``b64enc``, ``b64dec``, ``sha256sum``.

The value of a text that cannot be decoded is the error's text, as in Go.
"""

import base64
import hashlib
import zlib
from string import ascii_letters, ascii_uppercase, digits
from typing import Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import FunctionTable
from function_script.engines.gotemplate.values import to_bytes, to_string

FUNCTIONS: Final = FunctionTable()

_NEWLINES: Final = b"\r\n"
_PADDING: Final = b"="

# A quantum of base64 has 4 characters, of base32 8.
_QUANTUM_64: Final = 4
_QUANTUM_32: Final = 8
_ALPHABET_64: Final = f"{ascii_letters}{digits}+/".encode()
_ALPHABET_32: Final = f"{ascii_uppercase}234567".encode()
# Numbers of characters in a last quantum of base32 in front of its padding.
_ENDINGS_32: Final = frozenset({2, 4, 5, 7})


# Base64


@FUNCTIONS.add("b64enc")
def b64_encode(text: str) -> str:
    """The text in base64."""
    return base64.b64encode(to_bytes(text)).decode()


@FUNCTIONS.add("b64dec")
def b64_decode(text: str) -> str:
    """The text of a base64 text."""
    try:
        return to_string(decode_64(text))
    except CallError as error:
        return error.text


def decode_64(text: str) -> bytes:
    """Decode base64; raises CallError with the position of Go's decoder."""
    data = to_bytes(text)
    # Go's decoder skips line breaks anywhere.
    plain = data.translate(None, _NEWLINES)
    count = len(plain) - len(plain.lstrip(_ALPHABET_64))
    padding = plain[count:]
    remainder = count % _QUANTUM_64
    if padding != _PADDING * (-count % _QUANTUM_64) or remainder == 1:
        raise CallError(f"illegal base64 data at input byte {_error_position(data, count)}")
    return base64.b64decode(plain)


def _error_position(data: bytes, count: int) -> int:
    """Return the position where Go's decoder stops, behind ``count`` good characters.

    Line breaks count in the position, but not in ``count``.
    """
    positions = [position for position, byte in enumerate(data) if byte not in _NEWLINES]
    remainder = count % _QUANTUM_64
    rest = positions[count:]
    if not rest:
        return len(data) - remainder
    if remainder < len(("first", "second")) or data[rest[0]] not in _PADDING:
        return rest[0]
    padding = _QUANTUM_64 - remainder
    if padding > 1:
        if len(rest) == 1:
            return len(data)
        if data[rest[1]] not in _PADDING:
            return rest[1] - 1
    return rest[padding]


# Base32


@FUNCTIONS.add("b32enc")
def b32_encode(text: str) -> str:
    """The text in base32."""
    return base64.b32encode(to_bytes(text)).decode()


@FUNCTIONS.add("b32dec")
def b32_decode(text: str) -> str:
    """The text of a base32 text."""
    data = to_bytes(text).translate(None, _NEWLINES)
    count = len(data) - len(data.lstrip(_ALPHABET_32))
    remainder = count % _QUANTUM_32
    rest = data[count:]
    if not rest:
        if remainder:
            return _corrupt_32(len(data) - remainder)
        return to_string(base64.b32decode(data))
    if not rest.startswith(_PADDING) or remainder <= 1 or len(rest) > _QUANTUM_32:
        return _corrupt_32(count)
    padding = _QUANTUM_32 - remainder
    if len(rest) < padding:
        return _corrupt_32(len(data))
    present = len(rest[:padding]) - len(rest[:padding].lstrip(_PADDING))
    if present < padding:
        return _corrupt_32(count + present - 1)
    if remainder not in _ENDINGS_32:
        return _corrupt_32(count)
    return to_string(base64.b32decode(data[: count + padding]))


def _corrupt_32(position: int) -> str:
    return f"illegal base32 data at input byte {position}"


# Checksums


@FUNCTIONS.add("sha1sum")
def sha1(text: str) -> str:
    """The SHA-1 sum of the text, in hexadecimal."""
    return hashlib.sha1(to_bytes(text), usedforsecurity=False).hexdigest()


@FUNCTIONS.add("sha256sum")
def sha256(text: str) -> str:
    """The SHA-256 sum of the text, in hexadecimal."""
    return hashlib.sha256(to_bytes(text)).hexdigest()


@FUNCTIONS.add("sha512sum")
def sha512(text: str) -> str:
    """The SHA-512 sum of the text, in hexadecimal."""
    return hashlib.sha512(to_bytes(text)).hexdigest()


@FUNCTIONS.add("adler32sum")
def adler32(text: str) -> str:
    """The Adler-32 sum of the text."""
    return str(zlib.adler32(to_bytes(text)))
