"""Characters as Go's package unicode sees them: simple mappings of case, spaces, whole texts.

Mappings give one character for one: ``ß`` has no upper case.
"""

from __future__ import annotations

from typing import Final

from function_script.engines.gotemplate.values import is_broken, to_bytes, to_string
from function_script.values import LONE_SURROGATE

# What unicode.IsSpace calls a space; Python's own idea of it is wider.
SPACES: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)


def upper(character: str) -> str:
    """unicode.ToUpper."""
    mapped = character.upper()
    # Where the full mapping gives several characters, the simple one is that of titles.
    return mapped if len(mapped) == 1 else title(character)


def lower(character: str) -> str:
    """unicode.ToLower."""
    return character.lower()[0]


def title(character: str) -> str:
    """unicode.ToTitle."""
    mapped = character.title()
    return mapped if len(mapped) == 1 else character


def is_space(character: str) -> bool:
    """unicode.IsSpace."""
    return character in SPACES


def whole(text: str) -> str:
    """The text as characters: each byte that belongs to none is U+FFFD."""
    if not is_broken(text):
        return text
    return LONE_SURROGATE.sub("\ufffd", to_string(to_bytes(text)))


def to_narrow(text: str) -> str:
    """A text with one character for each byte."""
    return text if text.isascii() else to_bytes(text).decode("latin-1")


def to_wide(text: str) -> str:
    """The text whose bytes these characters are."""
    return text if text.isascii() else to_string(text.encode("latin-1"))
