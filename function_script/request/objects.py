"""Pure functions on plain Kubernetes objects: copy, merge, prune, find a field; their names."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from function_script.request.values import Object, Readable, Value, to_integer

EXTERNAL_NAME = "crossplane.io/external-name"
# Annotation with a document's resource name.
RESOURCE_NAME = "script.fn.crossplane.io/composition-resource-name"
# Annotation of a moved resource's object, with its name in the pipeline. The function writes it, so
# that a program may return an observed object that has it.
MOVED_TO = "script.fn.crossplane.io/moved-to"
# Those of a condition that the library gives to programs.
CONDITION_FIELDS: Final = ("type", "status", "reason", "message", "lastTransitionTime")
# Name of the requirement for the resource that a WatchOperation watches.
WATCHED = "ops.crossplane.io/watched-resource"
# Keys of the context that other functions set.
EXTRA_RESOURCES = "apiextensions.crossplane.io/extra-resources"
ENVIRONMENT = "apiextensions.crossplane.io/environment"

MAX_LABEL: Final = 63
"""Characters of an RFC 1123 label, and of a label's value."""
MAX_SUBDOMAIN: Final = 253
"""Characters of an RFC 1123 subdomain."""

# Each is for `fullmatch`, and says nothing of the length.
LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
SUBDOMAIN: Final = re.compile(rf"{LABEL.pattern}(\.{LABEL.pattern})*")
LABEL_VALUE: Final = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")

# Keys of maps and indices of lists, from the outside in.
Path: TypeAlias = tuple[str | int, ...]

_STEP = re.compile(
    r"""(?: (?:^|\.) (?P<key> [^.\[\]"]+ )
          | \[ (?P<index> -?[0-9]{1,9} ) \]
          | \[ (?P<quoted> "(?: [^"\\] | \\(?: ["\\/bfnrt] | u[0-9a-f]{4} ) )*" ) \]
        )""",
    re.VERBOSE,
)


def deep_copy(value: Readable) -> Value:
    """Copy a value into new dicts and lists, also from other mappings and sequences."""
    if isinstance(value, dict):
        return {key: deep_copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [deep_copy(item) for item in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return {key: deep_copy(item) for key, item in value.items()}
    return [deep_copy(item) for item in value]


def merge(target: Object, source: Object) -> None:
    """Merge ``source`` into ``target`` field by field: maps merge, lists and scalars replace.

    ``target`` never shares a container with ``source`` afterwards.
    """
    for key, value in source.items():
        if isinstance(value, dict):
            below = target.get(key)
            if isinstance(below, dict):
                merge(below, value)
                continue
        target[key] = deep_copy(value)


def without_nulls(value: Value) -> Value:
    """Copy a value without null fields, at any depth; nulls in lists stay."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def with_integers(value: Value) -> Value:
    """Copy a value with ints for integral numbers: a Struct holds doubles only."""
    if isinstance(value, dict):
        return {key: with_integers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [with_integers(item) for item in value]
    return to_integer(value) if isinstance(value, float) else value


def api_version_and_kind(value: Readable) -> tuple[str, str]:
    """Return ``("v1", "ConfigMap")``, with "" for a part that is missing or not a text."""
    api_version = find_path(value, ("apiVersion",))
    kind = find_path(value, ("kind",))
    return (
        api_version if isinstance(api_version, str) else "",
        kind if isinstance(kind, str) else "",
    )


def find_path(value: Readable, path: str | Sequence[str | int]) -> Readable:
    """Return the value at ``path`` below ``value``; None if a part is missing or null.

    ``path`` is ``spec.rules[0].host``, ``metadata.annotations["a.b/c"]``, or the parts as a list.
    Raises ValueError for an invalid path.
    """
    for part in parse_path(path) if isinstance(path, str) else path:
        # A dict first: to ask for an abstract class takes much longer.
        if isinstance(value, (dict, Mapping)):
            value = value.get(part) if isinstance(part, str) else None
        elif isinstance(part, int) and isinstance(value, (list, tuple)):
            value = value[part] if -len(value) <= part < len(value) else None
        else:
            return None
        if value is None:
            return None
    return value


@lru_cache(maxsize=512)
def parse_path(text: str) -> Path:
    """Parse ``a.b[0]["c.d"]`` to ``("a", "b", 0, "c.d")``; raises ValueError.

    What is in quotes is a string of JSON.
    """
    parts: list[str | int] = []
    end = 0
    while end < len(text):
        step = _STEP.match(text, end)
        if step is None:
            message = f"cannot read the path {text!r} at character {end + 1}"
            raise ValueError(message)
        index = step["index"]
        quoted = step["quoted"]
        key = step["key"] if quoted is None else str(json.loads(quoted, strict=False))
        parts.append(int(index) if index else key)
        end = step.end()
    return tuple(parts)


def read_path(text: str) -> Path:
    """Parse a path as `parse_path`, and an invalid one to the empty path."""
    try:
        return parse_path(text)
    except ValueError:
        return ()


def unwrap_resource(value: Readable) -> Readable:
    """Return the object, without the protocol's wrapper ``{"resource": {...}}`` if it has one."""
    if isinstance(value, (dict, Mapping)) and "resource" in value and "apiVersion" not in value:
        return value["resource"]
    return value


def find_condition(resource: Readable, kind: str) -> Mapping[str, Readable] | None:
    """Return the first entry of ``status.conditions`` with this ``type``."""
    conditions = find_path(unwrap_resource(resource), ("status", "conditions"))
    if not isinstance(conditions, (list, tuple)):
        return None
    for condition in conditions:
        if isinstance(condition, (dict, Mapping)) and condition.get("type") == kind:
            return condition
    return None


def is_same(one: Readable, other: Readable) -> bool:
    """Report equality as in JSON; see `compare_values`."""
    return one is other or not any(compare_values(one, other, ()))


def compare_values(
    theirs: Readable, ours: Readable, path: Path
) -> Iterator[tuple[Path, Readable, Readable]]:
    """Yield the least parts that differ, with both values.

    As in JSON, 1 equals 1.0, and true does not equal 1.
    """
    if isinstance(theirs, Mapping) and isinstance(ours, Mapping):
        for key in sorted({*theirs, *ours}):
            if key not in theirs or key not in ours:
                yield (*path, key), theirs.get(key), ours.get(key)
            else:
                yield from compare_values(theirs[key], ours[key], (*path, key))
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for index, (their_item, our_item) in enumerate(zip(theirs, ours, strict=True)):
            yield from compare_values(their_item, our_item, (*path, index))
    # In Python, True equals 1.
    elif theirs != ours or isinstance(theirs, bool) != isinstance(ours, bool):
        yield path, theirs, ours


def is_label(text: str) -> bool:
    """Report whether a text is an RFC 1123 label."""
    return len(text) <= MAX_LABEL and LABEL.fullmatch(text) is not None


def is_subdomain(text: str) -> bool:
    """Report whether a text is an RFC 1123 subdomain, which most object names must be."""
    return len(text) <= MAX_SUBDOMAIN and SUBDOMAIN.fullmatch(text) is not None
