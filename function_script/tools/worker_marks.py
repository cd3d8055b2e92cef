"""The marks at a request that asks a worker of the author's tools for more than a response.

A mark is a field that no message has, so that another handler answers as if it were not there. They
are no part of `local_pool`, whose imports a zygote does not need.
"""

import os
from pathlib import Path
from typing import Final

POSITIONS: Final = b"\xf8\xff\xff\xff\x0f\x01"
TEXT: Final = b"\xf8\xff\xff\xff\x0f\x02"
BRANCHES: Final = b"\xf8\xff\xff\xff\x0f\x03"
WARNINGS: Final = b"\xf8\xff\xff\xff\x0f\x04"
_ROOT: Final = b"\xfa\xff\xff\xff\x0f"
# A length of two bytes, which is enough for any path.
_LENGTH_BYTES: Final = 2


def add_root(data: bytes, root: Path) -> bytes:
    """Return a request with the directory of its programs in files, in front of it."""
    path = os.fsencode(root)
    return b"%b%c%c%b%b" % (_ROOT, len(path) & 0x7F | 0x80, len(path) >> 7, path, data)


def take_root(data: bytes) -> tuple[Path | None, bytes]:
    """Return the directory of a request's programs in files, if it has one, and the request."""
    if not data.startswith(_ROOT):
        return None, data
    start = len(_ROOT) + _LENGTH_BYTES
    low, high = data[len(_ROOT) : start]
    end = start + (low & 0x7F | high << 7)
    return Path(os.fsdecode(data[start:end])), data[end:]
