"""sprig's derived passwords, AES and check of certificates: the functions of the option crypto.

The package ``cryptography`` is the extra ``crypto``; it is imported on a call, and by this module
only.
"""

import base64
import hashlib
import hmac
from typing import TYPE_CHECKING, Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import FunctionTable
from function_script.engines.gotemplate.run import RandomNumbers
from function_script.engines.gotemplate.sprig.encoding import decode_64
from function_script.engines.gotemplate.values import Struct, to_bytes, to_string

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import Cipher, modes

FUNCTIONS: Final = FunctionTable(option="crypto", package="cryptography", cost=100)

# The Master Password algorithm: the same password for the same arguments. It takes a fifth of a
# second and 32 MiB each time.

_SCOPE: Final = b"com.lyndir.masterpassword"
_MAX_COUNTER: Final = (1 << 32) - 1

_TEMPLATES: Final = {
    "maximum": "anoxxxxxxxxxxxxxxxxx axxxxxxxxxxxxxxxxxno",
    "long": (
        "CvcvnoCvcvCvcv CvcvCvcvnoCvcv CvcvCvcvCvcvno CvccnoCvcvCvcv CvccCvcvnoCvcv "
        "CvccCvcvCvcvno CvcvnoCvccCvcv CvcvCvccnoCvcv CvcvCvccCvcvno CvcvnoCvcvCvcc "
        "CvcvCvcvnoCvcc CvcvCvcvCvccno CvccnoCvccCvcv CvccCvccnoCvcv CvccCvccCvcvno "
        "CvcvnoCvccCvcc CvcvCvccnoCvcc CvcvCvccCvccno CvccnoCvcvCvcc CvccCvcvnoCvcc "
        "CvccCvcvCvccno"
    ),
    "medium": "CvcnoCvc CvcCvcno",
    "short": "Cvcn",
    "basic": "aaanaaan aannaaan aaannaaa",
    "pin": "nnnn",
}
_VOWELS: Final = "AEIOU"
_CONSONANTS: Final = "BCDFGHJKLMNPQRSTVWXYZ"
_DIGITS: Final = "0123456789"
_ANY_LETTER: Final = _VOWELS + _VOWELS.lower() + _CONSONANTS + _CONSONANTS.lower()
_CLASSES: Final = {
    "C": _CONSONANTS,
    "v": _VOWELS.lower(),
    "c": _CONSONANTS.lower(),
    "a": _ANY_LETTER,
    "n": _DIGITS,
    "o": "@&%?,=[]_:-+*$#!'^~;()/.",
    "x": f"{_ANY_LETTER}{_DIGITS}!@#$%^&*()",
}


@FUNCTIONS.add("derivePassword", package="", cost=20_000)
def derive_password(counter: int, kind: str, password: str, user: str, site: str) -> str:
    """A password, derived from a counter, a type, a master password, a user and a site."""
    if not 0 <= counter <= _MAX_COUNTER:
        raise CallError(f"wants a counter from 0 to {_MAX_COUNTER}, got {counter}")
    if kind not in _TEMPLATES:
        return f"cannot find password template {kind}"
    salt = _SCOPE + _length_prefixed(user)
    # The cost is the one that the algorithm publishes.
    key = hashlib.scrypt(
        to_bytes(password), salt=salt, n=32_768, r=8, p=2, dklen=64, maxmem=64 << 20
    )
    message = _SCOPE + _length_prefixed(site) + counter.to_bytes(4, "big")
    seed = hmac.new(key, message, hashlib.sha256).digest()
    templates = _TEMPLATES[kind].split()
    template = templates[seed[0] % len(templates)]
    classes = (_CLASSES[letter] for letter in template)
    return "".join(
        choices[byte % len(choices)] for choices, byte in zip(classes, seed[1:], strict=False)
    )


def _length_prefixed(text: str) -> bytes:
    """Return a text behind its length in bytes."""
    data = to_bytes(text)
    return len(data).to_bytes(4, "big") + data


# AES and certificates

# A text's key is the password itself, filled up with zeros or cut to so many bytes: anyone with the
# composition and the text can read it.
_KEY_BYTES: Final = 32
_BLOCK: Final = 16
_BYTE: Final = 256


class Certificate(Struct):
    """A certificate and its key, both as PEM."""

    __slots__ = ()
    go_type = "sprig.certificate"


def _cipher(password: str, start: bytes) -> "Cipher[modes.CBC]":
    """Return AES in CBC mode; ``start`` is the initial block."""
    from cryptography.hazmat.primitives.ciphers import (  # noqa: PLC0415 # optional
        Cipher,
        algorithms,
        modes,
    )

    key = to_bytes(password)[:_KEY_BYTES].ljust(_KEY_BYTES, b"\0")
    return Cipher(algorithms.AES(key), modes.CBC(start))


@FUNCTIONS.add("encryptAES")
def encrypt(next_random: RandomNumbers, password: str, text: str) -> str:
    """The text, encrypted with AES and a password.

    The initial block, random in Go, is the same for the same call and XR.
    """
    if not text:
        return ""
    start = bytes(next_random(_BYTE) for _ in range(_BLOCK))
    plain = to_bytes(text)
    padding = _BLOCK - len(plain) % _BLOCK
    encryptor = _cipher(password, start).encryptor()
    blocks = encryptor.update(plain + bytes([padding]) * padding) + encryptor.finalize()
    return base64.b64encode(start + blocks).decode()


@FUNCTIONS.add("decryptAES")
def decrypt(password: str, text: str) -> str:
    """The text of an AES text and its password."""
    if not text:
        return ""
    data = decode_64(text)
    start, blocks = data[:_BLOCK], data[_BLOCK:]
    if not blocks or len(blocks) % _BLOCK:
        raise CallError("it is not a text of encryptAES, which has whole blocks")
    decryptor = _cipher(password, start).decryptor()
    plain = decryptor.update(blocks) + decryptor.finalize()
    if plain[-1] > len(plain):
        raise CallError("it was encrypted with another password")
    return to_string(plain[: len(plain) - plain[-1]])


@FUNCTIONS.add("buildCustomCert")
def custom_certificate(certificate: str, key: str) -> Certificate:
    """A certificate of a certificate and a key in base64.

    Both are checked.
    """
    from cryptography import x509  # noqa: PLC0415 # optional
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 # optional
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 # optional

    pem = _decode(certificate, "certificate")
    key_pem = _decode(key, "private key")
    try:
        x509.load_pem_x509_certificate(pem)
    except ValueError as error:
        raise CallError(f"error parsing certificate: {error}") from error
    try:
        serialization.load_pem_private_key(key_pem, password=None)
    except (TypeError, UnsupportedAlgorithm, ValueError) as error:
        raise CallError(f"error parsing private key: {error}") from error
    return Certificate({"Cert": to_string(pem), "Key": to_string(key_pem)})


def _decode(text: str, what: str) -> bytes:
    try:
        return decode_64(text)
    except CallError as error:
        raise CallError(f"unable to decode base64 {what}") from error
