"""What a whole rendered text added the last time, so that it is not even split.

Called by ``read``. Between two reconciles mostly nothing happens, and then a template writes what
it wrote before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from function_script import objects
from function_script.cache import ByteLruCache

if TYPE_CHECKING:
    from function_script.contribution import model
    from function_script.contribution.dialects import Dialect
    from function_script.limits import Limits
    from function_script.values import Object

# Most of it is shared with the memos of single documents: see `documents.stream` for its size.
_CACHE_BYTES = 8 << 20
_BYTES_PER_CHARACTER = 12


class Key(NamedTuple):
    """All that a contribution follows from, if no document is held against the XR itself."""

    text: str
    dialect: str
    xr: tuple[str, str]
    limits: tuple[int, int, int]


_cache: ByteLruCache[Key, model.Contribution] = ByteLruCache(
    _CACHE_BYTES, admit_on_second_miss=True, is_counted=True
)


def key_of(text: str, xr: Object, dialect: Dialect, limits: Limits) -> Key:
    """The key for a rendered text, read in a dialect within limits."""
    bounds = (limits.documents, limits.nodes, limits.depth)
    return Key(text, dialect.annotations.prefix, objects.api_version_and_kind(xr), bounds)


def find(key: Key) -> model.Contribution | None:
    """What was read from this text; nobody may change it."""
    return _cache.get(key)


def keep(key: Key, wanted: model.Contribution) -> None:
    """Keep what was read, unless it depends on more than its key."""
    # Places point into the run that wrote the text, and warnings name some.
    if not (wanted.places or wanted.results or wanted.reads_xr):
        _cache.put(key, wanted, len(key.text) * _BYTES_PER_CHARACTER)
