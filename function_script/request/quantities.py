"""Parsers of Go's durations and Kubernetes' quantities of bytes."""

import math
import re

# The input CRDs hold these two as `pattern`, word for word.
DURATION = r"^(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"
SIZE = r"^[0-9]{1,15}(\.[0-9]{1,9})?(k|M|G|T|Ki|Mi|Gi|Ti)?$"
# Without a digit a text is zero, unless its unit is out of the range of a fast path of Go's.
_QUANTITY = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([numkMGTPE]?|[KMGTPE]i|[eE][+-]?0*[0-9]{1,18})"
    r"|[+-]?\.?([numkMGTPE]?|[KMGT]i|[eE](\+?0*[0-9]{1,18}|-0*[0-9]))"
)

_MAX_DURATION_LENGTH = 32
# The longest duration of Go, and so of Crossplane. A CRD's rules cannot express it.
_MAX_SECONDS = (2**63 - 1) / 1e9
PART = re.compile(r"([0-9.]+)([a-zµμ]+)")
"""A number of a duration, and its unit."""
_SMALL_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3}
SECONDS = {**_SMALL_SECONDS, "s": 1.0, "m": 60.0, "h": 3600.0}
"""The seconds of each unit of durations."""
_DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BYTES = {**_DECIMAL, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def parse_duration(text: str, *, is_signed: bool = False) -> float:
    """Parse a Go duration such as ``1m30s`` to seconds; raises ValueError.

    ``is_signed``: it may have a sign, as those of Go's `time.ParseDuration`.
    """
    number = text[1:] if is_signed and text[:1] in ("+", "-") else text
    if len(number) > _MAX_DURATION_LENGTH or not re.fullmatch(DURATION, number):
        hint = 'write a number and a unit, as in "90s"'
        raise ValueError(f'cannot parse duration "{text}": {hint}')
    seconds = sum((float(part) * SECONDS[unit] for part, unit in PART.findall(number)), 0.0)
    if seconds > _MAX_SECONDS:
        raise ValueError(f'cannot use duration "{text}": it is longer than 292 years')
    return -seconds if text[:1] == "-" else seconds


def parse_size(text: str) -> int:
    """Parse a Kubernetes quantity such as ``256Mi`` to bytes, rounded up; raises ValueError."""
    if not re.fullmatch(SIZE, text):
        raise ValueError(f'cannot parse size "{text}": write a number and a unit, as in "256Mi"')
    number = text.rstrip("kKMGTi")
    return math.ceil(float(number) * _BYTES[text.removeprefix(number)])


def is_quantity(text: str) -> bool:
    """Report whether Kubernetes decodes a text to a quantity, such as ``100m`` or ``1Gi``."""
    # Go looks at the JSON, where white space other than a blank is an escape.
    return text.strip(" ") != "" and _QUANTITY.fullmatch(text.strip(" ")) is not None


def has_unit(text: str) -> bool:
    """Report whether a text is a quantity that is a number and a unit, such as ``100m``."""
    return text[:1].isdigit() and text[-1:].isalpha() and is_quantity(text)
