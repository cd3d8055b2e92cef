"""What a structural schema does to an object besides judging it: defaults, and unknown fields.

Called by the tools for CRDs and XRDs. Follows the Kubernetes API server, which fills in defaults
before it validates. Schemas are plain objects; parts that are no schema count as absent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script import objects
from function_script.reader import child

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.values import Object, Value

PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
EMBEDDED: Final = "x-kubernetes-embedded-resource"

_ROOT_FIELDS: Final = ("apiVersion", "kind", "metadata")


def properties(schema: Object) -> dict[str, Object]:
    """The schemas of the fields by name."""
    found = schema.get("properties")
    if not isinstance(found, dict):
        return {}
    return {name: below for name, below in found.items() if isinstance(below, dict)}


def additional(schema: Object) -> Object | None:
    """The schema of every other field of a map; None when there is none."""
    found = schema.get("additionalProperties")
    return found if isinstance(found, dict) else None


def items(schema: Object) -> Object | None:
    """The schema of a list's items."""
    found = schema.get("items")
    return found if isinstance(found, dict) else None


def below(value: Value, schema: Object) -> Iterator[tuple[str | int, Value, Object]]:
    """The parts of ``value`` that ``schema`` has schemas for: key or index, part, its schema."""
    if isinstance(value, dict):
        known, others = properties(schema), additional(schema)
        for key in list(value):
            found = known.get(key, others)
            if found is not None:
                yield key, value[key], found
    elif isinstance(value, list) and (found := items(schema)) is not None:
        for index, item in enumerate(value):
            yield index, item, found


def add_defaults(value: Value, schema: Object) -> None:
    """Fill in ``value`` what ``schema`` says for absent fields.

    A null counts as absent where it is not allowed and there is a default.
    """
    if isinstance(value, dict):
        for key, field in properties(schema).items():
            if field.get("default") is not None and key not in value:
                value[key] = objects.deep_copy(field["default"])
    for place, part, field in below(value, schema):
        if part is None and not _is_nullable(field) and field.get("default") is not None:
            _put(value, place, objects.deep_copy(field["default"]))
    for _, part, field in below(value, schema):
        add_defaults(part, field)


def drop_nulls(value: Value, schema: Object) -> None:
    """Remove fields that are null and may not be, as the API server does after defaulting."""
    if isinstance(value, dict):
        for key, field in properties(schema).items():
            if key in value and value[key] is None and not _is_nullable(field):
                del value[key]
    for _, part, field in below(value, schema):
        drop_nulls(part, field)


def unknown_fields(value: Value, schema: Object, path: str = "") -> Iterator[tuple[str, str]]:
    """Every field that ``schema`` does not know: its path and its name, at any depth.

    The root's apiVersion, kind and metadata are always known, as are those of embedded objects.
    """
    is_object = not path or schema.get(EMBEDDED) is True
    if isinstance(value, dict) and not _takes_any_field(schema):
        known = (*properties(schema), *(_ROOT_FIELDS if is_object else ()))
        for key in value:
            if key not in known:
                yield child(path, key), key
    for place, part, field in below(value, schema):
        if not (is_object and place in _ROOT_FIELDS):
            yield from unknown_fields(part, field, at(path, place))


def at(path: str, key: str | int) -> str:
    """The path of a field or an item below ``path``."""
    return f"{path}[{key}]" if isinstance(key, int) else child(path, key)


def _takes_any_field(schema: Object) -> bool:
    return schema.get(PRESERVE) is True or schema.get("additionalProperties") not in (None, False)


def _is_nullable(schema: Object) -> bool:
    return schema.get("nullable") is True


def _put(value: Value, place: str | int, part: Value) -> None:
    if isinstance(value, dict):
        value[str(place)] = part
    elif isinstance(value, list):
        value[int(place)] = part
