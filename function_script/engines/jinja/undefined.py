"""Undefined values: they chain and take a default; any other use is an error with a path.

A failed lookup only records its parent and its key.
"""

from collections.abc import Iterator
from typing import NoReturn, cast

from jinja2 import Undefined

from function_script.engines.jinja.exceptions import MissingError


class Lenient(Undefined):
    """False in conditions and equal to undefined values only; every other use is an error."""

    __slots__ = ()

    def _refuse(self, *_: object) -> NoReturn:
        raise MissingError(self)

    def __getattr__(self, name: str) -> object:
        raise AttributeError(name)

    def __iter__(self) -> Iterator[object]:
        raise MissingError(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Undefined)

    def __ne__(self, other: object) -> bool:
        return not isinstance(other, Undefined)

    def __str__(self) -> str:
        raise MissingError(self)

    def __len__(self) -> int:
        raise MissingError(self)

    def __hash__(self) -> int:
        raise MissingError(self)

    __call__ = __getitem__ = __contains__ = _refuse
    __int__ = __float__ = __index__ = _refuse


class Strict(Lenient):
    """Refuses even conditions and comparisons; `default` and `is defined` still take it."""

    __slots__ = ()

    def __bool__(self) -> bool:
        raise MissingError(self)

    def __eq__(self, other: object) -> bool:
        raise MissingError(self)

    def __ne__(self, other: object) -> bool:
        raise MissingError(self)

    def __hash__(self) -> int:
        raise MissingError(self)


class Absent(Lenient):
    """The value of an inline `if` without `else` that is false: it prints as nothing."""

    __slots__ = ()


def make_undefined(kind: type[Undefined], parent: object, key: object) -> Undefined:
    """Return the undefined value of ``parent.key`` or ``parent[key]``."""
    return kind(obj=parent, name=cast("str", key))
