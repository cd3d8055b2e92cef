"""sprig's encodings and checksums: ``b64enc``, ``b64dec``, ``sha256sum``.

A text that cannot be decoded is an error. In Go the error's text is the value.
"""

import base64
import hashlib
import re
import zlib
from typing import Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import FunctionTable
from function_script.engines.gotemplate.values import to_bytes, to_string

FUNCTIONS: Final = FunctionTable()

_NEWLINES: Final = b"\r\n"
_BASE64: Final = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_BASE32: Final = re.compile(
    rb"(?:[A-Z2-7]{8})*(?:[A-Z2-7]{2}={6}|[A-Z2-7]{4}={4}|[A-Z2-7]{5}={3}|[A-Z2-7]{7}=)?"
)


# Base64


@FUNCTIONS.add("b64enc", parameters="string", returns="string")
def b64_encode(text: str) -> str:
    """The text in base64."""
    return base64.b64encode(to_bytes(text)).decode()


@FUNCTIONS.add("b64dec", parameters="string", returns="string")
def b64_decode(text: str) -> str:
    """The text of a base64 text."""
    return to_string(decode_64(text))


def decode_64(text: str) -> bytes:
    """Decode base64, with line breaks; raises CallError."""
    data = to_bytes(text).translate(None, _NEWLINES)
    if _BASE64.fullmatch(data) is None:
        raise CallError("the text is not base64")
    return base64.b64decode(data)


# Base32


@FUNCTIONS.add("b32enc", parameters="string", returns="string")
def b32_encode(text: str) -> str:
    """The text in base32."""
    return base64.b32encode(to_bytes(text)).decode()


@FUNCTIONS.add("b32dec", parameters="string", returns="string")
def b32_decode(text: str) -> str:
    """The text of a base32 text."""
    data = to_bytes(text).translate(None, _NEWLINES)
    if _BASE32.fullmatch(data) is None:
        raise CallError("the text is not base32")
    return to_string(base64.b32decode(data))


# Checksums


@FUNCTIONS.add("sha1sum", parameters="string", returns="string")
def sha1(text: str) -> str:
    """The SHA-1 sum of the text, in hexadecimal."""
    return hashlib.sha1(to_bytes(text), usedforsecurity=False).hexdigest()


@FUNCTIONS.add("sha256sum", parameters="string", returns="string")
def sha256(text: str) -> str:
    """The SHA-256 sum of the text, in hexadecimal."""
    return hashlib.sha256(to_bytes(text)).hexdigest()


@FUNCTIONS.add("sha512sum", parameters="string", returns="string")
def sha512(text: str) -> str:
    """The SHA-512 sum of the text, in hexadecimal."""
    return hashlib.sha512(to_bytes(text)).hexdigest()


@FUNCTIONS.add("adler32sum", parameters="string", returns="string")
def adler32(text: str) -> str:
    """The Adler-32 sum of the text."""
    return str(zlib.adler32(to_bytes(text)))
