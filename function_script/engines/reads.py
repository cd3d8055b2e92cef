"""What a program certainly reads of the request, found in its syntax tree without running it.

Made by each language for the tool that compares these paths with schemas. Unsure means silent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from function_script.objects import Path
    from function_script.source import Source, Span

# Stands in a path for an index, or for a key that only a run knows.
ANY: Final = 0


class FieldAccess(NamedTuple):
    """A lookup of the last part of ``path``, from the request on, and where it is written.

    ``is_guarded``: the program goes on where that part does not exist.
    """

    path: Path
    source: Source
    span: Span
    is_guarded: bool = False


def unchanged(reads: Iterable[FieldAccess], changed: Iterable[Path]) -> list[FieldAccess]:
    """Without those below what the program changes itself: it may have what it reads from there."""
    prefixes = set(changed)
    return [
        read
        for read in dict.fromkeys(reads)
        if not any(read.path[: len(prefix)] == prefix for prefix in prefixes)
    ]


def guarded(reads: Iterable[FieldAccess], asked: Collection[Path]) -> list[FieldAccess]:
    """With those marked whose path the program asks for anywhere, as in a condition."""
    return [read._replace(is_guarded=read.is_guarded or read.path in asked) for read in reads]
