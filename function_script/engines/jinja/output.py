"""How values are written into the text: scalars as YAML writes them, containers as flow YAML.

Called by generated code for every ``{{ … }}``, by ``~`` and by filters that need text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING

from jinja2 import Undefined

from function_script.engines.jinja.budget import MAX_INTEGER
from function_script.engines.jinja.exceptions import (
    BudgetError,
    MissingError,
    RenderError,
    a,
)
from function_script.engines.jinja.undefined import Absent
from function_script.program import Lazy, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.engines.jinja.budget import Budget
    from function_script.values import Value

# Whole numbers up to here are written without a fraction.
_MAX_WHOLE = 1e15
_MAX_DEPTH = 100
_CHUNKS = 256
# Copying a part of a value takes longer than a turn of a loop.
_STEPS_PER_PART = 2
_CALLABLE = ("a function", "a macro", "a method")
# JSON leaves them as they are, but a YAML reader refuses them or takes them for line breaks.
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def text(budget: Budget, value: object) -> str:
    """The value as text: ``null``, ``true``, ``3``, ``{"a": [1]}``; texts stay as they are."""
    kind = type(value)
    if kind is str:
        return value  # type: ignore[return-value] # its exact type was just compared
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return _digits(value)  # type: ignore[arg-type] # its exact type was just compared
    if value is None:
        return "null"
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Absent):
        return ""
    if isinstance(value, (Mapping, list, tuple, range)):
        return flow(budget, value)
    raise unprintable(value)


def unprintable(value: object) -> MissingError | RenderError:
    """Why a value that is no data cannot be written."""
    if isinstance(value, Undefined):
        return MissingError(value)
    called = a(value)
    hint = "call it: add parentheses" if called in _CALLABLE else None
    return RenderError(f"{called} cannot be written into the text", hint=hint)


def flow(budget: Budget, value: object) -> str:
    """The value on one line, in the part of YAML that is also JSON."""
    return _escaped(json.dumps(to_plain(budget, value), ensure_ascii=False))


def _escaped(line: str) -> str:
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


def _digits(value: int) -> str:
    if not -MAX_INTEGER < value < MAX_INTEGER:
        raise BudgetError("an integer of more than 256 bits")
    return str(value)


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise RenderError(f"the number {value} cannot be written in YAML")
    return str(int(value)) if value.is_integer() and abs(value) < _MAX_WHOLE else repr(value)


def to_plain(budget: Budget, value: object, depth: int = _MAX_DEPTH) -> Value:
    """A copy in dicts, lists and scalars only; charges for every part it has, even shared ones."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        budget.characters(len(value))
        return value
    if isinstance(value, int):
        _digits(value)
        return value
    if isinstance(value, float):
        return _settled_float(value)
    if depth == 0:
        raise BudgetError(f"a value nested more than {_MAX_DEPTH} levels deep")
    if type(value) is Lazy:
        # All of it is wanted, which is less work at once than key by key.
        value = plain(value)
    if isinstance(value, Mapping):
        _charge(budget, len(value))
        return {_key(key): to_plain(budget, item, depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, range)):
        _charge(budget, len(value))
        return [to_plain(budget, item, depth - 1) for item in value]
    raise unprintable(value)


def _charge(budget: Budget, count: int) -> None:
    budget.items(count)
    budget.spend(_STEPS_PER_PART * count)


def _settled_float(value: float) -> Value:
    whole = _number(value)
    return int(whole) if whole.lstrip("-").isdigit() else value


def _key(key: object) -> str:
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, (bool, int, float)):
        return json.dumps(key)
    raise RenderError(f"{a(key)} cannot be the key of an object")


def collect(chunks: Iterator[str], max_bytes: int) -> str:
    """All chunks as one text of at most ``max_bytes`` of UTF-8."""
    parts: list[str] = []
    characters = 0
    while batch := list(islice(chunks, _CHUNKS)):
        characters += sum(map(len, batch))
        if characters > max_bytes:
            raise BudgetError(
                f"{characters} characters of output, the limit is {max_bytes} bytes",
                hint="write less, or raise limits.output if the operator allows more",
                limit="output",
            )
        parts += batch
    whole = "".join(parts)
    if not whole.isascii():
        _check_encodes(whole, max_bytes)
    return whole


def _check_encodes(whole: str, max_bytes: int) -> None:
    try:
        size = len(whole.encode())
    except UnicodeEncodeError as error:
        message = "the output has half of a surrogate pair, which no file can hold"
        raise RenderError(message, name=f"\\u{ord(whole[error.start]):x}") from error
    if size > max_bytes:
        message = f"{size} bytes of output, the limit is {max_bytes} bytes"
        raise BudgetError(message, limit="output")
