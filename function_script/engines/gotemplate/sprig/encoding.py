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


def _find_mistake(data: bytes, alphabet: bytes, quantum: int, wrong: tuple[int, ...]) -> int | None:
    """Return the position where a text is not in an encoding, or None.

    ``wrong`` has the numbers of characters that no last quantum has in front of its padding.
    """
    count = len(data) - len(data.lstrip(alphabet))
    rest = count % quantum
    following = data[count:].lstrip(_PADDING)
    padding = len(data) - count - len(following)
    if not following and padding == -count % quantum and rest not in wrong:
        return None
    # Go names the last quantum where all of its end is missing.
    if count == len(data):
        return count - rest
    return count if rest in {0, *wrong} else count + padding


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
    # Go's decoder skips line breaks anywhere.
    data = to_bytes(text).translate(None, _NEWLINES)
    position = _find_mistake(data, _ALPHABET_64, 4, (1,))
    if position is not None:
        raise CallError(f"illegal base64 data at input byte {position}")
    return base64.b64decode(data)


# Base32


@FUNCTIONS.add("b32enc")
def b32_encode(text: str) -> str:
    """The text in base32."""
    return base64.b32encode(to_bytes(text)).decode()


@FUNCTIONS.add("b32dec")
def b32_decode(text: str) -> str:
    """The text of a base32 text."""
    data = to_bytes(text).translate(None, _NEWLINES)
    position = _find_mistake(data, _ALPHABET_32, 8, (1, 3, 6))
    if position is not None:
        return f"illegal base32 data at input byte {position}"
    return to_string(base64.b32decode(data))


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
