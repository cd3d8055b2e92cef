"""sprig's random functions with stable values: ``randAlphaNum``, ``shuffle``, ``uuidv4``.

In Go every reconcile has new values, and so changes the resources. Here a value depends only on the
XR and the call's place in the template. It is no secret: anyone who knows these knows the value.
"""

import base64
import string
import uuid
from functools import partial
from typing import Final

from function_script.engines.gotemplate.errors import CallError, LimitExceededError
from function_script.engines.gotemplate.function import Function, Injects, NextRandom
from function_script.engines.gotemplate.sprig.characters import whole
from function_script.engines.gotemplate.values import Int

_OPTION: Final = "stable_values"
_MAX_DRAWS: Final = 10_000
_BYTE: Final = 256
_UUID_BYTES: Final = 16


def _starting_with_x(characters: str) -> str:
    """Put ``x`` first: it is the value when all random numbers are 0, as in tests."""
    return "x" + characters.replace("x", "")


_LETTERS: Final = _starting_with_x(string.ascii_letters)
_LETTERS_AND_DIGITS: Final = _LETTERS + string.digits
_PRINTABLE: Final = _starting_with_x("".join(map(chr, range(ord(" "), ord("~") + 1))))


def _check_count(count: int) -> None:
    if count > _MAX_DRAWS:
        raise LimitExceededError(f"{count} draws for one value, the limit is {_MAX_DRAWS}")


def _text(next_random: NextRandom, count: int, *, characters: str) -> str:
    _check_count(count)
    text = "".join(characters[next_random(len(characters))] for _ in range(count))
    return next_random.keep(text)


def _bytes(next_random: NextRandom, count: int) -> str:
    if count < 0:
        raise CallError("runtime error: makeslice: len out of range")
    _check_count(count)
    data = bytes(next_random(_BYTE) for _ in range(count))
    return next_random.keep(base64.b64encode(data).decode())


def _integer(next_random: NextRandom, low: int, high: int) -> Int:
    if high <= low:
        raise CallError("invalid argument to Intn")
    return Int(low + next_random(high - low))


def _shuffle(next_random: NextRandom, text: str) -> str:
    characters = list(whole(text))
    _check_count(len(characters))
    for index in range(len(characters) - 1):
        other = index + next_random(len(characters) - index)
        characters[index], characters[other] = characters[other], characters[index]
    return "".join(characters)


def _uuid(next_random: NextRandom) -> str:
    data = bytes(next_random(_BYTE) for _ in range(_UUID_BYTES))
    return next_random.keep(str(uuid.UUID(bytes=data, version=4)))


def _random_function(name: str, parameters: str, call: object, returns: str = "string") -> Function:
    return Function(
        name=name,
        parameters=parameters,
        call=call,
        injects=Injects.RANDOM,
        returns=returns,
        option=_OPTION,
    )


FUNCTIONS: Final = (
    _random_function("randAlphaNum", "int", partial(_text, characters=_LETTERS_AND_DIGITS)),
    _random_function("randAlpha", "int", partial(_text, characters=_LETTERS)),
    _random_function("randAscii", "int", partial(_text, characters=_PRINTABLE)),
    _random_function("randNumeric", "int", partial(_text, characters=string.digits)),
    _random_function("randBytes", "int", _bytes),
    _random_function("randInt", "int int", _integer, "int"),
    _random_function("shuffle", "string", _shuffle),
    _random_function("uuidv4", "", _uuid),
)
