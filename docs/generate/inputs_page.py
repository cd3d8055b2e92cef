"""The reference page of the inputs, written from their CRDs."""

import re
from collections.abc import Iterable
from typing import Final

from function_script.request.values import Object
from function_script.tools import manifests, manual
from function_script.tools.manual import Field, code

_HEAD: Final = """\
<!-- Written by `make goldens`. -->

# Inputs

A step's `input` is an object of one of these kinds. [Common fields](#common-fields) are those that
all kinds have.

The function validates an input and sets its defaults, because the cluster does neither. An unknown
field, a wrong type or a missing field fails the step. The error has the path of every wrong field.
`function-script check` and `validate` report the same errors.

An input may be [an object of the cluster][object], which a step names by `inputRef`. A field that
is `null` counts as absent; beside `inputRef` it removes the object's field. The function also runs
`GoTemplate` of `gotemplating.fn.crossplane.io/v1beta1` with the fields of function-go-templating,
and an input of any other group that has those fields.

[object]: ../how-to/keep-programs-outside.md#the-whole-input-in-an-object
"""
_COMMON: Final = "## Common fields\n"
# The fields of a location with modules are those of the location of a program.
_OF_A_LOCATION: Final = re.compile(r"modulesFrom\[\]\.\w+\.")


def reference(crds: Iterable[Object]) -> str:
    """Return the page `docs/reference/inputs.md`: each kind, then the fields that all have."""
    kinds = [*crds]
    fields = [_describe_fields(schema_of(crd)) for crd in kinds]
    mains = [_main(crd) for crd in kinds]
    # The default file is all that differs between common fields.
    all_mains = " or ".join(map(code, filter(None, mains)))
    fields = [
        {name: text.replace(code(main), all_mains) if main else text for name, text in each.items()}
        for each, main in zip(fields, mains, strict=True)
    ]
    common = [
        name for name, text in fields[0].items() if all(each.get(name) == text for each in fields)
    ]
    sections = [
        _section(crd, "\n".join(text for name, text in each.items() if name not in common))
        for crd, each in zip(kinds, fields, strict=True)
    ]
    common_fields = (fields[0][name] for name in common)
    return "\n".join([_HEAD, *sections, _COMMON, *common_fields])


def _main(crd: Object) -> str:
    """Return the default file of a program in files; a program of several texts has none."""
    path = ("properties", "fileSystem", "properties", "main", "default")
    return manifests.text_at(schema_of(crd), *path)


def _section(crd: Object, fields: str) -> str:
    kind = manifests.text_at(crd, "spec", "names", "kind")
    group = manifests.text_at(crd, "spec", "group")
    (version,) = manifests.objects_at(crd, "spec", "versions")
    schema = schema_of(crd)
    head = f"## {kind}\n\n`{group}/{version['name']}`\n\n{schema['description']}\n"
    return f"{head}\n{fields}"


def _describe_fields(schema: Object) -> dict[str, str]:
    """Return the text of each field of the input by its path."""
    return {
        field.path: _entry(field)
        for field in manual.find_fields(schema)
        if not _OF_A_LOCATION.match(field.path)
    }


def _entry(field: Field) -> str:
    rules = f"  Rules: {field.rules}.\n" if field.rules else ""
    return f"- **`{field.path}`** ({', '.join(field.facts)})\n  {field.description}\n{rules}"


def schema_of(crd: Object) -> Object:
    """Return the schema of a CRD's only version."""
    (version,) = manifests.objects_at(crd, "spec", "versions")
    return manifests.object_at(version, "schema", "openAPIV3Schema")
