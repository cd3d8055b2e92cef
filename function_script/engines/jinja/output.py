"""Conversion of values to text: scalars as YAML writes them, containers as flow YAML."""

import json
import math
from collections.abc import Iterator, Mapping
from itertools import islice

from function_script import documents
from function_script.engines import habits
from function_script.engines.jinja import exceptions
from function_script.engines.jinja.exceptions import Absent
from function_script.engines.jinja.run import MAX_INTEGER, Budget
from function_script.engines.outdents import find_outdented
from function_script.request.lazy import Lazy, plain
from function_script.request.values import Value

# Whole numbers up to here are written without a fraction.
_MAX_WHOLE = 1e15
_MAX_DEPTH = 100
_CHUNKS = 256
# Copying a part of a value takes longer than an iteration of a loop.
_STEPS_PER_PART = 2
_CALLABLE = ("a function", "a macro", "a method")


def to_text(budget: Budget, value: object) -> str:
    """Return the value as text: ``null``, ``true``, ``3``, ``{"a": [1]}``."""
    kind = type(value)
    if kind is str:
        if "\n" in value:  # type: ignore[operator] # its exact type was just compared
            budget.note_lines(value)  # type: ignore[arg-type] # same
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
        return to_flow_yaml(budget, value)
    raise unprintable_error(value)


def unprintable_error(value: object) -> exceptions.MissingError | exceptions.RenderError:
    """Return the error for a value that is not data."""
    message = "{} cannot be written into the text"
    return exceptions.unsuitable(message, value, hint=call_hint(value))


def call_hint(value: object) -> str | None:
    """Return the hint for a function, a macro or a method in place of what it returns."""
    if exceptions.type_of(value) not in _CALLABLE:
        return None
    name = getattr(value, "name", None)
    hint = f"call it: {name}(...)" if name else "call it: add parentheses"
    return habits.find("jinja", str(name), "function") or hint


def to_flow_yaml(budget: Budget, value: object) -> str:
    """Return the value on one line, in the part of YAML that is also JSON."""
    return documents.to_flow_yaml(json.dumps(to_plain(budget, value), ensure_ascii=False))


def _digits(value: int) -> str:
    if not -MAX_INTEGER < value < MAX_INTEGER:
        raise exceptions.BudgetError("an integer of more than 256 bits")
    return str(value)


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise exceptions.RenderError(f"the number {value} cannot be written in YAML")
    return str(int(value)) if value.is_integer() and abs(value) < _MAX_WHOLE else repr(value)


def to_plain(budget: Budget, value: object, depth: int = _MAX_DEPTH) -> Value:
    """Copy a value as dicts, lists and exact scalars; every part is charged, even shared ones."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        budget.charge_characters(len(value))
        return str(value)
    if isinstance(value, int):
        _digits(value)
        return value
    if isinstance(value, float):
        whole = _number(value)
        return int(whole) if whole.lstrip("-").isdigit() else value
    if depth == 0:
        raise exceptions.BudgetError(f"a value nested more than {_MAX_DEPTH} levels deep")
    if type(value) is Lazy:
        # Building all of it at once is less work than key by key.
        value = plain(value)
    if isinstance(value, Mapping):
        _charge(budget, len(value))
        return {_key(key): to_plain(budget, item, depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, range)):
        _charge(budget, len(value))
        return [to_plain(budget, item, depth - 1) for item in value]
    raise unprintable_error(value)


def _charge(budget: Budget, count: int) -> None:
    budget.charge_items(count)
    budget.spend(_STEPS_PER_PART * count)


def _key(key: object) -> str:
    return str(key) if isinstance(key, str) else json.dumps(check_key(key))


def check_key(value: object) -> object:
    """Return the value if it may be the key of an object, else raise RenderError."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise exceptions.unsuitable("{} cannot be the key of an object", value)


def join_chunks(budget: Budget, chunks: Iterator[str], max_bytes: int) -> str:
    """Join all chunks to one text of at most ``max_bytes`` of UTF-8; note outdented values."""
    parts: list[str] = []
    characters = 0
    while batch := list(islice(chunks, _CHUNKS)):
        # Characters first: an output that is too long is not encoded as well.
        characters += sum(map(len, batch))
        if characters > max_bytes:
            raise exceptions.BudgetError(
                f"{characters} characters of output, the limit is {max_bytes} bytes",
                hint="write less, or raise limits.output if the operator allows more",
                limit="output",
            )
        parts += batch
    whole = "".join(parts)
    if budget.lines:
        budget.outdents = find_outdented(parts, budget.lines)
    if whole.isascii():
        return whole
    try:
        size = len(whole.encode())
    except UnicodeEncodeError as error:
        message = "the output has half of a surrogate pair, which no file can hold"
        raise exceptions.RenderError(message, name=f"\\u{ord(whole[error.start]):x}") from error
    if size > max_bytes:
        message = f"{size} bytes of output, the limit is {max_bytes} bytes"
        raise exceptions.BudgetError(message, limit="output")
    return whole
