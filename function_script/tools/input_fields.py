"""The fields of inputs, described by their CRDs."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from function_script.tools import manifests, structural_schema
from function_script.tools.validate import rules
from function_script.values import Object, Value

_TYPES: Final = {"object": "object", "array": "list", "boolean": "true or false"}
# Every object of Kubernetes has these fields, so they are omitted.
_OMITTED: Final = ("apiVersion", "kind", "metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field: its path, its type and default, its meaning, and the messages of its rules."""

    path: str
    facts: tuple[str, ...]
    description: str
    rules: str = ""


def schema_of(crd: Object) -> Object:
    """Return the schema of a CRD's only version."""
    (version,) = manifests.objects_at(crd, "spec", "versions")
    return manifests.object_at(version, "schema", "openAPIV3Schema")


def find_fields(schema: Object, path: str = "") -> Iterator[Field]:
    """Yield the fields of an object, each before the fields below it."""
    required = schema.get("required")
    for name, field in structural_schema.properties(schema).items():
        if path or name not in _OMITTED:
            is_required = isinstance(required, list) and name in required
            at = structural_schema.at(path, name) if path else name
            yield from _describe(at, field, is_required=is_required)


def find_rules(schema: Object) -> str:
    """Return the messages of a schema's rules as one text; empty if it has none."""
    return "; ".join(str(rule["message"]) for rule in manifests.objects_at(schema, rules.RULES))


def code(value: Value) -> str:
    """Return a value as code."""
    return f"`{value}`" if isinstance(value, str) else f"`{json.dumps(value)}`"


def _describe(path: str, field: Object, *, is_required: bool) -> Iterator[Field]:
    facts = [_type(field)]
    if is_required:
        facts.append("required")
    if "default" in field:
        facts.append(f"default {code(field['default'])}")
    yield Field(
        path=path,
        facts=tuple(facts),
        description=str(field["description"]),
        rules=find_rules(field),
    )
    yield from find_fields(field, path)
    members, items = structural_schema.additional(field), structural_schema.items(field)
    if members is not None and "properties" in members:
        yield from _describe(f"{path}.*", members, is_required=False)
    if items is not None and "properties" in items:
        yield from _describe(f"{path}[]", items, is_required=False)


def _type(field: Object) -> str:
    choices = field.get("enum")
    if isinstance(choices, list):
        return " or ".join(map(code, choices))
    members, items = structural_schema.additional(field), structural_schema.items(field)
    if members is not None:
        return f"object of {_type(members)}s"
    if items is not None:
        return f"list of {_type(items)}s"
    if "type" not in field:
        return "string or integer"
    name = str(field["type"])
    return _TYPES.get(name, name)
