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

A step's `input` is an object of one of these kinds. [Common fields](#common-fields) are those that
all kinds have.

The cluster neither validates an input nor sets its defaults, so the function does both. An unknown
field, a wrong type or a missing field fails the step. The error has the path of every wrong field.
`function-script validate` reports the same errors before you apply anything.

A field that is `null` counts as absent. The function also runs `GoTemplate` of
`gotemplating.fn.crossplane.io/v1beta1` with the fields of function-go-templating, and an input of
any other group that has those fields. Programs in registries or repositories (`source: Remote`) are
not supported yet; such an input is an error.
"""
_COMMON: Final = "## Common fields\n"
_PROGRAM: Final = "`script` or `inline` "
_TYPES: Final = {"object": "object", "array": "list", "boolean": "true or false"}
# Every object of Kubernetes has these fields, so the page omits them.
_OMITTED: Final = ("apiVersion", "kind", "metadata")


def reference(crds: Iterable[Object]) -> str:
    """Return the page `docs/reference/inputs.md`: each kind, then the fields that all have."""
    kinds = [*crds]
    fields = [_describe_fields(_schema(crd)) for crd in kinds]
    mains = [_main(crd) for crd in kinds]
    # The default file is all that differs between common fields.
    all_mains = " or ".join(map(_code, mains))
    fields = [
        {name: text.replace(_code(main), all_mains) for name, text in each.items()}
        for each, main in zip(fields, mains, strict=True)
    ]
    common = [
        name for name, text in fields[0].items() if all(each.get(name) == text for each in fields)
    ]
    sections = [
        _section(crd, "\n".join(text for name, text in each.items() if name not in common))
        for crd, each in zip(kinds, fields, strict=True)
    ]
    # Every kind has the same rules, apart from the name of the field with the program.
    (rule_text,) = {
        rule.replace(f"{next(name for name in each if name not in common)} ", _PROGRAM)
        for crd, each in zip(kinds, fields, strict=True)
        for rule in _rules(_schema(crd))
    }
    common_fields = (fields[0][name] for name in common)
    return "\n".join([_HEAD, *sections, _COMMON, *common_fields, f"Rules: {rule_text}.\n"])


def _schema(crd: Object) -> Object:
    (version,) = manifests.objects_at(crd, "spec", "versions")
    return manifests.object_at(version, "schema", "openAPIV3Schema")


def _main(crd: Object) -> str:
    """Return the default file of a program in files."""
    field = structural_schema.properties(_schema(crd))["fileSystem"]
    return str(structural_schema.properties(field)["main"]["default"])


def _section(crd: Object, fields: str) -> str:
    kind = manifests.text_at(crd, "spec", "names", "kind")
    group = manifests.text_at(crd, "spec", "group")
    (version,) = manifests.objects_at(crd, "spec", "versions")
    schema = _schema(crd)
    head = f"## {kind}\n\n`{group}/{version['name']}`\n\n{schema['description']}\n"
    return f"{head}\n{fields}"


def _describe_fields(schema: Object) -> dict[str, str]:
    """Return the text of each field of the input, with the fields below it."""
    required = schema.get("required")
    return {
        name: "\n".join(
            _entry(name, field, is_required=isinstance(required, list) and name in required)
        )
        for name, field in structural_schema.properties(schema).items()
        if name not in _OMITTED
    }


def _entries(schema: Object, path: str) -> Iterator[str]:
    required = schema.get("required")
    for name, field in structural_schema.properties(schema).items():
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
