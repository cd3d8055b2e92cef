"""Fields that several input kinds share: limits and ttl; each notes its problems."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from function_script import quantities
from function_script.fields import type_with_article
from function_script.values import MAX_SAFE_INTEGER

if TYPE_CHECKING:
    from function_script.fields import ObjectReader
    from function_script.limits import Limits

T = TypeVar("T", int, float)

# The longest duration Go can hold, and with it Crossplane. No rule of a CRD can say so.
_MAX_SECONDS = (2**63 - 1) / 1e9
_NUMBERS = ("steps", "documents", "nodes", "depth")


def limits(fields: ObjectReader, ceilings: Limits) -> Limits:
    """The ceilings, narrowed by ``limits``; a value above its ceiling changes nothing."""
    found = fields.object("limits")
    if found is None:
        return ceilings
    found.refuse_unknown("timeout", "memory", "output", *_NUMBERS)
    timeout = _positive(found, "timeout", _seconds(found, "timeout"))
    memory = _positive(found, "memory", _size(found, "memory"))
    output = _positive(found, "output", _size(found, "output"))
    numbers = {name: _positive(found, name, _whole(found, name)) for name in _NUMBERS}
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
    """How long the response may be kept, in seconds; 0 is allowed."""
    return _seconds(fields, "ttl")


def _seconds(fields: ObjectReader, key: str) -> float | None:
    found = fields.value.get(key)
    if isinstance(found, (int, float)) and not isinstance(found, bool):
        hint = f'write it with its unit, as in "{found}s"'
        fields.problems.add(fields.at(key), f"must be a duration, not {found}", hint=hint)
        return None
    return fields.parsed(key, _duration)


def _duration(text: str) -> float:
    seconds = quantities.parse_duration(text)
    if seconds > _MAX_SECONDS:
        raise ValueError(f'cannot use duration "{text}": it is longer than 292 years')
    return seconds


def _size(fields: ObjectReader, key: str) -> int | None:
    """Bytes: a quantity, or a plain whole number."""
    if isinstance(fields.value.get(key), str):
        return fields.parsed(key, quantities.parse_size)
    return _whole(fields, key, 'a size such as "128Mi"')


def _whole(fields: ObjectReader, key: str, expected: str = "a whole number") -> int | None:
    found = fields.value.get(key)
    if isinstance(found, float) and found.is_integer() and abs(found) <= MAX_SAFE_INTEGER:
        return int(found)
    if found is None or (isinstance(found, int) and not isinstance(found, bool)):
        return found
    shown = str(found) if isinstance(found, float) else type_with_article(found)
    fields.problems.add(fields.at(key), f"must be {expected}, not {shown}")
    return None


def _positive(fields: ObjectReader, key: str, number: T | None) -> T | None:
    if number is not None and number <= 0:
        fields.problems.add(fields.at(key), "must be greater than zero")
        return None
    return number
