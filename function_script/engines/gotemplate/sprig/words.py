"""Upper and lower case, and the words of a name, as Go sees them.

Go maps upper and lower case character by character and never changes their number: ``ß`` has no
upper case.
"""

import re
import unicodedata
from typing import Final, NamedTuple

# The spaces of unicode.IsSpace; Python has more.
SPACES: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)


def to_upper(character: str) -> str:
    """Return unicode.ToUpper."""
    mapped = character.upper()
    # If the full mapping gives several characters, the simple one is that of titles.
    return mapped if len(mapped) == 1 else to_title(character)


def to_lower(character: str) -> str:
    """Return unicode.ToLower."""
    return character.lower()[0]


def to_title(character: str) -> str:
    """Return unicode.ToTitle."""
    mapped = character.title()
    return mapped if len(mapped) == 1 else character


def is_space(character: str) -> bool:
    """Report unicode.IsSpace."""
    return character in SPACES


# Words in names: ``HTTPServer`` as ``http_server``, by the rules of Go's package xstrings

# The kind of a character: Connector, Dash (a connector, but behind Punctuation part of it), Upper
# case, other Alphabet, Number, Other. Of capitals before a small letter the last begins the next
# word.
_WORDS: Final = re.compile("[CD]+|P[PD]*|U+(?=UA)|UA+|U+|A+|N+|O+")
# Chinese characters do not belong to the alphabet.
_IDEOGRAPHS: Final = re.compile("[\u3400-\u4d85\u4e00-\u9fcc\U00020000-\U0002b81d]")


class _Word(NamedTuple):
    """Characters that belong together; ``kind`` is that of the first, empty for no word."""

    kind: str = ""
    text: str = ""


def to_words(text: str, connector: str) -> str:
    """Join the lower-case words with a connector, which also replaces blanks, ``-`` and ``_``."""
    return _Joiner(text, connector).join()


class _Joiner:
    """Walks the words of a text and writes them in lower case."""

    def __init__(self, text: str, connector: str) -> None:
        kinds = "".join(map(_kind, text))
        self.words = [
            _Word(match[0][0].replace("D", "C"), text[match.start() : match.end()])
            for match in _WORDS.finditer(kinds)
        ]
        self.index = 0
        self.connector = connector
        self.parts: list[str] = []

    def join(self) -> str:
        word = self.next()
        while self.index < len(self.words):
            if word.kind != "C":
                self.write(word)
            word = self.write_between(word)
        self.write(word)
        return "".join(self.parts)

    def next(self) -> _Word:
        word = self.words[self.index] if self.index < len(self.words) else _Word()
        self.index += 1
        return word

    def write_between(self, word: _Word) -> _Word:
        """Write the text between ``word`` and the next one, which is returned unwritten."""
        following = self.next()
        if word.kind == "C":
            self.write(word)
        elif word.kind == "N":
            following = self.write_unconnected(following)
        elif word.kind != "P" and following.kind == "N":
            if self.index < len(self.words):
                following = self.write_number(following)
        elif word.kind != "P":
            self.write_connector(following)
        return following

    def write_number(self, number: _Word) -> _Word:
        """Write a number behind a word: part of it, unless small letters follow."""
        following = self.next()
        if following.kind == "A":
            self.parts.append(self.connector)
            self.write(number)
            return self.write_unconnected(following)
        self.write(number)
        self.write_connector(following)
        return following

    def write_unconnected(self, word: _Word) -> _Word:
        """Write the small letters and numbers that follow a number without a connector."""
        while word.kind in {"A", "N"}:
            self.write(word)
            word = self.next()
        self.write_connector(word)
        return word

    def write_connector(self, following: _Word) -> None:
        if following.kind not in {"", "C", "P"}:
            self.parts.append(self.connector)

    def write(self, word: _Word) -> None:
        if word.kind == "C":
            self.parts.append(self.connector * len(word.text))
        elif word.kind == "U":
            self.parts.extend(map(to_lower, word.text))
        else:
            self.parts.append(word.text)


def _kind(character: str) -> str:
    if _is_connector(character):
        return "D" if character in "-_" else "C"
    category = unicodedata.category(character)
    if category == "Lu":
        return "U"
    if category[0] == "L":
        return "O" if _IDEOGRAPHS.match(character) else "A"
    return category[0] if category[0] in "PN" else "O"


def _is_connector(character: str) -> bool:
    return character in "-_" or is_space(character)


def to_pascal(text: str) -> str:
    """Join the words with capitals and nothing between them; leading connectors stay.

    Capitals that follow a word's first become small letters.
    """
    words = text.lstrip("-_" + SPACES)
    leading = text[: len(text) - len(words)]
    if not words:
        # Go writes the last one twice.
        return leading + leading[-1:]
    parts = [leading]
    previous = to_upper(words[0])
    is_capital_run = _is_upper(words[0])
    for character in words[1:]:
        current = character
        if _is_connector(previous):
            if _is_connector(current):
                parts.append(previous)
                previous = current
                continue
            is_capital_run = _is_upper(current)
            current = to_upper(current)
        else:
            if is_capital_run and _is_upper(current):
                current = to_lower(current)
            else:
                is_capital_run = False
            parts.append(previous)
        previous = current
    return "".join([*parts, previous])


def _is_upper(character: str) -> bool:
    return unicodedata.category(character) == "Lu"
