"""Finds all of many values in a text in one pass, in any case of ASCII letters.

The algorithm is Rabin and Karp's for a set of patterns: a table of the values' first bytes is asked
at every position, and only values that begin with these bytes are compared. So the cost is linear
in the bytes of text and values; comparisons beyond that are counted, and end the search.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from function_script.redaction.budget import Budget

MIN_LENGTH: Final = 4
"""Shorter values are words like any other."""
WORD_LENGTH: Final = 8
"""Shorter values are found as whole words only."""

# Connection details have such values, and programs and messages such words.
_NO_SECRETS: Final = frozenset({b"true", b"false", b"null", b"none", b"main"})
# Comparing or copying so many bytes in C costs as much as looking at one position in Python.
_BYTES_PER_STEP: Final = 64
_WORD_BYTES: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_")


class Match(NamedTuple):
    """A value, or the beginning of one that was cut, at text[start:end]."""

    start: int
    end: int


class _Group(NamedTuple):
    """The values with the same first bytes: as a set, their lengths from long to short, sorted."""

    values: frozenset[bytes]
    lengths: list[int]
    ordered: list[bytes]


class Finder:
    """Finds ``values`` in texts. Values below MIN_LENGTH are left out."""

    def __init__(self, values: Iterable[bytes]) -> None:
        folded = {text for value in values for text in fold(value)} - _NO_SECRETS
        self._long = [value for value in folded if len(value) >= WORD_LENGTH]
        self._words = {value for value in folded if MIN_LENGTH <= len(value) < WORD_LENGTH}
        self._long_heads = {value[:WORD_LENGTH] for value in self._long}
        self._word_heads = {value[:MIN_LENGTH] for value in self._words}
        self._groups: dict[bytes, _Group] = {}
        self.shortest: Final = MIN_LENGTH if self._words else WORD_LENGTH
        """A text of fewer bytes holds no value."""

    def __bool__(self) -> bool:
        return bool(self._long or self._words)

    def find(
        self, text: bytes, ends: Sequence[int], cuts: Sequence[int], budget: Budget
    ) -> list[Match]:
        """The longest match at each position, by position; they may overlap.

        ``ends``, sorted, divide the text: no match crosses one. At one of ``cuts``, sorted, a text
        was cut off: a value's beginning of WORD_LENGTH bytes or more matches there. Raises
        TooMuchWorkError.
        """
        budget.spend(len(text))
        folded = text.lower()
        matches = self._find_words(folded, ends) if self._words else []
        if self._long:
            matches += self._find_long(folded, ends, cuts, budget)
        return sorted(matches)

    def _find_words(self, text: bytes, ends: Sequence[int]) -> list[Match]:
        heads = self._word_heads
        size = MIN_LENGTH
        starts = [at for at in range(len(text) - size + 1) if text[at : at + size] in heads]
        matches = []
        for start in starts:
            if start and text[start - 1] in _WORD_BYTES:
                continue
            limit = min(_end_of(start, ends), start + WORD_LENGTH - 1)
            for end in range(limit, start + MIN_LENGTH - 1, -1):
                is_word = end == len(text) or text[end] not in _WORD_BYTES
                if is_word and text[start:end] in self._words:
                    matches.append(Match(start, end))
                    break
        return matches

    def _find_long(
        self, text: bytes, ends: Sequence[int], cuts: Sequence[int], budget: Budget
    ) -> list[Match]:
        heads = self._long_heads
        size = WORD_LENGTH
        starts = [at for at in range(len(text) - size + 1) if text[at : at + size] in heads]
        groups = self._groups_of({text[start : start + size] for start in starts}, budget)
        matches = []
        for start in starts:
            group = groups[text[start : start + size]]
            limit = _end_of(start, ends)
            end = _find_end(text, start, limit, group, budget)
            if cuts:
                end = max(end, _find_cut(text, start, (limit, cuts), group, budget))
            if end:
                matches.append(Match(start, end))
        return matches

    def _groups_of(self, heads: set[bytes], budget: Budget) -> dict[bytes, _Group]:
        lacking = heads - self._groups.keys()
        if lacking:
            budget.spend(len(self._long))
            values: dict[bytes, list[bytes]] = {head: [] for head in lacking}
            for value in self._long:
                if value[:WORD_LENGTH] in values:
                    values[value[:WORD_LENGTH]].append(value)
            for head, group in values.items():
                lengths = sorted({len(value) for value in group}, reverse=True)
                self._groups[head] = _Group(frozenset(group), lengths, sorted(group))
        return self._groups


def fold(value: bytes) -> Iterable[bytes]:
    """The texts to look for in one whose ASCII letters are in lower case.

    Other letters are known as they are, all in upper case, and all in lower case.
    """
    if value.isascii():
        return (value.lower(),)
    try:
        text = value.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return (value.lower(),)
    cases = {text, text.upper(), text.lower()}
    return {each.encode("utf-8", "surrogatepass").lower() for each in cases}


def _end_of(start: int, ends: Sequence[int]) -> int:
    return ends[bisect_left(ends, start + 1)]


def _find_end(text: bytes, start: int, limit: int, group: _Group, budget: Budget) -> int:
    """Return the end of the longest value that begins at ``start``; 0 when there is none."""
    for length in group.lengths:
        if start + length <= limit:
            budget.spend(1 + length // _BYTES_PER_STEP)
            if text[start : start + length] in group.values:
                return start + length
    return 0


def _find_cut(
    text: bytes, start: int, limits: tuple[int, Sequence[int]], group: _Group, budget: Budget
) -> int:
    """The last cut up to which the text at ``start`` is a value's beginning; 0: there is none."""
    limit, cuts = limits
    last = 0
    for index in range(bisect_left(cuts, start + WORD_LENGTH), len(cuts)):
        cut = cuts[index]
        if cut > limit or cut - start > group.lengths[0]:
            break
        beginning = text[start:cut]
        budget.spend(1 + len(beginning) // _BYTES_PER_STEP)
        place = bisect_left(group.ordered, beginning)
        if place == len(group.ordered) or not group.ordered[place].startswith(beginning):
            break
        last = cut
    return last
