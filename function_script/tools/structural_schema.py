"""Structural schemas: access to their parts, defaults, null pruning, and unknown fields.

Follows the Kubernetes API server, which fills in defaults before it validates. Schemas are plain
objects; parts that are not schemas count as absent.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Final, cast

from function_script.request import objects
from function_script.request.objects import Path
from function_script.request.reader import child, format_path
from function_script.request.values import Object, Value
from function_script.texts.errors import LimitError

TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
EMBEDDED: Final = "x-kubernetes-embedded-resource"
INT_OR_STRING: Final = "x-kubernetes-int-or-string"
# A keyword of ours: a number or a text, as quantities of Kubernetes' own kinds are.
QUANTITY: Final = "x-quantity"
# A keyword of ours: a text of a format and no list, as times of Kubernetes' own kinds are.
TEXT: Final = "x-text"

_ROOT_FIELDS: Final = ("apiVersion", "kind", "metadata")
# Each item of a default may have defaults: a small schema can stand for more than any memory. No
# object that Crossplane can pass on has so many.
_MAX_DEFAULTS: Final = 1 << 22


def properties(schema: Object) -> dict[str, Object]:
    """Return the schemas of the fields by name."""
    part = schema.get("properties")
    if not isinstance(part, dict):
        return {}
    return {name: field for name, field in part.items() if isinstance(field, dict)}


def additional(schema: Object) -> Object | None:
    """Return the schema of all other fields of a map, or None."""
    part = schema.get("additionalProperties")
    return part if isinstance(part, dict) else None


def items(schema: Object) -> Object | None:
    """Return the schema of a list's items, or None."""
    part = schema.get("items")
    return part if isinstance(part, dict) else None


def required(schema: Object) -> list[str]:
    """Return the names of the fields that an object must have; `y` is true here and as a key."""
    names = schema.get("required")
    texts = names if isinstance(names, list) else []
    return [name if isinstance(name, str) else json.dumps(name) for name in texts]


def find(schema: Object, path: Iterable[str | int]) -> Object | None:
    """Return the schema of the field or item at ``path``, or None."""
    part: Object | None = schema
    for key in path:
        if part is None:
            return None
        part = items(part) if isinstance(key, int) else _field(part, key)
    return part


def _field(schema: Object, name: str) -> Object | None:
    # Without a copy of all fields: a schema may have thousands, and as many problems.
    fields = schema.get("properties")
    field = fields.get(name) if isinstance(fields, dict) else None
    return field if isinstance(field, dict) else additional(schema)


def find_elsewhere(schema: Object, path: Path, value: Object | None = None) -> str | None:
    """Return the hint for a field that its holder lacks: a field of it, or what holds it, has one.

    ``value`` is the whole object, in which what holds the holder lacks the field as well.
    """
    *holder, name = path
    fields = properties(find(schema, holder) or {})
    # Nobody writes the status.
    inner = [key for key, part in fields.items() if key != "status" and name in properties(part)]
    if len(inner) == 1:
        return f'did you mean "{inner[0]}.{name}"?'
    outer = holder[:-2] if any(isinstance(key, int) for key in holder[-1:]) else holder[:-1]
    place = (*outer, name)
    if value is None or not holder or objects.find_path(value, place) is not None:
        return None
    if name in properties(find(schema, outer) or {}):
        return f"it is a field of the object around: {format_path(place)}"
    return None


def below(value: Value, schema: Object) -> Iterator[tuple[str | int, Value, Object]]:
    """Yield the parts of ``value`` that have a schema: key or index, part, schema."""
    if isinstance(value, dict):
        fields, others = properties(schema), additional(schema)
        for key in list(value):
            part_schema = fields.get(key, others)
            if part_schema is not None:
                yield key, value[key], part_schema
    elif isinstance(value, list) and (part_schema := items(schema)) is not None:
        for index, item in enumerate(value):
            yield index, item, part_schema


def complete(value: Object, schema: Object, *, drops_nulls: bool = True) -> Object:
    """Return a copy with the schema's defaults; it ``drops_nulls`` that the schema refuses."""
    copy: Object = {key: objects.deep_copy(part) for key, part in value.items()}
    add_defaults(copy, schema)
    if drops_nulls:
        drop_nulls(copy, schema)
    return copy


def add_defaults(value: Value, schema: Object, room: int = _MAX_DEFAULTS) -> int:
    """Fill in the defaults of absent fields, in place.

    A null counts as absent where it is not allowed and there is a default. ``room`` is that for
    defaults, as characters of JSON: it returns the rest, and raises LimitError for too many.
    """
    if isinstance(value, dict):
        for key, field in properties(schema).items():
            if field.get("default") is not None and key not in value:
                room = _take_room(room, field["default"])
                value[key] = objects.deep_copy(field["default"])
    for key_or_index, part, field in below(value, schema):
        item = part
        if part is None and not _is_nullable(field) and field.get("default") is not None:
            room = _take_room(room, field["default"])
            item = objects.deep_copy(field["default"])
            cast("dict[str | int, Value]", value)[key_or_index] = item
        room = add_defaults(item, field, room)
    return room


def _take_room(room: int, default: Value) -> int:
    rest = room - len(json.dumps(default))
    if rest < 0:
        raise LimitError.of(
            f"cannot fill in the defaults of a schema: they have more than {_MAX_DEFAULTS:,} "
            "characters"
        )
    return rest


def drop_nulls(value: Value, schema: Object) -> None:
    """Remove null fields that are not nullable, as the API server does after defaulting."""
    if isinstance(value, dict):
        for key, field in properties(schema).items():
            if key in value and value[key] is None and not _is_nullable(field):
                del value[key]
    for _, part, field in below(value, schema):
        drop_nulls(part, field)


def unknown_fields(value: Value, schema: Object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and name of every field that ``schema`` does not define, at any depth.

    apiVersion, kind and metadata are always known at the root and in embedded objects.
    """
    is_object = not path or schema.get(EMBEDDED) is True
    if isinstance(value, dict) and not is_open(schema):
        names = {*properties(schema), *(_ROOT_FIELDS if is_object else ())}
        for key in value:
            if key not in names:
                yield child(path, key), key
    for key_or_index, part, field in below(value, schema):
        if not (is_object and key_or_index in _ROOT_FIELDS):
            yield from unknown_fields(part, field, at(path, key_or_index))


def is_open(schema: Object) -> bool:
    """Report whether an object may have any field, with or without a schema of its own."""
    others = schema.get("additionalProperties")
    return schema.get(PRESERVE) is True or others not in (None, False)


def at(path: str, key: str | int) -> str:
    """Return the path of a field or an item below ``path``."""
    return f"{path}[{key}]" if isinstance(key, int) else child(path, key)


def _is_nullable(schema: Object) -> bool:
    return schema.get("nullable") is True
