"""Field paths as crossplane-runtime reads them: ``spec.rules[0].host``, ``labels[a.b/c]``."""

import re
from typing import Final

from function_script.errors import InputError
from function_script.values import Object, Value

_SEGMENT: Final = re.compile(r"(?:^|\.)(?P<field>[^.\[\]]+)|\[(?P<bracket>[^\[\]]+)\]")
_MAX_INDEX: Final = 1024


def parse(path: str) -> tuple[str | int, ...]:
    """Return the fields and indices of a path; raises InputError."""
    segments: list[str | int] = []
    end = 0
    while end < len(path):
        match = _SEGMENT.match(path, end)
        if match is None:
            raise InputError.of(f'cannot parse path "{path}" at character {end + 1}')
        bracket = match["bracket"] or ""
        is_index = bracket.isascii() and bracket.isdigit()
        segments.append(int(bracket) if is_index else match["field"] or bracket)
        end = match.end()
    return tuple(segments)


def find(value: Value, path: str) -> Value:
    """Return the value at a path, None where a field or an index does not exist.

    Raises InputError where the path leads into a value of another type.
    """
    for segment in parse(path):
        if isinstance(segment, int):
            if not isinstance(value, list):
                raise InputError.of(f'cannot find "{path}": [{segment}] is not in an array')
            value = value[segment] if segment < len(value) else None
        else:
            if not isinstance(value, dict):
                raise InputError.of(f'cannot find "{path}": "{segment}" is not in an object')
            value = value.get(segment)
        if value is None:
            return None
    return value


def nest(path: str, value: Value) -> Object:
    """Return an object that has ``value`` at a path and nothing else."""
    for segment in reversed(parse(path)):
        if isinstance(segment, int):
            if segment > _MAX_INDEX:
                raise InputError.of(
                    f'cannot set "{path}": the index {segment} is above {_MAX_INDEX}'
                )
            items: list[Value] = [None] * segment
            value = [*items, value]
        else:
            value = {segment: value}
    if not isinstance(value, dict):
        raise InputError.of(f'cannot set "{path}": it does not begin with a field')
    return value
