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
    data = to_bytes(text)
    position = _find_mistake_64(data)
    if position is not None:
        raise CallError(f"illegal base64 data at input byte {position}")
    return base64.b64decode(data)


def _find_mistake_64(data: bytes) -> int | None:
    """Return the position that Go names in a text that is no base64, or None.

    Go skips line breaks anywhere, and counts them.
    """
    behind = data.lstrip(_ALPHABET_64 + _NEWLINES)
    position = len(data) - len(behind)
    rest = len(data[:position].translate(None, _NEWLINES)) % 4
    if not behind:
        return len(data) - rest if rest else None
    if rest < 2 or not behind.startswith(_PADDING):  # noqa: PLR2004 # a byte takes two characters
        return position
    # Behind three characters of a last group of four stands one sign, behind two stand two.
    behind = behind[1:].lstrip(_NEWLINES)
    if rest == 2:  # noqa: PLR2004 # see above
        if not behind.startswith(_PADDING):
            return len(data) - len(behind) - bool(behind)
        behind = behind[1:].lstrip(_NEWLINES)
    return len(data) - len(behind) if behind else None


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
    position = _find_mistake_32(data, count)
    if position is not None:
        return f"illegal base32 data at input byte {position}"
    return to_string(base64.b32decode(data[:count] + _PADDING * (-count % 8)))


def _find_mistake_32(data: bytes, count: int) -> int | None:
    """Return the position that Go names in a text that is no base32, or None.

    The text has no line breaks; its first ``count`` bytes are of the alphabet.
    """
    behind, rest, padding = data[count:], count % 8, -count % 8
    if not behind:
        return count - rest if rest else None
    if rest < 2 or not behind.startswith(_PADDING) or len(behind) > 8:  # noqa: PLR2004 # in a group
        return count
    if len(behind) < padding:
        return len(data)
    # Go does not look at what follows the last group.
    wrong = len(behind[1:padding]) - len(behind[1:padding].lstrip(_PADDING))
    if wrong < padding - 1:
        return count + wrong
    return count if rest in {3, 6} else None


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
