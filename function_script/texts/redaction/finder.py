"""A search for many values in a text in one pass, in any case of ASCII letters.

The algorithm is Rabin and Karp's for a set of patterns: at every position the first bytes are
looked up in a table, and only values that begin with them are compared. The cost is linear in the
bytes of text and values. Comparisons beyond that count against a budget, which ends the search.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

MIN_LENGTH: Final = 4
"""The length below which a value is an ordinary word, and not searched for."""
WORD_LENGTH: Final = 8
"""The length below which a value matches whole words only."""

# Values of connection details that are also ordinary words of programs and messages.
_NO_SECRETS: Final = frozenset({b"true", b"false", b"null", b"none", b"main"})
# The bytes that C compares or copies in the time that Python needs for one position.
_BYTES_PER_STEP: Final = 64
_WORD_BYTES: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_")


class TooMuchWorkError(Exception):
    """The error of a search that exceeds its budget."""


class Budget:
    """The work that a search may cost, in bytes; equal requests cost the same."""

    def __init__(self, size: int) -> None:
        self._left = size

    def spend(self, size: int) -> None:
        """Take ``size`` bytes. Raises TooMuchWorkError if fewer are left."""
        self._left -= size
        if self._left < 0:
            raise TooMuchWorkError


class _Group(NamedTuple):
    """The values with the same first bytes; ``lengths`` are descending, ``ordered`` is sorted."""

    values: frozenset[bytes]
    lengths: list[int]
    ordered: list[bytes]


class Finder:
    """Finds ``values`` in texts. Values shorter than MIN_LENGTH are ignored."""

    def __init__(self, values: Iterable[bytes]) -> None:
        folded = {text for value in values for text in fold(value)} - _NO_SECRETS
        self._long = [value for value in folded if len(value) >= WORD_LENGTH]
        self._words = {value for value in folded if MIN_LENGTH <= len(value) < WORD_LENGTH}
        self._long_heads = {value[:WORD_LENGTH] for value in self._long}
        self._word_heads = {value[:MIN_LENGTH] for value in self._words}
        self._groups: dict[bytes, _Group] = {}
        self.shortest: Final = MIN_LENGTH if self._words else WORD_LENGTH
        """The length of the shortest text that can contain a value."""

    def __bool__(self) -> bool:
        return bool(self._long or self._words)

    def find(
        self, text: bytes, ends: Sequence[int], cuts: Sequence[int], budget: Budget
    ) -> list[tuple[int, int]]:
        """Return start and end of the longest match at each position; matches may overlap.

        ``ends``, sorted, divide the text: no match crosses one. At ``cuts``, sorted, a text was
        truncated: the first WORD_LENGTH bytes or more of a value match there. Raises
        TooMuchWorkError.
        """
        budget.spend(len(text))
        folded = text.lower()
        matches = self._find_words(folded, ends) if self._words else []
        if self._long:
            matches += self._find_long(folded, ends, cuts, budget)
        return sorted(matches)

    def _find_words(self, text: bytes, ends: Sequence[int]) -> list[tuple[int, int]]:
        heads = self._word_heads
        size = MIN_LENGTH
        starts = [
            index for index in range(len(text) - size + 1) if text[index : index + size] in heads
        ]
        matches = []
        for start in starts:
            if start and text[start - 1] in _WORD_BYTES:
                continue
            limit = min(_end_of(start, ends), start + WORD_LENGTH - 1)
            # The longest first: a shorter word may be its beginning.
            for end in range(limit, start + MIN_LENGTH - 1, -1):
                is_word = end == len(text) or text[end] not in _WORD_BYTES
                if is_word and text[start:end] in self._words:
                    matches.append((start, end))
                    break
        return matches

    def _find_long(
        self, text: bytes, ends: Sequence[int], cuts: Sequence[int], budget: Budget
    ) -> list[tuple[int, int]]:
        heads = self._long_heads
        size = WORD_LENGTH
        starts = [
            index for index in range(len(text) - size + 1) if text[index : index + size] in heads
        ]
        # Values are grouped only by beginnings that occur, which are few.
        groups = self._groups_of({text[start : start + size] for start in starts}, budget)
        matches = []
        for start in starts:
            group = groups[text[start : start + size]]
            limit = _end_of(start, ends)
            end = 0
            for length in group.lengths:
                if start + length <= limit:
                    budget.spend(1 + length // _BYTES_PER_STEP)
                    if text[start : start + length] in group.values:
                        end = start + length
                        break
            if cuts:
                end = max(end, _find_cut(text, start, (limit, cuts), group, budget))
            if end:
                matches.append((start, end))
        return matches

    def _groups_of(self, heads: set[bytes], budget: Budget) -> dict[bytes, _Group]:
        new_heads = heads - self._groups.keys()
        if new_heads:
            budget.spend(len(self._long))
            values: dict[bytes, list[bytes]] = {head: [] for head in new_heads}
            for value in self._long:
                if value[:WORD_LENGTH] in values:
                    values[value[:WORD_LENGTH]].append(value)
            for head, group in values.items():
                lengths = sorted({len(value) for value in group}, reverse=True)
                self._groups[head] = _Group(frozenset(group), lengths, sorted(group))
        return self._groups


def fold(value: bytes) -> Iterable[bytes]:
    """Return the texts of a value to search for in a text whose ASCII letters are in lower case.

    Other letters match as they are, all in upper case, or all in lower case.
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


def _find_cut(
    text: bytes, start: int, limits: tuple[int, Sequence[int]], group: _Group, budget: Budget
) -> int:
    """Return the last cut up to which the text at ``start`` is the beginning of a value, or 0."""
    limit, cuts = limits
    last = 0
    for number in range(bisect_left(cuts, start + WORD_LENGTH), len(cuts)):
        cut = cuts[number]
        if cut > limit or cut - start > group.lengths[0]:
            break
        beginning = text[start:cut]
        budget.spend(1 + len(beginning) // _BYTES_PER_STEP)
        index = bisect_left(group.ordered, beginning)
        if index == len(group.ordered) or not group.ordered[index].startswith(beginning):
            break
        last = cut
    return last
