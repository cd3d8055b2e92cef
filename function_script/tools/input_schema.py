"""Validation of inputs, ours and those of other functions, with jsonschema.

The parsers of `inputs` and the CRDs agree; the parsers' messages come first, so this finds a
problem only where the two differ. Rules in CEL are not evaluated: the parsers enforce them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from function_script.request import objects
from function_script.request.values import Object, Value
from function_script.texts import spelling
from function_script.texts.problems import Problem
from function_script.texts.source import Source
from function_script.tools import manifests, sources, structural_schema

if TYPE_CHECKING:
    from jsonschema import ValidationError


# A path: importlib.resources takes 10 ms to import.
_PACKAGE: Final = Path(__file__).parents[1]
# Fields that a later version than the released one has.
_UNRELEASED: Final = "x-unreleased"
_DESCRIPTIONS: Final = {
    "type": "must be of type {}",
    structural_schema.INT_OR_STRING: "must be an integer or a string",
    "anyOf": "must match one of the alternatives",
    "allOf": "must match all parts",
    "maxLength": "must have at most {} characters",
    "minLength": "must have at least {} characters",
    "pattern": "must match {}",
    "minimum": "must be at least {}",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
    "enum": "must be one of {}",
    "minProperties": "must have at least {} fields",
    "maxProperties": "must have at most {} fields",
    "required": "is required",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One keyword of a schema that a value violates.

    ``path`` leads to the value, ``expected`` is the keyword's own value. For `allOf`, ``expected``
    is the number of parts that the value matches.
    """

    path: str
    keyword: str
    value: Value
    expected: Value

    @property
    def text(self) -> str:
        """The problem in words, without the path."""
        if self.keyword.startswith("min") and self.keyword != "minimum" and self.expected == 1:
            return "must not be empty"
        if self.keyword == "type" and type(self.value) is int and self.expected == "integer":
            return "must be an integer of at most 53 bits"
        expected = self.expected
        listed = ", ".join(map(str, expected)) if isinstance(expected, list) else expected
        return _DESCRIPTIONS[self.keyword].format(listed)


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
    unknown = sorted(structural_schema.unknown_fields(copy, schema))
    return [
        *(Problem(violation.path, violation.text) for violation in find_violations(copy, schema)),
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


def find_violations(value: Object, schema: Object) -> list[Violation]:
    """Return what violates ``schema``, an object's fields in their order, without duplicates.

    Defaults are filled in and nulls dropped before, as the API server does it. Fields that the
    schema does not define are not reported.
    """
    from function_script.tools.crd_validator import CrdValidator  # noqa: PLC0415 - slow

    errors: Iterable[ValidationError] = CrdValidator(schema).iter_errors(value)
    violations: list[Violation] = []
    for error in errors:
        violation = _to_violation(error)
        if violation not in violations:
            violations.append(violation)
    return violations


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


def _to_violation(error: ValidationError) -> Violation:
    path = ""
    for key in error.absolute_path:
        path = structural_schema.at(path, key)
    value, expected = cast("Value", error.instance), cast("Value", error.validator_value)
    return Violation(path=path, keyword=str(error.validator), value=value, expected=expected)
