"""A jsonschema validator for the keywords that our CRDs use, as the API server understands them.

It differs from JSON Schema in integers, patterns (RE2) and `x-kubernetes-int-or-string`. Import it
only where an input is validated: jsonschema takes a tenth of a second to import.
"""

from collections.abc import Iterator
from typing import Any, Final

from jsonschema import Draft7Validator, ValidationError, validators

from function_script.request.values import Object, Value
from function_script.tools import structural_schema
from function_script.tools.validate import formats

# The keywords of our CRDs, in the order in which the API server checks them.
_KEYWORDS: Final = (
    *(
        "type",
        structural_schema.INT_OR_STRING,
        "anyOf",
        "allOf",
        "maxLength",
        "minLength",
        "pattern",
        "minimum",
    ),
    "items",
    *("minItems", "maxItems", "enum", "minProperties", "maxProperties", "additionalProperties"),
    *("properties", "required"),
)
# Larger integers lose digits in JSON.
_MAX_INTEGER: Final = (1 << 53) - 1

# The stubs lack `descend`, which keyword functions call by jsonschema's own convention.
_Validator = Any  # type: ignore[explicit-any] # see above


def _is_integer(_checker: object, value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) <= _MAX_INTEGER and value == int(value)


def _int_or_string(
    validator: _Validator, _flag: object, value: Value, _schema: Object
) -> Iterator[ValidationError]:
    if not isinstance(value, str) and not validator.is_type(value, "integer"):
        yield ValidationError("")


def _all_of(
    validator: _Validator, parts: list[Object], value: Value, _schema: Object
) -> Iterator[ValidationError]:
    """Yield the errors of all parts, then one for them all."""
    errors = [error for part in parts for error in validator.descend(value, part)]
    yield from errors
    if errors:
        yield ValidationError("")


def _any_of(
    validator: _Validator, parts: list[Object], value: Value, _schema: Object
) -> Iterator[ValidationError]:
    """Yield an error, then those of the first alternative."""
    alternatives = [list(validator.descend(value, part)) for part in parts]
    if all(alternatives):
        yield ValidationError("")
        yield from alternatives[0]


def _pattern(
    validator: _Validator, pattern: str, value: Value, schema: Object
) -> Iterator[ValidationError]:
    """Yield an error unless the length is wrong too: the API server then reports only that."""
    if isinstance(value, str) and not formats.is_match(pattern, value):
        length = {key: schema[key] for key in ("maxLength", "minLength") if key in schema}
        if validator.evolve(schema=length).is_valid(value):
            yield ValidationError("")


def _required(
    _validator: _Validator, names: list[str], value: Value, _schema: Object
) -> Iterator[ValidationError]:
    """Yield an error at the path of each missing field."""
    if isinstance(value, dict):
        yield from (ValidationError("", path=[name]) for name in names if name not in value)


def _properties(
    validator: _Validator, fields: dict[str, Object], value: Value, _schema: Object
) -> Iterator[ValidationError]:
    """Yield the errors of fields in the order of their names."""
    if isinstance(value, dict):
        for name in sorted(fields.keys() & value.keys()):
            yield from validator.descend(value[name], fields[name], path=name)


def _additional(
    validator: _Validator, below: Object, value: Value, schema: Object
) -> Iterator[ValidationError]:
    if isinstance(value, dict):
        for name in sorted(value.keys() - structural_schema.properties(schema).keys()):
            yield from validator.descend(value[name], below, path=name)


def _in_order(schema: Object) -> list[tuple[str, Value]]:
    return [(keyword, schema[keyword]) for keyword in _KEYWORDS if keyword in schema]


_CHECKS: Final[dict[str, _Validator]] = {
    **Draft7Validator.VALIDATORS,
    structural_schema.INT_OR_STRING: _int_or_string,
    "allOf": _all_of,
    "anyOf": _any_of,
    "pattern": _pattern,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional,
}
CrdValidator = validators.create(
    Draft7Validator.META_SCHEMA,
    _CHECKS,
    type_checker=Draft7Validator.TYPE_CHECKER.redefine("integer", _is_integer),
    applicable_validators=_in_order,  # type: ignore[arg-type] # the stubs want functions for values
)
