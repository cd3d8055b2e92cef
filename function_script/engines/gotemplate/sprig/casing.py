"""sprig's functions on upper and lower case and on words: ``title``, ``snakecase``, ``initials``.

Go maps character by character and never changes their number: ``ß`` has no upper case.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from function_script.engines.gotemplate.function import Allocator, Function, Injects
from function_script.engines.gotemplate.sprig import characters
from function_script.engines.gotemplate.sprig.characters import is_space, to_narrow, whole
from function_script.engines.gotemplate.sprig.words import to_pascal, to_words

if TYPE_CHECKING:
    from collections.abc import Callable

# Words are taken apart character by character.
_STEPS_PER_CHARACTER: Final = 10


def _upper(text: str) -> str:
    return text.upper() if text.isascii() else "".join(map(characters.upper, whole(text)))


def _lower(text: str) -> str:
    return text.lower() if text.isascii() else "".join(map(characters.lower, whole(text)))


def _title(text: str) -> str:
    return _first_letters(text, characters.title, _separates)


def _untitle(text: str) -> str:
    return _first_letters(text, characters.lower, is_space)


def _first_letters(
    text: str, change: Callable[[str], str], separates: Callable[[str], bool]
) -> str:
    """The text with the first character of each word changed."""
    changed: list[str] = []
    starts = True
    for character in whole(text):
        separator = separates(character)
        changed.append(change(character) if starts and not separator else character)
        starts = separator
    return "".join(changed)


def _separates(character: str) -> bool:
    """Whether a word may end here: not at digits and underscores, but at any other ASCII."""
    if character.isascii():
        return not (character.isalnum() or character == "_")
    return unicodedata.category(character)[0] != "L" and is_space(character)


def _swap_case(text: str) -> str:
    """Upper case becomes lower; lower case upper, and at the start of a word that of titles."""
    changed: list[str] = []
    starts = True
    for character in whole(text):
        category = unicodedata.category(character)
        if category in {"Lu", "Lt"}:
            changed.append(characters.lower(character))
        elif category == "Ll":
            changed.append((characters.title if starts else characters.upper)(character))
        else:
            changed.append(character)
            starts = is_space(character)
            continue
        starts = False
    return "".join(changed)


def _initials(text: str) -> str:
    """The first byte of each word; Go takes each for a character."""
    found: list[str] = []
    starts = True
    for character in to_narrow(text):
        space = is_space(character)
        if starts and not space:
            found.append(character)
        starts = space
    return "".join(found)


def _snake_case(budget: Allocator, text: str) -> str:
    budget.spend(len(text) * _STEPS_PER_CHARACTER)
    return to_words(whole(text), "_")


def _kebab_case(budget: Allocator, text: str) -> str:
    budget.spend(len(text) * _STEPS_PER_CHARACTER)
    return to_words(whole(text), "-")


def _camel_case(budget: Allocator, text: str) -> str:
    budget.spend(len(text) * _STEPS_PER_CHARACTER)
    return to_pascal(whole(text))


def _casing(name: str, call: object, needs: Injects = Injects.NOTHING) -> Function:
    return Function(name=name, takes="string", call=call, needs=needs, gives="string")


FUNCTIONS: Final = (
    _casing("upper", _upper),
    _casing("lower", _lower),
    _casing("title", _title),
    _casing("untitle", _untitle),
    _casing("swapcase", _swap_case),
    _casing("initials", _initials),
    _casing("snakecase", _snake_case, Injects.BUDGET),
    _casing("kebabcase", _kebab_case, Injects.BUDGET),
    _casing("camelcase", _camel_case, Injects.BUDGET),
)
