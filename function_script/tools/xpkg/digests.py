"""Digests of content: syntax and verification.

A digest becomes a file name in a layout and a path of a registry's API, so no other syntax is
accepted.
"""

import hashlib
import re
from typing import Final

from function_script.tools import manifests
from function_script.values import Object

# The algorithms that the OCI image specification registers, by the length of their hash in hex.
_HASH_LENGTHS: Final = {"sha256": 64, "sha512": 128}
_DIGEST: Final = re.compile(r"(?P<algorithm>sha256|sha512):(?P<hash>[0-9a-f]+)")
_MAX_CHARACTERS: Final = 100


def read(descriptor: Object) -> str:
    """Return the digest of a descriptor. Raises ValueError for an invalid one."""
    text = manifests.text_at(descriptor, "digest")
    check(text)
    return text


def check(text: str) -> None:
    """Raise ValueError unless a text is a digest of a registered algorithm."""
    match = _DIGEST.fullmatch(text)
    if match is None or len(match["hash"]) != _HASH_LENGTHS[match["algorithm"]]:
        raise ValueError(
            f"{text[:_MAX_CHARACTERS]!r} is not a digest such as sha256:<64 hex digits>"
        )


def read_size(descriptor: Object) -> int | None:
    """Return the size in bytes that a descriptor states, or None."""
    size = descriptor.get("size")
    return size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None


def verify(data: bytes, digest: str) -> None:
    """Raise ValueError unless ``data`` has ``digest``, which must be valid."""
    algorithm, _, expected = digest.partition(":")
    actual = hashlib.new(algorithm, data).hexdigest()
    if actual != expected:
        raise ValueError(f"the content named {digest} has the digest {algorithm}:{actual}")


def verify_descriptor(data: bytes, descriptor: Object) -> None:
    """Raise ValueError unless ``data`` has the size and the digest that a descriptor states."""
    digest, size = read(descriptor), read_size(descriptor)
    if size is not None and len(data) != size:
        raise ValueError(f"the content named {digest} has {len(data)} bytes instead of {size}")
    verify(data, digest)
