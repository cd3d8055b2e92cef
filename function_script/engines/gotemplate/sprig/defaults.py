"""sprig's defaults, decisions and JSON: ``default``, ``empty``, ``ternary``, ``fail``, ``toJson``.

Go's empty values are the false ones in Python: see values.py. JSON functions without "must" in
their names give an empty text or nil where the others fail.
"""

from typing import Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Accepts, Allocator, FunctionTable, Injects
from function_script.engines.gotemplate.sprig import go_json

FUNCTIONS: Final = FunctionTable()


@FUNCTIONS.add(
    "default", parameters="any any...", allocates=False, accepts=Accepts.MISSING_AND_RETURNS_IT
)
def default(fallback: object, *values: object) -> object:
    """The second value, or the first where the second is empty or missing."""
    return values[0] if values and values[0] else fallback


@FUNCTIONS.add("empty", parameters="any", returns="bool", accepts=Accepts.MISSING)
def empty(value: object) -> bool:
    """True if the value is empty."""
    return not value


@FUNCTIONS.add(
    "coalesce", parameters="any...", allocates=False, accepts=Accepts.MISSING_AND_RETURNS_IT
)
def coalesce(*values: object) -> object:
    """The first value that is not empty."""
    return next(filter(None, values), None)


@FUNCTIONS.add("all", parameters="any...", returns="bool", accepts=Accepts.MISSING)
def all_(*values: object) -> bool:
    """True if no value is empty."""
    return all(values)


@FUNCTIONS.add("any", parameters="any...", returns="bool", accepts=Accepts.MISSING)
def any_(*values: object) -> bool:
    """True if a value is not empty."""
    return any(values)


@FUNCTIONS.add(
    "ternary", parameters="any any bool", allocates=False, accepts=Accepts.MISSING_AND_RETURNS_IT
)
def ternary(yes: object, no: object, condition: object) -> object:
    """The first value if the third is true, or else the second."""
    return yes if condition else no


@FUNCTIONS.add("fail", parameters="string", returns="string")
def fail(message: str) -> str:
    """Stop with this message."""
    raise CallError(message)


# JSON


@FUNCTIONS.add(
    "toJson", parameters="any", injects=Injects.ALLOCATOR, returns="string", accepts=Accepts.NULL
)
def to_json(allocator: Allocator, value: object) -> str:
    """The value as JSON on one line."""
    return _marshal_or_empty(allocator, value)


@FUNCTIONS.add(
    "toPrettyJson",
    parameters="any",
    injects=Injects.ALLOCATOR,
    returns="string",
    accepts=Accepts.NULL,
)
def to_pretty_json(allocator: Allocator, value: object) -> str:
    """The value as JSON, indented."""
    return _marshal_or_empty(allocator, value, pretty=True)


@FUNCTIONS.add(
    "toRawJson", parameters="any", injects=Injects.ALLOCATOR, returns="string", accepts=Accepts.NULL
)
def to_raw_json(allocator: Allocator, value: object) -> str:
    """The value as JSON, without escapes for HTML."""
    return _must_marshal(allocator, value, raw=True)


@FUNCTIONS.add(
    "mustToJson",
    parameters="any",
    injects=Injects.ALLOCATOR,
    returns="string",
    accepts=Accepts.NULL,
)
def must_to_json(allocator: Allocator, value: object) -> str:
    """Raise CallError where toJson gives an empty text."""
    return _must_marshal(allocator, value)


@FUNCTIONS.add(
    "mustToPrettyJson",
    parameters="any",
    injects=Injects.ALLOCATOR,
    returns="string",
    accepts=Accepts.NULL,
)
def must_to_pretty_json(allocator: Allocator, value: object) -> str:
    """Raise CallError where toPrettyJson gives an empty text."""
    return _must_marshal(allocator, value, pretty=True)


def _marshal_or_empty(allocator: Allocator, value: object, *, pretty: bool = False) -> str:
    try:
        return _marshal(allocator, value, pretty=pretty)
    except go_json.NotJsonError:
        return ""


def _must_marshal(
    allocator: Allocator, value: object, *, pretty: bool = False, raw: bool = False
) -> str:
    try:
        return _marshal(allocator, value, pretty=pretty, raw=raw)
    except go_json.NotJsonError as error:
        raise CallError(str(error)) from error


def _marshal(
    allocator: Allocator, value: object, *, pretty: bool = False, raw: bool = False
) -> str:
    if allocator.check_tree(value) and not pretty:
        return go_json.marshal_plain(value, raw=raw)
    return go_json.marshal(value, pretty=pretty, raw=raw)


FUNCTIONS.add(
    "mustToRawJson",
    parameters="any",
    injects=Injects.ALLOCATOR,
    returns="string",
    accepts=Accepts.NULL,
)(to_raw_json)


@FUNCTIONS.add("fromJson", parameters="string", injects=Injects.ALLOCATOR, is_lookup=True)
def from_json(allocator: Allocator, text: str) -> object:
    """The value of a JSON text."""
    try:
        return go_json.unmarshal(allocator, text)
    except go_json.BadJsonError as error:
        return error.value


@FUNCTIONS.add("mustFromJson", parameters="string", injects=Injects.ALLOCATOR)
def must_from_json(allocator: Allocator, text: str) -> object:
    """Raise CallError where fromJson gives nil."""
    try:
        return go_json.unmarshal(allocator, text)
    except go_json.BadJsonError as error:
        raise CallError(str(error)) from error
