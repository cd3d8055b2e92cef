"""sprig's random functions with stable values: ``randAlphaNum``, ``shuffle``, ``uuidv4``.

In Go every reconcile has new values, and so changes the resources. Here a value depends only on the
XR and the call's place in the template. It is no secret: anyone who knows these knows the value.
"""

import base64
import string
import uuid
from typing import Final

from function_script.engines.gotemplate.errors import CallError, LimitExceededError
from function_script.engines.gotemplate.function import FunctionTable
from function_script.engines.gotemplate.run import RandomNumbers
from function_script.engines.gotemplate.values import Int, whole

FUNCTIONS: Final = FunctionTable(option="stable_values")

_MAX_DRAWS: Final = 10_000
_BYTE: Final = 256


def _starting_with_x(characters: str) -> str:
    """Put ``x`` first: it is the value when all random numbers are 0, as in tests."""
    return "x" + characters.replace("x", "")


_LETTERS: Final = _starting_with_x(string.ascii_letters)
_PRINTABLE: Final = _starting_with_x("".join(map(chr, range(ord(" "), ord("~") + 1))))


def _check_count(count: int) -> None:
    if count > _MAX_DRAWS:
        raise LimitExceededError(f"{count} draws for one value, the limit is {_MAX_DRAWS}")


def _add_text(name: str, characters: str, noun: str) -> None:
    """Add a function that draws some of these characters."""

    @FUNCTIONS.add(name, summary=f"N {noun}, the same at each reconcile of one XR.")
    def _draw(next_random: RandomNumbers, count: int) -> str:
        _check_count(count)
        text = "".join(characters[next_random(len(characters))] for _ in range(count))
        return next_random.keep(text)


_add_text("randAlphaNum", _LETTERS + string.digits, "letters and digits")
_add_text("randAlpha", _LETTERS, "letters")
_add_text("randAscii", _PRINTABLE, "printable characters")
_add_text("randNumeric", string.digits, "digits")


@FUNCTIONS.add("randBytes")
def random_bytes(next_random: RandomNumbers, count: int) -> str:
    """N bytes in base64, the same at each reconcile of one XR."""
    if count < 0:
        raise CallError("runtime error: makeslice: len out of range")
    _check_count(count)
    data = bytes(next_random(_BYTE) for _ in range(count))
    return next_random.keep(base64.b64encode(data).decode())


@FUNCTIONS.add("randInt")
def random_integer(next_random: RandomNumbers, low: int, high: int) -> Int:
    """An integer from MIN up to MAX, the same at each reconcile of one XR."""
    if high <= low:
        raise CallError("invalid argument to Intn")
    return Int(low + next_random(high - low))


@FUNCTIONS.add("shuffle")
def shuffle(next_random: RandomNumbers, text: str) -> str:
    """The characters of the text in another order, the same at each reconcile of one XR."""
    characters = list(whole(text))
    _check_count(len(characters))
    for index in range(len(characters) - 1):
        other = index + next_random(len(characters) - index)
        characters[index], characters[other] = characters[other], characters[index]
    return "".join(characters)


@FUNCTIONS.add("uuidv4")
def uuid4(next_random: RandomNumbers) -> str:
    """A UUID, the same at each reconcile of one XR."""
    data = bytes(next_random(_BYTE) for _ in range(16))
    return next_random.keep(str(uuid.UUID(bytes=data, version=4)))
