"""Suggestions for misspelt names: the one name that a few edits of a key make.

An edit is one of a character that is missing, added, or replaced, or two that are swapped.
"""

import re
from collections.abc import Iterable
from typing import Final

_MAX_LENGTH: Final = 64
_MAX_NAMES: Final = 1000
# Names of up to so many characters are similar by chance: all, those with another character in
# one place, and those with two edits.
_TINY: Final = 2
_SMALL: Final = 3
_SHORT: Final = 5
# Words begin at separators, at capital letters and at digits.
_WORD: Final = re.compile(r"\d+|[A-Z]*[^\W\d_A-Z]+|[A-Z]+")
# A letter behind another one that is there twice, which a finger does by itself. ``a`` and ``aa``
# are two names.
_REPEATED: Final = re.compile(r"(?<=\w)(?P<letter>\w)(?=(?P=letter))")
_SEPARATORS: Final = str.maketrans("", "", "_-")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the one of ``names`` that ``name`` is a misspelling of; None if it is not certain.

    Letter case, dashes and underscores do not count. A short name may have one edit, a longer one
    two. Of two names at the same distance, neither is certain, and none of more than a thousand.
    """
    key, candidates = _fold(name), dict.fromkeys(names)
    if len(key) > _MAX_LENGTH or len(candidates) > _MAX_NAMES:
        return None
    closest = _allowance(key)
    matches: list[str] = []
    for candidate in candidates:
        folded = _fold(candidate)
        most = min(closest, _allowance(folded))
        distance = _distance(key, folded, most)
        if distance > most or not _is_misspelling(name, candidate):
            continue
        if distance < closest:
            closest, matches = distance, []
        matches.append(candidate)
    if len(matches) > 1:
        matches = _in_spelling_of(name, matches)
    return matches[0] if len(matches) == 1 else None


def find_slip(name: str, names: Iterable[str]) -> str | None:
    """Return the nearest name if a slip of a finger alone makes the difference.

    Two letters are swapped, or one inside of the name is missing or added: at an end it may make
    another name, such as a plural.
    """
    near = nearest(name, names)
    short, long = sorted((name.lower(), (near or "").lower()), key=len)
    parts = {long[:at] + long[at + 1 :] for at in range(1, len(long) - 1)}
    return near if short in parts or sorted(short) == sorted(long) else None


def _in_spelling_of(name: str, matches: list[str]) -> list[str]:
    """Return those of one word that are spelt most as ``name`` is: ``to_yaml``, not ``toYaml``."""
    if same_letters := [each for each in matches if each.lower() == name.lower()]:
        return same_letters
    if len(set(map(_fold, matches))) > 1:
        return matches
    differences = [_compare_styles(name, each) for each in matches]
    return [
        each
        for each, difference in zip(matches, differences, strict=True)
        if difference == min(differences)
    ]


def _compare_styles(name: str, other: str) -> int:
    """Return the difference of two names in their numbers of capital letters and separators."""
    pairs = [
        (sum(map(str.isupper, each)), len(each) - len(each.translate(_SEPARATORS)))
        for each in (name, other)
    ]
    return sum(abs(first - second) for first, second in zip(*pairs, strict=True))


def _is_misspelling(name: str, candidate: str) -> bool:
    """Report whether the words of two names can be the same.

    Names such as ``zone-a`` and ``zone-b``, or ``subnet1`` and ``subnet2``, are of two things.
    """
    words, others = _words(name), _words(candidate)
    if [word for word in words if word.isdigit()] != [word for word in others if word.isdigit()]:
        return False
    if len(words) != len(others):
        return True
    return all(
        _distance(word, other, most) <= most or _REPEATED.sub("", word) == _REPEATED.sub("", other)
        for word, other in zip(words, others, strict=True)
        for most in (min(_allowance(word), _allowance(other)),)
    )


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _fold(name: str) -> str:
    return name.lower().translate(_SEPARATORS) or name


def _allowance(key: str) -> int:
    """Return how many edits may lie between a name and its misspelling."""
    if len(key) <= _TINY:
        return 0
    return 1 if len(key) <= _SHORT else 2


def _distance(first: str, second: str, most: int) -> int:
    """Return the number of edits between two names, or a number above ``most``.

    This is the optimal string alignment distance. In the smallest names another character counts
    as two edits. The time is exponential in ``most``, which is two at most, and linear in the
    length.
    """
    replacement = 2 if min(len(first), len(second)) <= _SMALL else 1
    return _count_edits(first, second, most, replacement)


def _count_edits(first: str, second: str, most: int, replacement: int) -> int:
    """Return the number of edits between two texts, or a number above ``most``."""
    if most == 0:
        return int(first != second)
    if abs(len(first) - len(second)) > most:
        return most + 1
    # The same beginning takes no edit.
    pairs = enumerate(zip(first, second, strict=False))
    at = next((i for i, (letter, other) in pairs if letter != other), min(len(first), len(second)))
    first, second = first[at:], second[at:]
    if not first or not second:
        return len(first) + len(second)
    least = most + 1
    # Each edit of the first letters leaves two rests. A better number than before is asked for.
    edits = [(first[1:], second, 1), (first, second[1:], 1), (first[1:], second[1:], replacement)]
    if first[:2] == second[1::-1]:
        edits.append((first[2:], second[2:], 1))
    for rest, other, cost in edits:
        if cost < least:
            least = min(least, cost + _count_edits(rest, other, least - 1 - cost, replacement))
    return least
