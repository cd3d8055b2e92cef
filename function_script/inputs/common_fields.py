"""Fields that several input kinds share: limits, ttl. Problems go to the reader's list."""

from dataclasses import replace
from typing import TypeVar

from function_script import quantities
from function_script.limits import Limits
from function_script.reader import ObjectReader
from function_script.values import to_integer, type_phrase

T = TypeVar("T", int, float)

# The longest duration of Go, and so of Crossplane. A CRD's rules cannot express it.
_MAX_SECONDS = (2**63 - 1) / 1e9
_NUMBERS = ("steps", "documents", "nodes", "depth")


def limits(fields: ObjectReader, ceilings: Limits) -> Limits:
    """Return the ceilings, narrowed by ``limits``; a value above its ceiling changes nothing."""
    section = fields.object("limits")
    if section is None:
        return ceilings
    section.refuse_unknown("timeout", "memory", "output", *_NUMBERS)
    timeout = _check_positive(section, "timeout", _seconds(section, "timeout"))
    memory = _check_positive(section, "memory", _size(section, "memory"))
    output = _check_positive(section, "output", _size(section, "output"))
    numbers = {
        name: _check_positive(section, name, _whole_number(section, name)) for name in _NUMBERS
    }
    return replace(
        ceilings,
        timeout_seconds=min(timeout or ceilings.timeout_seconds, ceilings.timeout_seconds),
        memory_bytes=min(memory or ceilings.memory_bytes, ceilings.memory_bytes),
        output_bytes=min(output or ceilings.output_bytes, ceilings.output_bytes),
        steps=min(numbers["steps"] or ceilings.steps, ceilings.steps),
        documents=min(numbers["documents"] or ceilings.documents, ceilings.documents),
        nodes=min(numbers["nodes"] or ceilings.nodes, ceilings.nodes),
        depth=min(numbers["depth"] or ceilings.depth, ceilings.depth),
    )


def ttl_seconds(fields: ObjectReader) -> float | None:
    """Return the response's TTL in seconds; 0 is allowed."""
    return _seconds(fields, "ttl")


def _seconds(fields: ObjectReader, key: str) -> float | None:
    value = fields.value.get(key)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        hint = f'write it with its unit, as in "{value}s"'
        fields.problems.add(fields.at(key), f"must be a duration, not {value}", hint=hint)
        return None
    return fields.parsed(key, _parse_duration)


def _parse_duration(text: str) -> float:
    seconds = quantities.parse_duration(text)
    if seconds > _MAX_SECONDS:
        raise ValueError(f'cannot use duration "{text}": it is longer than 292 years')
    return seconds


def _size(fields: ObjectReader, key: str) -> int | None:
    """Return a number of bytes from a quantity or a whole number."""
    if isinstance(fields.value.get(key), str):
        return fields.parsed(key, quantities.parse_size)
    return _whole_number(fields, key, 'a size such as "128Mi"')


def _whole_number(fields: ObjectReader, key: str, expected: str = "a whole number") -> int | None:
    value = fields.value.get(key)
    if isinstance(value, float):
        value = to_integer(value)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    actual = str(value) if isinstance(value, float) else type_phrase(value)
    fields.problems.add(fields.at(key), f"must be {expected}, not {actual}")
    return None


def _check_positive(fields: ObjectReader, key: str, number: T | None) -> T | None:
    if number is not None and number <= 0:
        fields.problems.add(fields.at(key), "must be greater than zero")
        return None
    return number
