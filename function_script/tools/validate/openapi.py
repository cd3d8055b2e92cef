"""An object against a CRD's OpenAPI schema, with messages as the Kubernetes API server words them.

The schema is used as it is: as JSON Schema draft 4, whose keywords it shares, with Kubernetes'
own ideas of types, patterns and formats in place of the draft's.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, cast

from jsonschema import Draft4Validator, validators
from jsonschema.exceptions import ValidationError

from function_script.engines.library import regex
from function_script.tools import schemas
from function_script.tools.validate import formats
from function_script.tools.validate.findings import Problem
from function_script.values import type_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema.protocols import Validator

    from function_script.values import Object, Value

_INT_OR_STRING: Final = "x-kubernetes-int-or-string"
_SHOWN_CHARACTERS: Final = 100


def problems(value: Object, schema: Object) -> list[Problem]:
    """Everything in ``value`` that ``schema`` does not allow, in the order of its fields."""
    found = [_problem(error) for error in _VALIDATOR(schema).iter_errors(value) if _counts(error)]
    return sorted(found, key=lambda problem: (problem.field, problem.message))


def _counts(error: ValidationError) -> bool:
    """The choice of integer or string is written as anyOf too: one problem is enough."""
    return error.validator != "anyOf" or _INT_OR_STRING not in _schema_of(error)


def _schema_of(error: ValidationError) -> Object:
    return error.schema if isinstance(error.schema, dict) else {}


def _problem(error: ValidationError) -> Problem:
    path = ""
    for part in error.absolute_path:
        path = schemas.at(path, part)
    value = cast("Value", error.instance)
    if error.validator == "required":
        field = schemas.at(path, error.message)
        return Problem(type="schema", field=field, message=f"{field}: Required value")
    return Problem(
        type="schema", field=path, value=value, message=f"{path or '<root>'}: {_text(error, path)}"
    )


def _text(error: ValidationError, path: str) -> str:
    value = cast("Value", error.instance)
    if error.validator == "enum":
        allowed = ", ".join(map(_shown, cast("list[Value]", error.validator_value)))
        return f"Unsupported value: {_shown(value)}: supported values: {allowed}"
    if error.validator in {"type", _INT_OR_STRING, "format"}:
        shown = _shown(value) if error.validator == "format" else f'"{_type(value)}"'
        return f"Invalid value: {shown}: {path} in body must be of type {error.message}: {shown}"
    return f"Invalid value: {_shown(value)}: {path} in body {_rule(error)}"


def _rule(error: ValidationError) -> str:
    """What the keyword asks for, as a sentence that began with the field."""
    limit, schema = error.validator_value, _schema_of(error)
    than = {True: "", False: "or equal to "}
    match error.validator:
        case "minimum":
            return f"should be greater than {than[bool(schema.get('exclusiveMinimum'))]}{limit}"
        case "maximum":
            return f"should be less than {than[bool(schema.get('exclusiveMaximum'))]}{limit}"
        case "pattern":
            return error.message
        case "oneOf":
            return "must validate one and only one schema (oneOf)"
        case "anyOf":
            return "must validate at least one schema (anyOf)"
        case "not":
            return "must not validate the schema (not)"
        case keyword:
            return _BOUNDS.get(str(keyword), "{0}").format(limit)


_BOUNDS: Final = {
    "maxLength": "should be at most {0} chars long",
    "minLength": "should be at least {0} chars long",
    "maxItems": "should have at most {0} items",
    "minItems": "should have at least {0} items",
    "maxProperties": "should have at most {0} properties",
    "minProperties": "should have at least {0} properties",
    "multipleOf": "should be a multiple of {0}",
    "uniqueItems": "shouldn't contain duplicates",
    "additionalProperties": "has fields that are not allowed",
}


def _shown(value: Value) -> str:
    if isinstance(value, (dict, list)):
        return f'"{_type(value)}"'
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _type(value: Value) -> str:
    return {"list": "array"}.get(type_name(value), type_name(value))


def _check_type(
    validator: Validator, expected: Value, value: Value, schema: Object
) -> Iterator[ValidationError]:
    is_absent = value is None and schema.get("nullable") is True
    if not is_absent and not validator.is_type(value, str(expected)):
        yield ValidationError(str(expected))


def _check_int_or_string(
    _validator: Validator, is_asked: Value, value: Value, schema: Object
) -> Iterator[ValidationError]:
    fits = isinstance(value, str) or _is_integer(None, value)
    if is_asked is True and not fits and not (value is None and schema.get("nullable") is True):
        yield ValidationError("integer or string")


def _check_required(
    _validator: Validator, names: Value, value: Value, _schema: Object
) -> Iterator[ValidationError]:
    if isinstance(value, dict) and isinstance(names, list):
        for name in names:
            if name not in value:
                yield ValidationError(str(name), validator="required")


def _check_embedded(
    validator: Validator, is_asked: Value, value: Value, schema: Object
) -> Iterator[ValidationError]:
    if is_asked is True:
        yield from _check_required(validator, ["apiVersion", "kind"], value, schema)


def _check_pattern(
    _validator: Validator, pattern: Value, value: Value, _schema: Object
) -> Iterator[ValidationError]:
    if isinstance(value, str) and isinstance(pattern, str) and not _matches(pattern, value):
        yield ValidationError(f"should match '{pattern}'")


def _matches(pattern: str, text: str) -> bool:
    """Go's regular expressions; Python's for patterns longer than the library takes."""
    try:
        return regex.compiled(pattern).search(text) is not None
    except ValueError:
        return re.search(pattern, text) is not None


def _check_format(
    _validator: Validator, name: Value, value: Value, _schema: Object
) -> Iterator[ValidationError]:
    if isinstance(name, str) and not formats.is_valid(value, name):
        yield ValidationError(name)


def _is_integer(_checker: object, value: object) -> bool:
    """Numbers without a fraction are integers, however they are written."""
    is_whole = isinstance(value, float) and value.is_integer()
    return is_whole or (isinstance(value, int) and not isinstance(value, bool))


_VALIDATOR: Final = validators.extend(  # type: ignore[no-untyped-call] # the stubs lack types
    Draft4Validator,
    {
        "type": _check_type,
        "required": _check_required,
        "pattern": _check_pattern,
        "format": _check_format,
        _INT_OR_STRING: _check_int_or_string,
        schemas.EMBEDDED: _check_embedded,
    },
    type_checker=Draft4Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)
