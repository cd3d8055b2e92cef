"""Text as other text: base 64, base 32, hexadecimal and percent encoding. Bytes are UTF-8."""

import base64
import binascii
from collections.abc import Callable
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from function_script.engines.library.function import Group
from function_script.texts.errors import HintedError

GROUP: Final = Group(
    name="encoding",
    summary="Text as other text. Bytes are those of UTF-8, before and after.",
)


@GROUP.filter(example='b64encode("hi")', result="aGk=")
def b64encode(text: str) -> str:
    """Base 64 of the text's UTF-8 bytes, padded."""
    return base64.b64encode(text.encode()).decode()


@GROUP.filter(example='b64decode("aGk=")', result="hi")
def b64decode(text: str) -> str:
    """The text whose base 64 this is; line breaks and missing padding are accepted."""
    return _decoded(text, "base 64", lambda data: base64.b64decode(_padded(data), validate=True))


@GROUP.filter(example='b64url_encode("a?>")', result="YT8-")
def b64url_encode(text: str) -> str:
    """Base 64 in the alphabet for URLs (- and _), without padding."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@GROUP.filter(example='b64url_decode("YT8-")', result="a?>")
def b64url_decode(text: str) -> str:
    """The text whose base 64 in the alphabet for URLs this is, padded or not."""
    return _decoded(
        text, "base 64 for URLs", lambda data: base64.b64decode(_padded(data), b"-_", validate=True)
    )


@GROUP.filter(example='b32encode("hi")', result="NBUQ====")
def b32encode(text: str) -> str:
    """Base 32 of the text's UTF-8 bytes, padded."""
    return base64.b32encode(text.encode()).decode()


@GROUP.filter(example='b32decode("NBUQ")', result="hi")
def b32decode(text: str) -> str:
    """The text whose base 32 this is; missing padding is accepted."""
    return _decoded(
        text,
        "base 32",
        lambda data: base64.b32decode(data + b"=" * (-len(data) % 8), casefold=True),
    )


@GROUP.filter(example='hex_encode("hi")', result="6869")
def hex_encode(text: str) -> str:
    """Two lower-case hexadecimal digits for each of the text's UTF-8 bytes."""
    return text.encode().hex()


@GROUP.filter(example='hex_decode("6869")', result="hi")
def hex_decode(text: str) -> str:
    """The text whose UTF-8 bytes these hexadecimal digits are."""
    return _decoded(text, "hexadecimal", binascii.unhexlify)


@GROUP.filter(example='url_quote("a b/c")', result="a%20b%2Fc")
def url_quote(text: str) -> str:
    """Percent encoding of everything but letters, digits and -._~ (slashes are encoded too)."""
    return quote(text, safe="")


@GROUP.filter(example='url_unquote("a%20b%2Fc")', result="a b/c")
def url_unquote(text: str) -> str:
    """The text whose percent encoding this is."""
    return _text(unquote_to_bytes(text))


def _decoded(text: str, encoding: str, decode: Callable[[bytes], bytes]) -> str:
    try:
        data = decode(b"".join(text.encode("ascii").split()))
    except ValueError as error:
        hint = "only what was encoded can be decoded; test it first if it may be plain"
        raise HintedError(f"the text is no {encoding}", hint) from error
    return _text(data)


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ValueError("the decoded bytes are not UTF-8") from error


def _padded(data: bytes) -> bytes:
    return data.rstrip(b"=") + b"=" * (-len(data.rstrip(b"=")) % 4)
