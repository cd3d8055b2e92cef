"""Characters by Go's package unicode: simple mappings of case, spaces, whole texts.

Mappings give one character for one: ``ß`` has no upper case.
"""

from typing import Final

from function_script.engines.gotemplate.values import is_broken, to_bytes, to_string
from function_script.values import LONE_SURROGATE

# The spaces of unicode.IsSpace; Python has more.
SPACES: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)


def upper(character: str) -> str:
    """Return unicode.ToUpper."""
    mapped = character.upper()
    # If the full mapping gives several characters, the simple one is that of titles.
    return mapped if len(mapped) == 1 else title(character)


def lower(character: str) -> str:
    """Return unicode.ToLower."""
    return character.lower()[0]


def title(character: str) -> str:
    """Return unicode.ToTitle."""
    mapped = character.title()
    return mapped if len(mapped) == 1 else character


def is_space(character: str) -> bool:
    """Report unicode.IsSpace."""
    return character in SPACES


def whole(text: str) -> str:
    """Return the text with U+FFFD for each byte that belongs to no character."""
    if not is_broken(text):
        return text
    return LONE_SURROGATE.sub("\ufffd", to_string(to_bytes(text)))
