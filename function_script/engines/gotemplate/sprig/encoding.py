"""sprig's encodings and checksums: ``b64enc``, ``b64dec``, ``sha256sum``.

The value of a text that cannot be decoded is the error's text, as in Go. It counts the bytes that
are right, without line breaks; Go may name another place.
"""

import base64
import binascii
import hashlib
import zlib
from string import ascii_letters, ascii_uppercase, digits
from typing import Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import FunctionTable
from function_script.engines.gotemplate.values import to_bytes, to_string

FUNCTIONS: Final = FunctionTable()

_NEWLINES: Final = b"\r\n"
_ALPHABET_64: Final = f"{ascii_letters}{digits}+/".encode()
_ALPHABET_32: Final = f"{ascii_uppercase}234567".encode()


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
    """Decode base64; raises CallError."""
    # Go skips line breaks anywhere.
    data = to_bytes(text).translate(None, _NEWLINES)
    try:
        # The decoder lets surplus padding pass.
        if len(data) % 4 == 0 and not data.endswith(b"==="):
            return binascii.a2b_base64(data, strict_mode=True)
    except binascii.Error:
        pass
    raise CallError(f"illegal base64 data at {_place(data, _ALPHABET_64, 4)}")


def _place(data: bytes, alphabet: bytes, group: int) -> str:
    """Return the place where data ends to be of an alphabet; in Go, it may be the sign behind."""
    position = len(data) - len(data.lstrip(alphabet))
    rest = position % group
    if position == len(data):
        # Too short a group at the end is wrong from its beginning on.
        position -= rest
    elif rest == group - 1 and data.startswith(b"=", position):
        # The group is right, and what follows is wrong.
        position += 1
    return f"input byte {position}"


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
    if len(data) <= count + 8:  # Go does not look at the rest of a group behind the padding.
        data = data[: count + (-count % 8 or 8)]
    try:
        return to_string(base64.b32decode(data))
    except binascii.Error:
        return f"illegal base32 data at {_place(data, _ALPHABET_32, 8)}"


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
