"""Fields that several input kinds share: limits, ttl, delims; each notes its problems."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from function_script import quantities
from function_script.values import Value, to_integer, type_phrase

if TYPE_CHECKING:
    from function_script.limits import Limits
    from function_script.reader import ObjectReader

T = TypeVar("T", int, float)

# The longest duration Go can hold, and with it Crossplane. No rule of a CRD can say so.
_MAX_SECONDS = (2**63 - 1) / 1e9
_MAX_DELIMITER = 16
DELIMS = ("{{", "}}")
"""Go's own."""
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


def delims(fields: ObjectReader) -> list[Value]:
    """The two action delimiters, both or none; an absent or empty one means Go's braces."""
    found = fields.object("delims")
    if found is None:
        return [*DELIMS]
    found.refuse_unknown("left", "right")
    left, right = found.text("left") or "", found.text("right") or ""
    if bool(left) != bool(right):
        missing = "right" if left else "left"
        found.problems.add(found.at(missing), "is required beside the other delimiter")
    check_delims(found, left, right)
    return [left or DELIMS[0], right or DELIMS[1]]


def check_delims(fields: ObjectReader, left: str, right: str) -> None:
    """Note a delimiter that is too long."""
    for key, text in (("left", left), ("right", right)):
        if len(text) > _MAX_DELIMITER:
            fields.problems.add(fields.at(key), f"must be at most {_MAX_DELIMITER} characters")


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
    if isinstance(found, float):
        found = to_integer(found)
    if found is None or (isinstance(found, int) and not isinstance(found, bool)):
        return found
    shown = str(found) if isinstance(found, float) else type_phrase(found)
    fields.problems.add(fields.at(key), f"must be {expected}, not {shown}")
    return None


def _positive(fields: ObjectReader, key: str, number: T | None) -> T | None:
    if number is not None and number <= 0:
        fields.problems.add(fields.at(key), "must be greater than zero")
        return None
    return number
