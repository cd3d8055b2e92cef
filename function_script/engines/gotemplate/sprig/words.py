"""Words within names: ``HTTPServer`` as ``http_server``, ``http_server`` as ``HttpServer``.

The rules are those of Go's package xstrings, oddities included; called by casing.py.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from function_script.engines.gotemplate.sprig import characters

# A character's kind: Connector, Dash (a connector, but behind Punctuation part of it), Upper case,
# other Alphabet, Number, Other. Of capitals before a small letter the last begins the next word.
_WORDS: Final = re.compile("[CD]+|P[PD]*|U+(?=UA)|UA+|U+|A+|N+|O+")
# Chinese characters are no alphabet.
_IDEOGRAPHS: Final = re.compile("[\u3400-\u4d85\u4e00-\u9fcc\U00020000-\U0002b81d]")


class _Word(NamedTuple):
    """Characters that belong together; ``kind`` is that of the first, empty for no word."""

    kind: str = ""
    text: str = ""


def to_words(text: str, connector: str) -> str:
    """The words in lower case, with the connector between them and for blanks, ``-`` and ``_``."""
    return _Joiner(text, connector).join()


class _Joiner:
    """Goes through the words of a text and writes them in lower case."""

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
            word = self.after(word)
        self.write(word)
        return "".join(self.parts)

    def next(self) -> _Word:
        word = self.words[self.index] if self.index < len(self.words) else _Word()
        self.index += 1
        return word

    def after(self, word: _Word) -> _Word:
        """Write what stands between ``word`` and the next one, which is returned unwritten."""
        following = self.next()
        if word.kind == "C":
            self.write(word)
        elif word.kind == "N":
            following = self.together(following)
        elif word.kind != "P" and following.kind == "N":
            if self.index < len(self.words):
                following = self.number(following)
        elif word.kind != "P":
            self.connect(following)
        return following

    def number(self, number: _Word) -> _Word:
        """A number behind a word: part of it, unless small letters follow."""
        following = self.next()
        if following.kind == "A":
            self.parts.append(self.connector)
            self.write(number)
            return self.together(following)
        self.write(number)
        self.connect(following)
        return following

    def together(self, word: _Word) -> _Word:
        """Write the small letters and numbers that follow a number without a connector."""
        while word.kind in {"A", "N"}:
            self.write(word)
            word = self.next()
        self.connect(word)
        return word

    def connect(self, following: _Word) -> None:
        if following.kind not in {"", "C", "P"}:
            self.parts.append(self.connector)

    def write(self, word: _Word) -> None:
        if word.kind == "C":
            self.parts.append(self.connector * len(word.text))
        elif word.kind == "U":
            self.parts.extend(map(characters.lower, word.text))
        else:
            self.parts.append(word.text)


def _kind(character: str) -> str:
    if _connects(character):
        return "D" if character in "-_" else "C"
    category = unicodedata.category(character)
    if category == "Lu":
        return "U"
    if category[0] == "L":
        return "O" if _IDEOGRAPHS.match(character) else "A"
    return category[0] if category[0] in "PN" else "O"


def _connects(character: str) -> bool:
    return character in "-_" or characters.is_space(character)


def to_pascal(text: str) -> str:
    """The words with capitals and nothing between them; what leads stays."""
    words = text.lstrip("-_" + characters.SPACES)
    leading = text[: len(text) - len(words)]
    if not words:
        # As in Go, the last one counts twice.
        return leading + leading[-1:]
    return leading + _capitalized(words)


def _capitalized(text: str) -> str:
    """Each word with a capital, and small letters for the capitals that follow it at once."""
    parts: list[str] = []
    previous = characters.upper(text[0])
    lowers = _is_upper(text[0])
    for character in text[1:]:
        current = character
        if _connects(previous):
            if _connects(current):
                parts.append(previous)
                previous = current
                continue
            lowers = _is_upper(current)
            current = characters.upper(current)
        else:
            if lowers and _is_upper(current):
                current = characters.lower(current)
            else:
                lowers = False
            parts.append(previous)
        previous = current
    return "".join([*parts, previous])


def _is_upper(character: str) -> bool:
    return unicodedata.category(character) == "Lu"
