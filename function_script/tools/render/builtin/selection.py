"""Objects of the cluster that an input selects: by name or by labels, sorted, counted.

Field paths are those of crossplane-runtime: ``spec.rules[0].host``, ``labels[a.b/c]``.
"""

import re
from contextlib import suppress
from typing import Final, cast

from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.values import Object, Readable, Value
from function_script.texts.errors import InputError
from function_script.tools.render import messages

REFERENCE: Final = "Reference"
SELECTOR: Final = "Selector"
_PARTS: Final = {REFERENCE: "ref", SELECTOR: "selector"}
_SEGMENT: Final = re.compile(r"(?P<field>[^.\[\]]+)|\[(?P<bracket>[^\[\]]+)\]|\.(?=[^.\[\]])")
_MAX_INDEX: Final = 1024
_MAX_UINT32: Final = (1 << 32) - 1


def read_sources(value: Object, key: str) -> list[Object] | None:
    """Return the entries of ``spec.KEY``, None without the field.

    Raises InputError for an entry that crashes the real function.
    """
    sources = cast("list[Object] | None", objects.find_path(value, ("spec", key)))
    for index, source in enumerate(sources or ()):
        part = _PARTS[source_type(source)]
        if source.get(part) is None:
            raise InputError.of(f"cannot get Function input: spec.{key}[{index}] has no {part}")
    return sources


def source_type(source: Object) -> str:
    """Return ``Reference``, the default, or ``Selector``."""
    return str(source.get("type") or REFERENCE)


def is_optional(value: Object) -> bool:
    """Report whether a referenced object may be absent."""
    return objects.find_path(value, "spec.policy.resolution") == "Optional"


def reference_name(source: Object) -> str:
    """Return the name of the object that a reference names."""
    return _text(source, "ref.name") or ""


def add_requirement(
    requirements: fnv1.Requirements, name: str, source: Object, xr: Object, kind: tuple[str, str]
) -> None:
    """Add the selector of a source. A selector without labels selects nothing, and is left out."""
    selector = fnv1.ResourceSelector(api_version=kind[0], kind=kind[1])
    if source_type(source) == REFERENCE:
        selector.match_name = reference_name(source)
    elif labels := _labels(source, xr):
        selector.match_labels.labels.update(labels)
    else:
        return
    if isinstance(namespace := source.get("namespace"), str):
        selector.namespace = namespace
    # The last of several entries of one name counts.
    requirements.resources[name].CopyFrom(selector)


def _labels(source: Object, xr: Object) -> dict[str, str]:
    labels = {}
    matchers = objects.find_path(source, "selector.matchLabels")
    for matcher in matchers if isinstance(matchers, list) else []:
        key = _text(matcher, "key") or ""
        if objects.find_path(matcher, "type") == "Value":
            value = _text(matcher, "value")
            if value is None:
                raise InputError.of("Value cannot be nil for type 'Value'")
            labels[key] = value
            continue
        path = _text(matcher, "valueFromFieldPath")
        if path is None:
            raise InputError.of(
                "ValueFromFieldPath cannot be nil for type 'FromCompositeFieldPath'"
            )
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


def limit_matches(matches: list[Object], source: Object, cause: str, what: str) -> list[Object]:
    """Sort ``matches``, and return those between the selector's ``minMatch`` and ``maxMatch``.

    Raises InputError; the text about too few of ``what`` begins with ``cause``.
    """
    least = objects.find_path(source, "selector.minMatch")
    if isinstance(least, int) and len(matches) < least:
        raise InputError.of(f"{cause}expected at least {least} {what}, got {len(matches)}")
    _sort(matches, _text(source, "selector.sortByFieldPath") or "metadata.name")
    most = objects.find_path(source, "selector.maxMatch")
    return matches[:most] if isinstance(most, int) else matches


def _sort(matches: list[Object], path: str) -> None:
    """Sort by a string or number; an absent value counts as the type's zero."""
    values = [find_path(match, path) for match in matches]
    # In protobuf, every number is a float.
    types = {float if type(value) is int else type(value) for value in values if value is not None}
    if len(types) > 1:
        names = " and ".join(sorted(kind.__name__ for kind in types))
        raise InputError.of(f'cannot sort by "{path}": the values have the types {names}')
    if not types or len(matches) == 1:
        return
    (kind,) = types
    if kind not in {str, float}:
        raise InputError.of(f'cannot sort by "{path}": the values are neither strings nor numbers')
    keys = [kind() if value is None else value for value in values]
    order = sorted(range(len(matches)), key=keys.__getitem__)  # type: ignore[arg-type] # one type
    matches[:] = [matches[index] for index in order]


def _parse_path(path: str) -> tuple[str | int, ...]:
    """Return the fields and indices of a path; raises InputError."""
    segments: list[str | int] = []
    end = 0
    while end < len(path):
        match = _SEGMENT.match(path, end)
        if match is None or (end == 0 and path.startswith(".")):
            raise InputError.of(f'cannot parse path "{path}" at position {end}')
        end = match.end()
        bracket = match["bracket"] or ""
        if bracket.isascii() and bracket.isdigit() and int(bracket) <= _MAX_UINT32:
            segments.append(int(bracket))
        elif field := match["field"] or bracket:
            # Quotes around a name are no part of it.
            segments.append(field.strip("'\""))
    return tuple(segments)


def find_path(value: Value, path: str) -> Value:
    """Return the value at a path, None where a field or an index does not exist.

    Raises InputError where the path leads into a value of another type.
    """
    for segment in _parse_path(path):
        if isinstance(segment, int):
            if not isinstance(value, list):
                raise InputError.of(f'cannot find "{path}": [{segment}] is not in an array')
            if segment >= len(value):
                return None
            value = value[segment]
        elif isinstance(value, dict):
            if segment not in value:
                return None
            value = value[segment]
        elif value is None:
            return None
        else:
            raise InputError.of(f'cannot find "{path}": "{segment}" is not in an object')
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
