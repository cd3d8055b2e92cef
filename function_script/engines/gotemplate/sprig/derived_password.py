"""sprig's ``derivePassword``: the Master Password algorithm, the same for the same arguments.

It takes a fifth of a second and 32 MiB each time, hence an option.
"""

import hashlib
import hmac
from typing import Final

from function_script.engines.gotemplate.function import FunctionTable
from function_script.engines.gotemplate.values import to_bytes

FUNCTIONS: Final = FunctionTable()

_SCOPE: Final = b"com.lyndir.masterpassword"

# scrypt's cost: the published parameters of the algorithm.
_COST: Final = 32_768
_BLOCK_SIZE: Final = 8
_PARALLEL: Final = 2
_KEY_BYTES: Final = 64
_MEMORY: Final = 64 << 20

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


@FUNCTIONS.add(
    "derivePassword",
    parameters="uint32 string string string string",
    returns="string",
    option="crypto",
    cost=20000,
)
def derive_password(counter: int, kind: str, password: str, user: str, site: str) -> str:
    """A password, derived from a counter, a type, a master password, a user and a site."""
    if kind not in _TEMPLATES:
        return f"cannot find password template {kind}"
    key = hashlib.scrypt(
        to_bytes(password),
        salt=_SCOPE + _length_prefixed(user),
        n=_COST,
        r=_BLOCK_SIZE,
        p=_PARALLEL,
        dklen=_KEY_BYTES,
        maxmem=_MEMORY,
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
