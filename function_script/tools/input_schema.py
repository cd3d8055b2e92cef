"""Validation of inputs, ours and those of other functions, with jsonschema.

The parsers of `inputs` and the CRDs agree; the parsers' messages come first, so this finds a
problem only where the two differ. Rules in CEL are not evaluated: the parsers enforce them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from function_script.request import objects
from function_script.request.reader import format_path
from function_script.request.values import Object
from function_script.texts import spelling
from function_script.texts.problems import Problem
from function_script.tools import structural_schema
from function_script.tools.validate.catalog import INPUTS, read_schemas

if TYPE_CHECKING:
    from jsonschema import ValidationError


_OTHERS: Final = Path(__file__).parent / "render" / "builtin" / "inputs"
# Fields that a later version than the released one has.
_UNRELEASED: Final = "x-unreleased"
_DESCRIPTIONS: Final = {
    "type": "must be of type {}",
    structural_schema.INT_OR_STRING: "must be an integer or a string",
    "anyOf": "must match one of the alternatives",
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


def find_schema(value: Object) -> Object | None:
    """Return the schema of an input, ours or another function's; None for other objects."""
    key = objects.api_version_and_kind(value)
    return read_schemas(INPUTS).get(key) or read_schemas(_OTHERS).get(key)


def check(value: Object) -> list[Problem]:
    """Return everything that an input's schema does not allow.

    ``value`` is not changed. An object without a schema here has no problems.
    """
    return [*_check(json.dumps(value))]


# A command runs a pipeline for many XRs, each time with the same inputs.
@lru_cache(maxsize=64)
def _check(text: str) -> tuple[Problem, ...]:
    value: Object = json.loads(text)
    schema = read_schemas(INPUTS).get(objects.api_version_and_kind(value))
    if schema is not None:
        return (*_check_against(value, schema),)
    return (*check_other(value, objects.api_version_and_kind(value)[0]),)


def check_other(value: Object, api_version: str) -> list[Problem]:
    """Return everything that the schema of another function's input does not allow.

    The functions decode an input without a look at its apiVersion and kind.
    """
    others = read_schemas(_OTHERS).items()
    schema = next((each for key, each in others if key[0] == api_version), None)
    if schema is None:
        return []
    return [*_check_against(value, schema), *find_metadata_problems(value)]


def find_metadata_problems(value: Object) -> list[Problem]:
    """Return what another function cannot decode of its input's metadata."""
    from function_script.tools.render.builtin import decoding  # noqa: PLC0415 - only they need it
    from function_script.tools.validate import builtin  # noqa: PLC0415 - as above

    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        # Another type is a violation of the schema.
        return []
    schema = builtin.metadata_schema()
    unknown = structural_schema.unknown_fields(metadata, schema, "metadata")
    return [
        *decoding.find_problems(metadata, schema, "metadata", is_json=True),
        *(Problem(at, "unknown field") for at, _ in unknown),
    ]


def _check_against(value: Object, schema: Object) -> list[Problem]:
    from function_script.tools.crd_validator import CrdValidator  # noqa: PLC0415 - slow

    # As the API server does it before it validates.
    copy = structural_schema.complete(value, schema)
    errors: Iterable[ValidationError] = CrdValidator(schema).iter_errors(copy)
    violations = (
        Problem(format_path(each.absolute_path), _describe(str(each.validator), each))
        for each in errors
    )
    unknown = structural_schema.unknown_fields(copy, schema)
    return [
        *dict.fromkeys(violations),
        *(Problem(path, "unknown field", _explain(path, name, schema)) for path, name in unknown),
    ]


def _describe(keyword: str, error: ValidationError) -> str:
    """Return what a value must be by a keyword of its schema."""
    expected = error.validator_value
    if keyword.startswith("min") and keyword != "minimum" and expected == 1:
        return "must not be empty"
    if keyword == "type" and type(error.instance) is int and expected == "integer":
        return "must be an integer of at most 53 bits"
    listed = ", ".join(map(str, expected)) if isinstance(expected, list) else expected
    return _DESCRIPTIONS[keyword].format(listed)


def _explain(path: str, name: str, schema: Object) -> str | None:
    """Return the hint for a field that a schema does not have."""
    parent = structural_schema.find(schema, objects.read_path(path)[:-1]) or {}
    unreleased = parent.get(_UNRELEASED)
    if isinstance(unreleased, list) and name in unreleased:
        return "no release of the function has it, only its main branch"
    near = spelling.nearest(name, tuple(structural_schema.properties(parent)))
    return f'did you mean "{near}"?' if near else None
