"""Objects of the cluster that an input selects: by name or by labels, sorted, counted.

Field paths are those of crossplane-runtime: ``spec.rules[0].host``, ``labels[a.b/c]``.
"""

import re
from contextlib import suppress
from typing import Final, cast

from function_script import objects
from function_script.errors import InputError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.tools.render import messages
from function_script.values import Object, Readable, Value

REFERENCE: Final = "Reference"
SELECTOR: Final = "Selector"
_SEGMENT: Final = re.compile(r"(?:^|\.)(?P<field>[^.\[\]]+)|\[(?P<bracket>[^\[\]]+)\]")
_MAX_INDEX: Final = 1024


def read_sources(value: Object, key: str) -> list[Object]:
    """Return the entries of ``spec.KEY``; raises InputError unless they are objects."""
    sources = objects.find_path(value, ("spec", key))
    if sources is None:
        return []
    if not isinstance(sources, list) or not all(isinstance(source, dict) for source in sources):
        raise InputError.of(f"cannot get Function input: spec.{key} is not a list of objects")
    for source in sources:
        if source_type(source) == REFERENCE and _text(source, "ref.name") is None:
            raise InputError.of(
                f"cannot get Function input: an entry of spec.{key} has no ref.name"
            )
    return cast("list[Object]", sources)


def source_type(source: Object) -> str:
    """Return ``Reference``, the default, or ``Selector``."""
    return str(source.get("type") or REFERENCE)


def is_optional(value: Object) -> bool:
    """Report whether a referenced object may be absent."""
    return objects.find_path(value, "spec.policy.resolution") == "Optional"


def add_requirement(
    requirements: fnv1.Requirements, name: str, source: Object, xr: Object, kind: tuple[str, str]
) -> None:
    """Add the selector of a source. A selector without labels selects nothing, and is left out."""
    if source_type(source) == REFERENCE:
        selector = requirements.resources[name]
        selector.match_name = str(_text(source, "ref.name"))
    elif labels := _labels(source, xr):
        selector = requirements.resources[name]
        selector.match_labels.labels.update(labels)
    else:
        return
    selector.api_version, selector.kind = kind
    if isinstance(namespace := source.get("namespace"), str):
        selector.namespace = namespace


def _labels(source: Object, xr: Object) -> dict[str, str]:
    labels = {}
    matchers = objects.find_path(source, "selector.matchLabels")
    for matcher in matchers if isinstance(matchers, list) else []:
        key = _text(matcher, "key") or ""
        if objects.find_path(matcher, "type") == "Value":
            value = _text(matcher, "value")
            if value is None:
                raise InputError.of(f'cannot match the label "{key}": it has no value')
            labels[key] = value
            continue
        path = _text(matcher, "valueFromFieldPath")
        if path is None:
            raise InputError.of(f'cannot match the label "{key}": it has no valueFromFieldPath')
        with suppress(InputError):
            if isinstance(text := find_path(xr, path), str):
                labels[key] = text
                continue
        if objects.find_path(matcher, "fromFieldPathPolicy") != "Optional":
            raise InputError.of(f'cannot get value from field path "{path}"')
    return labels


def _text(value: Readable, path: str) -> str | None:
    text = objects.find_path(value, path)
    return text if isinstance(text, str) else None


def read_objects(request: fnv1.RunFunctionRequest) -> dict[str, list[Object]]:
    """Return the required resources of a request by the name of their requirement."""
    return {
        name: [messages.read_struct(item.resource) for item in resources.items]
        for name, resources in request.required_resources.items()
    }


def check_reference(name: str, matches: list[Object], *, may_be_absent: bool) -> None:
    """Raise InputError unless a reference has led to one object."""
    if len(matches) > 1:
        raise InputError.of(f'expected exactly one required resource "{name}", got {len(matches)}')
    if not matches and not may_be_absent:
        raise InputError.of(f'required resource "{name}" not found')


def limit_matches(name: str, source: Object, matches: list[Object]) -> list[Object]:
    """Return what a selector takes, sorted: at least ``minMatch`` objects, at most ``maxMatch``."""
    least = objects.find_path(source, "selector.minMatch")
    if isinstance(least, int) and len(matches) < least:
        raise InputError.of(
            f'expected at least {least} required resources "{name}", got {len(matches)}'
        )
    path = _text(source, "selector.sortByFieldPath") or "metadata.name"
    matches = _sort(matches, path)
    most = objects.find_path(source, "selector.maxMatch")
    return matches[:most] if isinstance(most, int) else matches


def _sort(matches: list[Object], path: str) -> list[Object]:
    """Sort by a string or number; an absent value counts as the type's zero."""
    values = [find_path(match, path) for match in matches]
    # In protobuf, every number is a float.
    types = {float if type(value) is int else type(value) for value in values if value is not None}
    if not types or len(matches) == 1:
        return matches
    if len(types) > 1:
        names = " and ".join(sorted(kind.__name__ for kind in types))
        raise InputError.of(f'cannot sort by "{path}": the values have the types {names}')
    (kind,) = types
    if kind not in {str, float}:
        raise InputError.of(f'cannot sort by "{path}": the values are neither strings nor numbers')
    keys = [kind() if value is None else value for value in values]
    order = sorted(range(len(matches)), key=keys.__getitem__)  # type: ignore[arg-type] # one type
    return [matches[index] for index in order]


def _parse_path(path: str) -> tuple[str | int, ...]:
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


def find_path(value: Value, path: str) -> Value:
    """Return the value at a path, None where a field or an index does not exist.

    Raises InputError where the path leads into a value of another type.
    """
    for segment in _parse_path(path):
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


def nest_path(path: str, value: Value) -> Object:
    """Return an object that has ``value`` at a path and nothing else."""
    for segment in reversed(_parse_path(path)):
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
