"""Text as other text: YAML, JSON, base 64 and others, hashes. Bytes are UTF-8."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable
from typing import Final
from urllib.parse import quote, unquote_to_bytes

import orjson

from function_script import documents
from function_script.engines.library.function import Group
from function_script.request import objects
from function_script.request.values import Value
from function_script.texts.errors import FatalError, HintedError

ENCODING: Final = Group(
    name="encoding",
    summary="Text as other text. Bytes are those of UTF-8, before and after.",
)


FORMATS: Final = Group(
    name="formats",
    summary="JSON and YAML, both ways. YAML is read as Kubernetes reads it, and written to be read "
    "so.",
)
HASHING: Final = Group(
    name="hashing",
    summary="Digests, in lower-case hexadecimal digits.",
)


@ENCODING.filter(example='b64encode("hi")', result="aGk=")
def b64encode(text: str) -> str:
    """Base 64 of the text's UTF-8 bytes, padded."""
    return base64.b64encode(text.encode()).decode()


@ENCODING.filter(example='b64decode("aGk=")', result="hi")
def b64decode(text: str) -> str:
    """The text whose base 64 this is; line breaks and missing padding are accepted."""
    return _decoded(text, "base 64", lambda data: base64.b64decode(_padded(data), validate=True))


@ENCODING.filter(example='b64url_encode("a?>")', result="YT8-")
def b64url_encode(text: str) -> str:
    """Base 64 in the alphabet for URLs (- and _), without padding."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@ENCODING.filter(example='b64url_decode("YT8-")', result="a?>")
def b64url_decode(text: str) -> str:
    """The text whose base 64 in the alphabet for URLs this is, padded or not."""
    return _decoded(
        text, "base 64 for URLs", lambda data: base64.b64decode(_padded(data), b"-_", validate=True)
    )


@ENCODING.filter(example='b32encode("hi")', result="NBUQ====")
def b32encode(text: str) -> str:
    """Base 32 of the text's UTF-8 bytes, padded."""
    return base64.b32encode(text.encode()).decode()


@ENCODING.filter(example='b32decode("NBUQ")', result="hi")
def b32decode(text: str) -> str:
    """The text whose base 32 this is; missing padding is accepted."""
    return _decoded(
        text,
        "base 32",
        lambda data: base64.b32decode(data + b"=" * (-len(data) % 8), casefold=True),
    )


@ENCODING.filter(example='hex_encode("hi")', result="6869")
def hex_encode(text: str) -> str:
    """Two lower-case hexadecimal digits for each of the text's UTF-8 bytes."""
    return text.encode().hex()


@ENCODING.filter(example='hex_decode("6869")', result="hi")
def hex_decode(text: str) -> str:
    """The text whose UTF-8 bytes these hexadecimal digits are."""
    return _decoded(text, "hexadecimal", binascii.unhexlify)


@ENCODING.filter(example='url_quote("a b/c")', result="a%20b%2Fc")
def url_quote(text: str) -> str:
    """Percent encoding of everything but letters, digits and -._~ (slashes are encoded too)."""
    return quote(text, safe="")


@ENCODING.filter(example='url_unquote("a%20b%2Fc")', result="a b/c")
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


@FORMATS.filter(example='to_json({"b": 1, "a": [2]})', result='{"a":[2],"b":1}')
def to_json(value: Value) -> str:
    """Compact JSON with sorted keys, which is YAML, too."""
    return documents.to_flow_yaml(orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode())


@FORMATS.filter(example='to_pretty_json({"a": 1})', result='{\n  "a": 1\n}')
def to_pretty_json(value: Value) -> str:
    """JSON with sorted keys, indented by two blanks, which is YAML, too."""
    options = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2
    return documents.to_flow_yaml(orjson.dumps(value, option=options).decode())


@FORMATS.filter(example='from_json("{\\"a\\": 1.0}")', result={"a": 1})
def from_json(text: str) -> Value:
    """The value of a JSON text; whole numbers are integers."""
    try:
        return objects.with_integers(orjson.loads(text))
    except orjson.JSONDecodeError as error:
        raise ValueError(f"invalid JSON: {error}") from error


@FORMATS.filter(example='to_yaml({"b": ["x"], "a": "yes"})', result='a: "yes"\nb:\n- x')
def to_yaml(value: Value) -> str:
    """YAML with sorted keys, without a line break at the end: to be indented and filled in."""
    text = documents.to_yaml(value)
    # The last of several breaks belongs to the value: a block that keeps them all ends in it.
    return text if text.endswith("\n\n") else text.removesuffix("\n")


@FORMATS.filter(example='from_yaml("a: [yes, 0x10]")', result={"a": [True, 16]})
def from_yaml(text: str) -> Value:
    """The value of a text of one YAML document; null when it is empty."""
    try:
        return documents.read_value(text)
    except FatalError as error:
        raise ValueError(str(error)) from error


@FORMATS.filter(example='from_yaml_stream("a: 1\\n---\\nb: 2")', result=[{"a": 1}, {"b": 2}])
def from_yaml_stream(text: str) -> list[Value]:
    """The objects of a stream of YAML or JSON documents; empty documents are left out."""
    try:
        stream = documents.read_stream(text)
    except FatalError as error:
        raise ValueError(str(error)) from error
    return [objects.deep_copy(document.value) for document in stream]


@HASHING.filter(example='md5("hi")', result="49f68a5c8493ec2c0bf489821c21fc3b")
def md5(text: str) -> str:
    """MD5 of the text's UTF-8 bytes; only for checksums that others ask for."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@HASHING.filter(example='sha1("hi")', result="c22b5f9178342609428d6f51b2c5af4c0bde6a42")
def sha1(text: str) -> str:
    """SHA-1 of the text's UTF-8 bytes; only for checksums that others ask for."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


@HASHING.filter(
    example='sha256("hi")',
    result="8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4",
)
def sha256(text: str) -> str:
    """SHA-256 of the text's UTF-8 bytes."""
    return hashlib.sha256(text.encode()).hexdigest()


@HASHING.filter(
    example='sha512("hi")',
    result="150a14ed5bea6cc731cf86c41566ac427a8db48ef1b9fd626664b3bfbb99071f"
    "a4c922f33dde38719b8c8354e2b7ab9d77e0e67fc12843920a712e73d558e197",
)
def sha512(text: str) -> str:
    """SHA-512 of the text's UTF-8 bytes."""
    return hashlib.sha512(text.encode()).hexdigest()


@HASHING.function(
    example='hmac_sha256("key", "hi")',
    result="1c9dc82e5f8e5ed5a0180aad33b8204dea12fde2fb62ffb5e963035bf324a7a4",
)
def hmac_sha256(key: str, text: str) -> str:
    """HMAC with SHA-256 of the text under the key."""
    return hmac.digest(key.encode(), text.encode(), "sha256").hex()
