"""Filters that convert or compute numbers.

Every filter receives the run first, then the piped value, then the template's arguments. Its
signature and docstring are printed in the reference.
"""

import math

from jinja2 import Undefined

from function_script.engines.jinja import exceptions
from function_script.engines.jinja.calls import CallContext
from function_script.engines.jinja.output import to_text

# Python reads longer numbers in quadratic time.
_MAX_DIGITS = 100
_MAX_PRECISION = 20
_MAX_QUOTED = 40


def absolute(_run: CallContext, value: object) -> int | float:
    """The number without its sign."""
    return abs(_number(value))


def integer(run: CallContext, value: object, default: object = None, base: object = 10) -> object:
    """The integer of a number or a text; other texts are an error, or the default."""
    if isinstance(value, (int, float)):
        return int(value)
    try:
        return int(_digits(run, value), base if isinstance(base, int) else 10)
    except ValueError as error:
        if default is None:
            raise _conversion_error(value, "an integer") from error
        return default


def floating(run: CallContext, value: object, default: object = None) -> object:
    """The number of a text; other texts are an error, or the default."""
    if isinstance(value, (int, float)):
        return float(value)
    try:
        number = float(_digits(run, value))
        if not math.isfinite(number):
            raise ValueError("not finite")  # noqa: TRY301 - handled like any other text below
    except ValueError as error:
        if default is None:
            raise _conversion_error(value, "a number") from error
        return default
    return number


def rounded(
    _run: CallContext, value: object, precision: object = 0, method: object = "common"
) -> object:
    """The number with so many digits after the point; ``method``: common, ceil or floor."""
    number = _number(value)
    if not isinstance(precision, int) or not 0 <= precision <= _MAX_PRECISION:
        cause = f"the precision must be 0 to {_MAX_PRECISION}"
        raise exceptions.RenderError(f"cannot round: {cause}", name="round")
    scale = 10**precision
    if method == "ceil":
        return math.ceil(number * scale) / scale
    if method == "floor":
        return math.floor(number * scale) / scale
    if method == "common":
        return round(number, precision)
    raise exceptions.RenderError(
        'cannot round: the method must be "common", "ceil" or "floor"', name="round"
    )


def _digits(run: CallContext, value: object) -> str:
    digits = to_text(run.budget, value).strip()
    if len(digits) > _MAX_DIGITS:
        raise ValueError("too many digits")
    return digits


def _number(value: object) -> int | float:
    if isinstance(value, Undefined):
        raise exceptions.MissingError(value)
    if isinstance(value, (int, float)):
        return value
    raise exceptions.RenderError(f"{exceptions.type_of(value)} is not a number")


def _conversion_error(value: object, target: str) -> exceptions.RenderError:
    text_or_type = (
        f'"{value[:_MAX_QUOTED]}"' if isinstance(value, str) else exceptions.type_of(value)
    )
    return exceptions.RenderError(
        f"{text_or_type} is not {target}", hint="give a default to allow it"
    )
