"""A cache of contributions by the whole rendered text.

Between two reconciles mostly nothing changes, and a template renders the same text. Then it is not
even split into documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from function_script import objects
from function_script.cache import ByteLruCache
from function_script.limits import Limits
from function_script.values import Object

if TYPE_CHECKING:
    from function_script.contribution import model
    from function_script.contribution.dialects import Dialect

# Most of a contribution is shared with the cache of documents: see `documents.stream` for sizes.
_CACHE_BYTES = 8 << 20
_BYTES_PER_CHARACTER = 12


class Key(NamedTuple):
    """Everything that determines a contribution, unless ``reads_xr`` of it is true."""

    text: str
    dialect: str
    xr: tuple[str, str]
    limits: tuple[int, int, int]


_cache: ByteLruCache[Key, model.Contribution] = ByteLruCache(
    _CACHE_BYTES, admit_on_second_miss=True, is_counted=True
)


def key_of(text: str, xr: Object, dialect: Dialect, limits: Limits) -> Key:
    """Return the key of a rendered text that is read in a dialect within limits."""
    bounds = (limits.documents, limits.nodes, limits.depth)
    return Key(text, dialect.annotations.prefix, objects.api_version_and_kind(xr), bounds)


def get(key: Key) -> model.Contribution | None:
    """Return the cached contribution, which must not be changed, or None."""
    return _cache.get(key)


def put(key: Key, contribution: model.Contribution) -> None:
    """Cache a contribution if it depends on its key only."""
    # Spans and warnings hold positions of the run that rendered the text.
    if not (contribution.policy_spans or contribution.results or contribution.reads_xr):
        _cache.put(key, contribution, len(key.text) * _BYTES_PER_CHARACTER)
