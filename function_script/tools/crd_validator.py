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

# Larger integers lose digits in JSON.
_MAX_INTEGER: Final = (1 << 53) - 1

# The stubs lack `is_type`, which keyword functions call by jsonschema's own convention.
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


def _pattern(
    _validator: _Validator, pattern: str, value: Value, _schema: Object
) -> Iterator[ValidationError]:
    if isinstance(value, str) and not formats.is_match(pattern, value):
        yield ValidationError("")


def _required(
    _validator: _Validator, names: list[str], value: Value, _schema: Object
) -> Iterator[ValidationError]:
    """Yield an error at the path of each missing field."""
    if isinstance(value, dict):
        yield from (ValidationError("", path=[name]) for name in names if name not in value)


_CHECKS: Final[dict[str, _Validator]] = {
    **Draft7Validator.VALIDATORS,
    structural_schema.INT_OR_STRING: _int_or_string,
    "pattern": _pattern,
    "required": _required,
}
CrdValidator = validators.create(
    Draft7Validator.META_SCHEMA,
    _CHECKS,
    type_checker=Draft7Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)
