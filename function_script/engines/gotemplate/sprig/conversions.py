"""sprig's functions on types, and its conversions of any value: to text, integers and floats.

Texts that cannot be read as numbers are 0.
"""

import math
import re
from typing import Final

from function_script.engines.gotemplate import printing, values
from function_script.engines.gotemplate.function import Accepts, FunctionTable
from function_script.engines.gotemplate.go_time import Duration
from function_script.engines.gotemplate.run import Run

FUNCTIONS: Final = FunctionTable()

FUNCTIONS.add("typeOf", summary="The Go type of the value.", accepts=Accepts.NULL)(values.go_type)


@FUNCTIONS.add("typeIs", accepts=Accepts.NULL)
def type_is(name: str, value: object) -> bool:
    """True if the value has this Go type."""
    return values.go_type(value) == name


@FUNCTIONS.add("typeIsLike", accepts=Accepts.NULL)
def type_is_like(name: str, value: object) -> bool:
    """True if the value has this Go type or is a pointer to it."""
    return values.go_type(value) in {name, f"*{name}"}


FUNCTIONS.add(
    "kindOf", summary="The Go kind of the value, such as map or slice.", accepts=Accepts.NULL
)(values.go_kind)


@FUNCTIONS.add("kindIs", accepts=Accepts.MISSING)
def kind_is(name: str, value: object) -> bool:
    """True if the value has this Go kind."""
    return values.go_kind(value) == name


@FUNCTIONS.add("deepEqual", accepts=Accepts.NULL)
def equal_in_depth(run: Run, left: object, right: object) -> bool:
    """True if the values are equal in every part."""
    run.check_tree(left)
    run.check_tree(right)
    return values.deep_key(left) == values.deep_key(right)


# Conversions

# The sign, and the digits without leading zeros.
_DIGITS: Final = {
    8: re.compile("([+-]?)(?=[0-7])0*([0-7]*)"),
    10: re.compile("([+-]?)(?=[0-9])0*([0-9]*)"),
}
_ZERO_DECIMALS: Final = re.compile(r"\.0+\.*\Z")
# A number of 64 bits has fewer.
_MAX_DIGITS: Final = 100


def to_text(run: Run, value: object) -> str:
    """Convert by sprig's strval: texts stay, bytes become text, others are printed with ``%v``."""
    if isinstance(value, bytes):
        return values.to_string(value)
    return print_value(run, value)


def print_value(run: Run, value: object) -> str:
    """Print with ``%v``: unlike in to_text, bytes are numbers."""
    if isinstance(value, (dict, list)):
        run.check_tree(value)
    return printing.to_text(value)


def to_texts(run: Run, value: object) -> values.Strings:
    """Convert by sprig's strslice: the items of a list but nil; another value is a single item."""
    if isinstance(value, values.Strings):
        return value
    if isinstance(value, list):
        return values.Strings(to_text(run, item) for item in value if item is not None)
    if isinstance(value, bytes):
        return values.Strings(map(str, value))
    return values.Strings() if value is None else values.Strings([to_text(run, value)])


def to_int64(value: object) -> int:
    """Convert to int64: floats are cut, booleans are 0 and 1, texts may have a base."""
    if type(value) is Duration:
        # The library that sprig converts with knows months and days of the week, no durations.
        return 0
    if isinstance(value, int):
        return values.wrap_int64(value) if value > values.MAX_INT64 else int(value)
    if isinstance(value, float):
        return truncate(value)
    if isinstance(value, str):
        number = values.read_integer(_ZERO_DECIMALS.sub("", value)) or 0
        return number if values.MIN_INT64 <= number <= values.MAX_INT64 else 0
    return 0


def truncate(number: float) -> int:
    """Return Go's int64(float64) on amd64: the smallest integer for numbers out of range."""
    if (
        not math.isfinite(number)
        or not values.MIN_INT64 <= (whole := int(number)) <= values.MAX_INT64
    ):
        return values.MIN_INT64
    return whole


def to_float64(value: object) -> float:
    """Return a float64 of any value."""
    if isinstance(value, (int, float)) and not isinstance(value, Duration):
        return float(value)
    number = values.read_float(value) if isinstance(value, str) else None
    return 0.0 if number is None else number


def parse_decimal(text: str) -> int:
    """Return strconv.ParseInt(text, 10, 64) without its error: 0, or the nearest int64."""
    return max(values.MIN_INT64, min(values.MAX_INT64, _read_digits(text, 10)))


def parse_octal(text: str) -> int:
    """Return strconv.ParseInt(text, 8, 64); 0 if it fails."""
    number = _read_digits(text, 8)
    return number if values.MIN_INT64 <= number <= values.MAX_INT64 else 0


def _read_digits(text: str, base: int) -> int:
    """Return the number of digits with a sign, one that is too large for too many; else 0."""
    match = _DIGITS[base].fullmatch(text)
    number = 0 if match is None else int(match[2][:_MAX_DIGITS] or "0", base)
    return -number if text.startswith("-") else number
