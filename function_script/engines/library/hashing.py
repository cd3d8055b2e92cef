"""Digests, as lower-case hexadecimal. MD5 and SHA-1 serve names and checksums, not secrets."""

import hashlib
import hmac
from typing import Final

from function_script.engines.library.function import Group

GROUP: Final = Group(
    name="hashing",
    summary="Digests, in lower-case hexadecimal digits.",
)


@GROUP.filter(example='md5("hi")', result="49f68a5c8493ec2c0bf489821c21fc3b")
def md5(text: str) -> str:
    """MD5 of the text's UTF-8 bytes; only for checksums that others ask for."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@GROUP.filter(example='sha1("hi")', result="c22b5f9178342609428d6f51b2c5af4c0bde6a42")
def sha1(text: str) -> str:
    """SHA-1 of the text's UTF-8 bytes; only for checksums that others ask for."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


@GROUP.filter(
    example='sha256("hi")',
    result="8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4",
)
def sha256(text: str) -> str:
    """SHA-256 of the text's UTF-8 bytes."""
    return hashlib.sha256(text.encode()).hexdigest()


@GROUP.filter(
    example='sha512("hi")',
    result="150a14ed5bea6cc731cf86c41566ac427a8db48ef1b9fd626664b3bfbb99071f"
    "a4c922f33dde38719b8c8354e2b7ab9d77e0e67fc12843920a712e73d558e197",
)
def sha512(text: str) -> str:
    """SHA-512 of the text's UTF-8 bytes."""
    return hashlib.sha512(text.encode()).hexdigest()


@GROUP.function(
    example='hmac_sha256("key", "hi")',
    result="1c9dc82e5f8e5ed5a0180aad33b8204dea12fde2fb62ffb5e963035bf324a7a4",
)
def hmac_sha256(key: str, text: str) -> str:
    """HMAC with SHA-256 of the text under the key."""
    return hmac.digest(key.encode(), text.encode(), "sha256").hex()
