"""A map whose values are built on first read: a template's view of a large request.

It is a dict, so functions need not know of it. Reading more than one key builds all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from function_script.engines.gotemplate.values import Missing

if TYPE_CHECKING:
    from _collections_abc import dict_items, dict_keys, dict_values

Builder: TypeAlias = Callable[[], object]
# The result of a builder for a key that turns out to be absent.
ABSENT: Final = Missing()
_PENDING: Final = Missing()


class LazyDict(dict[str, object]):
    """A dict of values that ``builders`` make, in the order of the keys."""

    __slots__ = ("_builders",)

    def __init__(self, builders: Mapping[str, Builder]) -> None:
        super().__init__(dict.fromkeys(builders, _PENDING))
        self._builders = builders

    def _build(self, key: str) -> None:
        value = self._builders[key]()
        if value is ABSENT:
            super().__delitem__(key)
        else:
            super().__setitem__(key, value)

    def _build_all(self) -> None:
        pending = [key for key, value in super().items() if value is _PENDING]
        for key in pending:
            self._build(key)

    def __getitem__(self, key: str) -> object:
        value = super().__getitem__(key)
        if value is not _PENDING:
            return value
        self._build(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str) and super().get(key) is _PENDING:
            self._build(key)
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        self._build_all()
        return super().__iter__()

    def __len__(self) -> int:
        self._build_all()
        return super().__len__()

    def __eq__(self, other: object) -> bool:
        self._build_all()
        return super().__eq__(other)

    __hash__ = None

    def get(self, key: str, default: object = None, /) -> object:
        """Return dict.get."""
        if key not in self:
            return default
        return self[key]

    def setdefault(self, key: str, default: object = None, /) -> object:
        """Return dict.setdefault."""
        if key not in self:
            self[key] = default
        return self[key]

    def copy(self) -> dict[str, object]:
        """Return a plain dict with everything built."""
        return dict(self.items())

    def keys(self) -> dict_keys[str, object]:
        """Return dict.keys."""
        self._build_all()
        return super().keys()

    def values(self) -> dict_values[str, object]:
        """Return dict.values."""
        self._build_all()
        return super().values()

    def items(self) -> dict_items[str, object]:
        """Return dict.items."""
        self._build_all()
        return super().items()
