"""Validation of inputs, ours and those of other functions, in the words of `check` and `render`.

The parsers of `inputs` and the CRDs agree; the parsers' messages come first, so this finds a
problem only where the two differ. Rules in CEL are not evaluated: the parsers enforce them.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from function_script.request import objects
from function_script.request.values import Object
from function_script.texts import spelling
from function_script.texts.problems import Problem
from function_script.texts.source import Source
from function_script.tools import manifests, sources, structural_schema
from function_script.tools.validate import openapi

# A path: importlib.resources takes 10 ms to import.
_PACKAGE: Final = Path(__file__).parents[1]
# Fields that a later version than the released one has.
_UNRELEASED: Final = "x-unreleased"


def find_schema(value: Object) -> Object | None:
    """Return the schema of an input, ours or another function's; None for other objects."""
    key = objects.api_version_and_kind(value)
    return schemas().get(key) or other_schemas().get(key)


def check(value: Object) -> list[Problem]:
    """Return everything that an input's schema does not allow.

    ``value`` is not changed. An object without a schema here has no problems.
    """
    return [*_check(json.dumps(value))]


# A command runs a pipeline for many XRs, each time with the same inputs.
@lru_cache(maxsize=64)
def _check(text: str) -> tuple[Problem, ...]:
    value: Object = json.loads(text)
    schema = schemas().get(objects.api_version_and_kind(value))
    if schema is not None:
        return (*_check_against(value, schema),)
    return (*check_other(value, objects.api_version_and_kind(value)[0]),)


def check_other(value: Object, api_version: str) -> list[Problem]:
    """Return everything that the schema of another function's input does not allow.

    The functions decode an input without a look at its apiVersion and kind.
    """
    schema = next((part for key, part in other_schemas().items() if key[0] == api_version), None)
    if schema is None:
        return []
    return [*_check_against(value, schema), *find_metadata_problems(value)]


def find_metadata_problems(value: Object) -> list[Problem]:
    """Return what another function cannot decode of its input's metadata."""
    from function_script.tools.render.builtin import decoding  # noqa: PLC0415 - only they need it

    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        # Another type is a violation of the schema.
        return []
    return decoding.find_problems(metadata, "ObjectMeta", "metadata", is_strict=True)


def _check_against(value: Object, schema: Object) -> list[Problem]:
    copy: Object = {key: objects.deep_copy(part) for key, part in value.items()}
    structural_schema.add_defaults(copy, schema)
    structural_schema.drop_nulls(copy, schema)
    problems, _ = openapi.check(copy, schema)
    unknown = sorted(structural_schema.unknown_fields(copy, schema))
    return [
        *(Problem(each.path, each.words) for each in problems if each.words),
        *(Problem(path, "unknown field", _explain(path, name, schema)) for path, name in unknown),
    ]


def _explain(path: str, name: str, schema: Object) -> str | None:
    """Return the hint for a field that a schema does not have."""
    parent = structural_schema.find(schema, objects.read_path(path)[:-1]) or {}
    unreleased = parent.get(_UNRELEASED)
    if isinstance(unreleased, list) and name in unreleased:
        return "no release of the function has it, only its main branch"
    near = spelling.nearest(name, tuple(structural_schema.properties(parent)))
    return f'did you mean "{near}"?' if near else None


@cache
def schemas() -> dict[tuple[str, str], Object]:
    """Read the schemas of our CRDs, by apiVersion and kind."""
    return _read(_PACKAGE / "input_crds")


@cache
def other_schemas() -> dict[tuple[str, str], Object]:
    """Read the schemas of other functions' inputs, by apiVersion and kind."""
    return _read(_PACKAGE / "tools" / "render" / "builtin" / "inputs")


def _read(folder: Path) -> dict[tuple[str, str], Object]:
    by_kind: dict[tuple[str, str], Object] = {}
    for file in folder.iterdir():
        source = Source(name=file.name, text=file.read_text("utf-8"))
        for document in sources.read(source):
            # Another function has the spec of its CRD alone.
            spec = manifests.object_at(document.value, "spec") or document.value
            kind = manifests.text_at(spec, "names", "kind")
            for version in manifests.objects_at(spec, "versions"):
                api_version = f"{spec.get('group')}/{version.get('name')}"
                schema = manifests.object_at(version, "schema", "openAPIV3Schema")
                by_kind[api_version, kind] = schema
    return by_kind
