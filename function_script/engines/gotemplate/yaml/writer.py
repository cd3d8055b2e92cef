"""toYaml: values as YAML as yaml.v3 writes it."""

import re
from collections.abc import Iterable
from functools import cmp_to_key
from typing import Final

from function_script.engines.gotemplate import values
from function_script.engines.gotemplate.go_time import Duration, Time
from function_script.engines.gotemplate.printing import float_text
from function_script.engines.gotemplate.yaml import scalars

_STEP: Final = 4
_DASH: Final = 2


def to_yaml(value: object) -> str:
    """Return a value as a document, with a final newline."""
    parts: list[str] = []
    block = _block_of(value)
    if block is None:
        parts.append(f"{_scalar(value, _STEP)}\n")
    else:
        _write_block(block, 0, "", parts)
    return "".join(parts)


def scalar_text(text: str) -> str:
    """Return a string on one line, quoted if it would read back as something else."""
    return scalars.write_key(text)


def _write_block(value: object, indent: int, lead: str, parts: list[str]) -> None:
    """Write a map or list that is not empty; its first line already has ``lead``."""
    if isinstance(value, _Ordered):
        _write_map(value.pairs, indent, lead, parts)
    elif isinstance(value, dict):
        texts = [key for key in value if isinstance(key, str)]
        if len(texts) == len(value) and _PLAIN_ORDER.fullmatch("\n".join(texts)):
            pairs: list[tuple[object, object]] = [(key, value[key]) for key in sorted(texts)]
        else:
            pairs = sorted(value.items(), key=_by_key)
        _write_map(pairs, indent, lead, parts)
    elif isinstance(value, (list, bytes)):
        for item in value:
            start = f"{lead or ' ' * indent}- "
            lead = ""
            block = _block_of(item)
            if block is None:
                parts.append(f"{start}{_scalar(item, indent + _DASH)}\n")
            else:
                _write_block(block, indent + _DASH, start, parts)


def _write_map(
    pairs: Iterable[tuple[object, object]], indent: int, lead: str, parts: list[str]
) -> None:
    pad = " " * indent
    deeper = (indent // _STEP + 1) * _STEP
    for key, item in pairs:
        if (
            type(key) is str
            and type(item) is str
            and scalars.is_simple(key)
            and scalars.is_simple(item)
        ):
            # Most of the output is like labels.
            parts.append(f"{lead or pad}{key}: {item}\n")
            lead = ""
            continue
        parts.append(lead or pad)
        lead = ""
        block = _block_of(item)
        # A simple key stands before its colon.
        simple = not isinstance(key, str) or (
            not scalars.has_break(key) and values.byte_length(key) <= scalars.MAX_SIMPLE_KEY
        )
        if simple:
            parts.append(f"{scalars.write_key(key) if isinstance(key, str) else _scalar(key, 0)}:")
        else:
            parts.append(f"? {_scalar(key, deeper)}\n{pad}:")
        if block is None:
            parts.append(f" {_scalar(item, deeper)}\n")
        elif simple:
            parts.append("\n")
            _write_block(block, deeper, "", parts)
        else:
            _write_block(block, deeper, " " * (deeper - indent - 1), parts)


class _Ordered:
    """A struct's fields, which keep their order."""

    def __init__(self, pairs: Iterable[tuple[object, object]]) -> None:
        self.pairs = pairs


def _block_of(value: object) -> object | None:
    """Return the value that takes several lines; None for scalars and empty containers."""
    if isinstance(value, values.Struct):
        data = value.yaml()
        return _Ordered(data.items()) if isinstance(data, dict) and data else None
    return value if isinstance(value, (dict, list, bytes)) and value else None


def _scalar(value: object, indent: int) -> str:
    if isinstance(value, str):
        return scalars.write_string(str.__str__(value), indent)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return value.text() if type(value) is Duration else int.__repr__(value)
    if isinstance(value, float):
        return _SPECIAL_FLOATS.get(float_text(value)) or float_text(value)
    if isinstance(value, values.Struct):
        data = value.yaml()
        return data.rfc3339() if isinstance(data, Time) else _scalar(data, indent)
    if isinstance(value, dict):
        return "{}"
    return "[]" if isinstance(value, (list, bytes)) else "null"


_SPECIAL_FLOATS: Final = {"+Inf": ".inf", "-Inf": "-.inf", "NaN": ".nan"}

# Entries are in the natural order of yaml.v3: a9 before a10. Keys of only these characters sort as
# strings.
_PLAIN_ORDER: Final = re.compile(r"[A-Za-z./ \n-]*")


def _compare(left: tuple[object, object], right: tuple[object, object]) -> int:
    first, second = left[0], right[0]
    if isinstance(first, str) and isinstance(second, str):
        return _compare_texts(first, second)
    if isinstance(first, (int, float)) and isinstance(second, (int, float)):
        return (first > second) - (first < second)
    kinds = [_KINDS.get(values.go_kind(key), len(_KINDS)) for key in (first, second)]
    return kinds[0] - kinds[1]


_KINDS: Final = {kind: order for order, kind in enumerate(("invalid", "bool", "int", "int64"))}
_by_key = cmp_to_key(_compare)


_DIGITS: Final = re.compile(r"\d*")
# So many digits fit into 64 bits, and those before so many change nothing there.
_SHORT: Final = 18
_SIGNIFICANT: Final = 64


def _compare_texts(first: str, second: str) -> int:
    """Compare texts: runs of digits are numbers; other characters come before letters."""
    index = 0
    for left, right in zip(first, second, strict=False):
        if left != right:
            break
        index += 1
    else:
        return len(first) - len(second)
    if left.isalpha() and right.isalpha():
        return -1 if left < right else 1
    start = index
    while start > 0 and first[start - 1].isdecimal():
        start -= 1
    if left.isalpha() or right.isalpha():
        return -1 if left.isalpha() == (start < index) else 1
    # Zeros behind other digits count: 10 is more than 1.
    prefix = "1" if (left == "0" or right == "0") and first[start:index].strip("0") else "0"
    runs = [run[0] for text in (first, second) if (run := _DIGITS.match(text, index))]
    numbers = [_read_number(prefix + run) for run in runs]
    if numbers[0] != numbers[1]:
        return numbers[0] - numbers[1]
    return len(runs[0]) - len(runs[1]) or (-1 if left < right else 1)


def _read_number(digits: str) -> int:
    """Return an int64 as Go computes it digit by digit: it wraps around."""
    if digits.isascii() and len(digits) <= _SHORT:
        return int(digits)
    number = 0
    for digit in digits[-_SIGNIFICANT:]:
        number = values.wrap_int64(number * 10 + ord(digit) - ord("0"))
    return number
