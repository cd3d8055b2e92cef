"""Lazy mappings: parts of a request that are built when a program first reads them.

A module of its own, since mypyc compiles it, and makes dataclasses slower.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Final, TypeAlias

from function_script.request.values import Object, Readable, ReadableMapping, Value

PartTree: TypeAlias = Mapping[str, "PartTree | None"]
"""The keys of an object whose values are needed: in part, or with None as a whole.

The key ANY stands for all that are not in the tree.
"""
# No resource has this name. For a key of this name a script gets all others, too: no harm.
ANY: Final = "*"

Builders: TypeAlias = Mapping[str, Callable[[], Readable]]


class _LazyDict(dict[str, Readable]):
    """Values of a lazy mapping that were read; a missing key is built and stored."""

    def __init__(self, build: Callable[[str], Readable]) -> None:
        self._build: Final = build

    def __missing__(self, key: str) -> Readable:
        value = self._build(key)
        self[key] = value
        return value


class Lazy(ReadableMapping):
    """A read-only mapping whose values are built when first read, and then stored.

    ``builders`` has a function for each key's value. Iteration is in their order. ``memo`` has the
    values that were read, and ``memo[key]`` builds one that was not.
    """

    def __init__(self, builders: Builders, memo: dict[str, Readable] | None = None) -> None:
        self._keys: Collection[str] = builders
        self.memo: dict[str, Readable] = (
            _LazyDict(lambda key: builders[key]()) if memo is None else memo
        )
        self._decode: Callable[[str], Value] | None = None
        self._select: Callable[[PartTree], Object] | None = None

    @staticmethod
    def of(
        keys: Collection[str],
        build: Callable[[str], Readable],
        decode: Callable[[str], Value] | None = None,
        select: Callable[[PartTree], Object] | None = None,
    ) -> Lazy:
        """Return a mapping with one function for all values, which raises KeyError.

        ``decode`` returns the same value in dicts and lists, where ``build`` returns lazy ones.
        ``select`` returns parts of the mapping in the same way.
        """
        lazy = Lazy({}, _LazyDict(build))
        lazy._keys, lazy._decode, lazy._select = keys, decode, select
        return lazy

    def __getitem__(self, key: str) -> Readable:
        return self.memo[key]

    def get(self, key: str, default: Readable = None, /) -> Readable:  # type: ignore[override] # less general
        """Return the value of a key, or the default; Mapping's way is to catch an error."""
        return self.memo[key] if key in self._keys else default

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def plain(self, key: str) -> Value:
        """Return the value of a key in dicts and lists; stores nothing."""
        if self._decode is None or key in self.memo:
            return plain(self.memo[key])
        return self._decode(key)

    def select(self, tree: PartTree) -> Object | None:
        """Return the parts of a tree that exist, in dicts and lists; None if they are not encoded.

        Stores nothing.
        """
        return None if self._select is None else self._select(tree)

    def keys(self) -> KeysView[str]:
        """Return Mapping.keys."""
        return KeysView(self)

    def values(self) -> ValuesView[Readable]:
        """Return Mapping.values."""
        return ValuesView(self)

    def items(self) -> ItemsView[str, Readable]:
        """Return Mapping.items."""
        return ItemsView(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and dict(self.items()) == dict(other.items())

    __hash__ = None  # type: ignore[assignment] # as of every Mapping

    def __repr__(self) -> str:
        return f"Lazy({', '.join(self._keys)})"


Mapping.register(Lazy)


def plain(value: Readable) -> Value:
    """Build everything: return the same data as dicts and lists only."""
    if isinstance(value, Lazy):
        return {key: value.plain(key) for key in value}
    if isinstance(value, list) and value and isinstance(value[0], Lazy):
        return [plain(item) for item in value]
    return value  # type: ignore[return-value] # dicts have no Lazy in them, other lists neither
