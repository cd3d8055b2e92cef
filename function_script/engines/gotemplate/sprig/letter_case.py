"""sprig's functions on upper and lower case, and on words in names: ``upper``, ``snakecase``.

Go maps upper and lower case character by character and never changes their number: ``ß`` has no
upper case.
"""

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from function_script.engines.gotemplate import values
from function_script.engines.gotemplate.function import FunctionTable
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.sprig.strings import SPACES

FUNCTIONS: Final = FunctionTable()


def _to_upper(character: str) -> str:
    """Return unicode.ToUpper."""
    mapped = character.upper()
    # If the full mapping gives several characters, the simple one is that of titles.
    return mapped if len(mapped) == 1 else _to_title(character)


def _to_lower(character: str) -> str:
    """Return unicode.ToLower."""
    # The full mapping of "İ" has two characters, the first of which is the simple one.
    return character.lower()[0]


def _to_title(character: str) -> str:
    """Return unicode.ToTitle."""
    mapped = character.title()
    return mapped if len(mapped) == 1 else character


def _is_space(character: str) -> bool:
    """Report unicode.IsSpace."""
    return character in SPACES


@FUNCTIONS.add("upper")
def upper(text: str) -> str:
    """The text in upper case."""
    return text.upper() if text.isascii() else "".join(map(_to_upper, values.whole(text)))


@FUNCTIONS.add("lower")
def lower(text: str) -> str:
    """The text in lower case."""
    return text.lower() if text.isascii() else "".join(map(_to_lower, values.whole(text)))


@FUNCTIONS.add("title")
def title(text: str) -> str:
    """The text with each word's first letter in upper case."""
    return _first_letters(text, _to_title, _is_separator)


@FUNCTIONS.add("untitle")
def untitle(text: str) -> str:
    """The text with each word's first letter in lower case."""
    return _first_letters(text, _to_lower, _is_space)


def _first_letters(
    text: str, change: Callable[[str], str], separates: Callable[[str], bool]
) -> str:
    """Return the text with the first character of each word changed."""
    result: list[str] = []
    starts = True
    for character in values.whole(text):
        separator = separates(character)
        result.append(change(character) if starts and not separator else character)
        starts = separator
    return "".join(result)


def _is_separator(character: str) -> bool:
    """Report whether a word may end here: at ASCII other than digits, letters and underscores."""
    if character.isascii():
        return not (character.isalnum() or character == "_")
    return unicodedata.category(character)[0] != "L" and _is_space(character)


@FUNCTIONS.add("swapcase")
def swap_case(text: str) -> str:
    """The text with upper and lower case exchanged.

    A lower-case letter at the start of a word gets title case.
    """
    swapped: list[str] = []
    starts = True
    for character in values.whole(text):
        category = unicodedata.category(character)
        if category in {"Lu", "Lt"}:
            swapped.append(_to_lower(character))
        elif category == "Ll":
            swapped.append((_to_title if starts else _to_upper)(character))
        else:
            swapped.append(character)
            starts = _is_space(character)
            continue
        starts = False
    return "".join(swapped)


# Words in names: ``HTTPServer`` as ``http_server``, by the rules of Go's package xstrings

# The kind of a character: Connector, Dash (a connector, but behind Punctuation part of it), Upper
# case, other Alphabet, Number, Other. Of capitals before a small letter the last begins the next
# word.
_WORDS: Final = re.compile("[CD]+|P[PD]*|U+(?=UA)|UA+|U+|A+|N+|O+")
# Chinese characters do not belong to the alphabet.
_IDEOGRAPHS: Final = re.compile("[\u3400-\u4d85\u4e00-\u9fcc\U00020000-\U0002b81d]")


# The places between words that get a connector, by the kinds of the words: in front of capitals and
# others, between words of letters, and in front of a number that small letters follow. Small
# letters that follow a number belong to it.
_BREAK: Final = re.compile("(?<=[UAON])(?=[UO])|(?<=[UO])(?=N?A)|(?<=A)(?<!NA)(?=NA)")


def _to_words(text: str, connector: str) -> str:
    """Join the lower-case words with a connector, which also replaces blanks, ``-`` and ``_``."""
    matches = list(_WORDS.finditer("".join(map(_kind, text))))
    # The kind of a word is that of its first character.
    kinds = "".join(match[0][0].replace("D", "C") for match in matches)
    breaks = {match.start() for match in _BREAK.finditer(kinds)}
    parts: list[str] = []
    for index, (kind, match) in enumerate(zip(kinds, matches, strict=True)):
        word = text[match.start() : match.end()]
        if index in breaks:
            parts.append(connector)
        if kind == "C":
            word = connector * len(word)
        parts.append("".join(map(_to_lower, word)) if kind == "U" else word)
    return "".join(parts)


def _kind(character: str) -> str:
    if character in "-_" or _is_space(character):
        return "D" if character in "-_" else "C"
    category = unicodedata.category(character)
    if category == "Lu":
        return "U"
    if category[0] == "L":
        return "O" if _IDEOGRAPHS.match(character) else "A"
    return category[0] if category[0] in "PN" else "O"


# Connectors, and a word by the kinds of its characters: the capitals behind the first become small.
_NAME: Final = re.compile("([CD]*)(?:U(U*)|[^CDU])[^CD]*")


def _to_pascal(text: str) -> str:
    """Join the words with capitals and nothing between them; leading connectors stay."""
    # Without connectors at the end, each of them is in a match: the time grows with the text.
    words = text.rstrip("-_" + SPACES)
    parts: list[str] = []
    for match in _NAME.finditer("".join(map(_kind, words))):
        first = match.end(1)
        capitals = max(match.end(2), first + 1)
        # Of the connectors between two words, all but the last stay.
        parts.append(text[match.start() : first - bool(match.start())])
        parts += (_to_upper(text[first]), *map(_to_lower, text[first + 1 : capitals]))
        parts.append(text[capitals : match.end()])
    # Go writes the last of connectors without a word twice.
    return "".join(parts) + text[len(words) :] + ("" if words else text[-1:])


# Words are split character by character.
_STEPS_PER_CHARACTER: Final = 10


@FUNCTIONS.add("snakecase")
def snake_case(run: Run, text: str) -> str:
    """The text in snake_case."""
    run.spend(len(text) * _STEPS_PER_CHARACTER)
    return _to_words(values.whole(text), "_")


@FUNCTIONS.add("kebabcase")
def kebab_case(run: Run, text: str) -> str:
    """The text in kebab-case."""
    run.spend(len(text) * _STEPS_PER_CHARACTER)
    return _to_words(values.whole(text), "-")


@FUNCTIONS.add("camelcase")
def camel_case(run: Run, text: str) -> str:
    """The text in CamelCase."""
    run.spend(len(text) * _STEPS_PER_CHARACTER)
    return _to_pascal(values.whole(text))
