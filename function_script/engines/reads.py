"""Fields of the request that a program certainly reads, taken from its syntax tree.

`check` compares their paths with schemas, so a read that is not certain is left out.
"""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from function_script.request.objects import Path
from function_script.texts.source import Source, Span

# In a path: an index, or a key that only a run knows.
ANY: Final = 0


class FieldAccess(NamedTuple):
    """A lookup of the last part of ``path``, which begins at the request.

    ``is_guarded``: the program goes on when that part does not exist.
    """

    path: Path
    source: Source
    span: Span
    is_guarded: bool = False


class FieldComparison(NamedTuple):
    """A test of the field at ``path`` for equality with a constant: the type is JSON Schema's.

    ``is_default``: no test, but the constant true in place of a value that is empty.
    """

    path: Path
    type: str
    source: Source
    span: Span
    is_default: bool = False


# The types of constants, in JSON Schema.
CONSTANT_TYPES: Final[dict[type, str]] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
}


def unchanged(reads: Iterable[FieldAccess], changed: Iterable[Path]) -> list[FieldAccess]:
    """Return the reads outside of paths that the program changes: those may be its own values."""
    prefixes = set(changed)
    return [
        read
        for read in dict.fromkeys(reads)
        if not any(read.path[: len(prefix)] == prefix for prefix in prefixes)
    ]


def guarded(reads: Iterable[FieldAccess], tested: Collection[Path]) -> list[FieldAccess]:
    """Return the reads, those marked as guarded whose path the program tests anywhere."""
    return [read._replace(is_guarded=read.is_guarded or read.path in tested) for read in reads]
