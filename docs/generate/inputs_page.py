"""The reference page of the inputs, written from their CRDs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from function_script.tools import manifests, structural_schema
from function_script.tools.validate import rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from function_script.values import Object, Value

_HEAD: Final = """\
<!-- Written by `make goldens`. -->

# Inputs

A step's `input` is an object of one of these kinds. Nothing in a cluster checks or defaults it
before it reaches the function, so the function does both itself: an unknown field, a wrong type or
a missing field stops the step, with the path of every field that is wrong.
`function-script validate` tells the same before anything is applied.

A field that is `null` counts as absent. Besides these kinds the function runs `GoTemplate` of
`gotemplating.fn.crossplane.io/v1beta1` with the fields of function-go-templating, and whatever else
has those fields, in any group. Programs in registries or repositories (`source: Remote`) are not
supported yet; an input that asks for one is an error.
"""
_TYPES: Final = {"object": "object", "array": "list", "boolean": "true or false"}
# Every object of Kubernetes has these fields, so the page omits them.
_OMITTED: Final = ("apiVersion", "kind", "metadata")


def reference(crds: Iterable[Object]) -> str:
    """Return the page `docs/reference/inputs.md`."""
    return "\n".join([_HEAD, *map(_section, crds)])


def _section(crd: Object) -> str:
    kind = manifests.text_at(crd, "spec", "names", "kind")
    group = manifests.text_at(crd, "spec", "group")
    (version,) = manifests.objects_at(crd, "spec", "versions")
    schema = manifests.object_at(version, "schema", "openAPIV3Schema")
    head = f"## {kind}\n\n`{group}/{version['name']}`\n\n{schema['description']}\n"
    rule_lines = (f"Rules: {text}.\n" for text in _rules(schema))
    return "\n".join([head, *_entries(schema, ""), *rule_lines])


def _entries(schema: Object, path: str) -> Iterator[str]:
    required = schema.get("required")
    for name, field in structural_schema.properties(schema).items():
        if path or name not in _OMITTED:
            is_required = isinstance(required, list) and name in required
            yield from _entry(structural_schema.at(path, name), field, is_required=is_required)


def _entry(path: str, field: Object, *, is_required: bool) -> Iterator[str]:
    facts = [_type(field)]
    if is_required:
        facts.append("required")
    if "default" in field:
        facts.append(f"default {_code(field['default'])}")
    rules_ = "".join(f"  Rules: {text}.\n" for text in _rules(field))
    yield f"- **`{path}`** · {' · '.join(facts)}\n  {field['description']}\n{rules_}"
    yield from _entries(field, path)
    members, items = structural_schema.additional(field), structural_schema.items(field)
    if members is not None and "properties" in members:
        yield from _entry(f"{path}.*", members, is_required=False)
    if items is not None and "properties" in items:
        yield from _entry(f"{path}[]", items, is_required=False)


def _type(field: Object) -> str:
    choices = field.get("enum")
    if isinstance(choices, list):
        return " or ".join(map(_code, choices))
    members, items = structural_schema.additional(field), structural_schema.items(field)
    if members is not None:
        return f"object of {_type(members)}s"
    if items is not None:
        return f"list of {_type(items)}s"
    if "type" not in field:
        return "string or integer"
    name = str(field["type"])
    return _TYPES.get(name, name)


def _rules(schema: Object) -> Iterator[str]:
    """Yield the messages of a schema's rules as one text, or nothing."""
    messages = [str(rule["message"]) for rule in manifests.objects_at(schema, rules.RULES)]
    if messages:
        yield "; ".join(messages)


def _code(value: Value) -> str:
    return f"`{value}`" if isinstance(value, str) else f"`{json.dumps(value)}`"
