"""JSON as Go's encoding/json reads it into an interface: every number is a float64."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Final, NoReturn

from function_script.engines.gotemplate.sprig.characters import whole
from function_script.engines.gotemplate.sprig.json_faults import find_fault
from function_script.values import LONE_SURROGATE

if TYPE_CHECKING:
    from function_script.engines.gotemplate.function import Allocator

_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")


class BadJsonError(ValueError):
    """A text that is not JSON, in Go's words; ``read`` is what Go has read all the same."""

    def __init__(self, text: str, read: object = None) -> None:
        super().__init__(text)
        self.read = read


class _Reader:
    """Reads one text; numbers too large for a float are nil, the first is remembered."""

    def __init__(self) -> None:
        self.too_large = ""
        self.decoder = json.JSONDecoder(
            parse_int=self.number, parse_float=self.number, parse_constant=_refuse
        )

    def number(self, text: str) -> float | None:
        number = float(text)
        if math.isfinite(number):
            return number
        self.too_large = self.too_large or text
        return None


def from_json(budget: Allocator, text: str) -> object:
    """The value of a JSON text; raises BadJsonError."""
    budget.check_string(len(text))
    budget.check_list(text.count(","))
    reader = _Reader()
    characters = whole(text)
    try:
        value: object = reader.decoder.decode(characters)
    except ValueError as error:
        raise BadJsonError(find_fault(characters)) from error
    if _SURROGATE_ESCAPE.search(characters) is not None:
        value = _mend(value)
    if reader.too_large:
        cause = f"json: cannot unmarshal number {reader.too_large} into Go value of type float64"
        raise BadJsonError(cause, value)
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


def _mend(value: object) -> object:
    """Halves of characters that were escaped alone become U+FFFD."""
    if isinstance(value, str):
        return LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return list(map(_mend, value))
    if isinstance(value, dict):
        return {_mend(key): _mend(item) for key, item in value.items()}
    return value
