"""Filters that make or take numbers.

Every filter gets the run first, then the piped value, then the template's arguments.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from jinja2 import Undefined

from function_script.engines.jinja.exceptions import MissingError, RenderError, a
from function_script.engines.jinja.output import text

if TYPE_CHECKING:
    from function_script.engines.jinja.run import Run

# Python reads longer numbers in quadratic time.
_MAX_DIGITS = 100
_MAX_PRECISION = 20
_MAX_SHOWN = 40


def absolute(_run: Run, value: object) -> int | float:
    """The number without its sign."""
    return abs(_number(value))


def integer(run: Run, value: object, default: object = None, base: object = 10) -> object:
    """The integer of a number or a text; other texts are an error, or the default."""
    if isinstance(value, (int, float)):
        return int(value)
    try:
        return int(_digits(run, value), base if isinstance(base, int) else 10)
    except ValueError as error:
        if default is None:
            raise _no_number(value, "an integer") from error
        return default


def floating(run: Run, value: object, default: object = None) -> object:
    """The number of a text; other texts are an error, or the default."""
    if isinstance(value, (int, float)):
        return float(value)
    try:
        return _finite(float(_digits(run, value)))
    except ValueError as error:
        if default is None:
            raise _no_number(value, "a number") from error
        return default


def rounded(_run: Run, value: object, precision: object = 0, method: object = "common") -> object:
    """The number with so many digits after the point; ``method``: common, ceil or floor."""
    number = _number(value)
    if not isinstance(precision, int) or not 0 <= precision <= _MAX_PRECISION:
        cause = f"the precision must be 0 to {_MAX_PRECISION}"
        raise RenderError(f"cannot round: {cause}", name="round")
    scale = 10**precision
    if method == "ceil":
        return math.ceil(number * scale) / scale
    if method == "floor":
        return math.floor(number * scale) / scale
    if method == "common":
        return round(number, precision)
    raise RenderError('cannot round: the method must be "common", "ceil" or "floor"', name="round")


def _digits(run: Run, value: object) -> str:
    digits = text(run.budget, value).strip()
    if len(digits) > _MAX_DIGITS:
        raise ValueError("too many digits")
    return digits


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("no finite number")
    return value


def _number(value: object) -> int | float:
    if isinstance(value, Undefined):
        raise MissingError(value)
    if isinstance(value, (int, float)):
        return value
    raise RenderError(f"{a(value)} is not a number")


def _no_number(value: object, wanted: str) -> RenderError:
    shown = f'"{value[:_MAX_SHOWN]}"' if isinstance(value, str) else a(value)
    return RenderError(f"{shown} is not {wanted}", hint="give a default to allow it")
