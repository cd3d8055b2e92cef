"""sprig's defaults, decisions and JSON: ``default``, ``empty``, ``ternary``, ``fail``, ``toJson``.

Go's empty values are the false ones in Python: see values.py. JSON functions without "must" in
their names give an empty text or nil where the others fail.
"""

import base64
import math
from contextlib import suppress
from decimal import Decimal
from typing import Final

import orjson

from function_script.documents.kubernetes_yaml import exponent_text
from function_script.engines.gotemplate import printing, values
from function_script.engines.gotemplate.errors import CallError, LimitExceededError
from function_script.engines.gotemplate.function import Accepts, FunctionTable
from function_script.engines.gotemplate.run import Run

# Outside of these bounds a float is written with an exponent.
_MIN_PLAIN: Final = 1e-6
_MAX_PLAIN: Final = 1e21


def marshal(run: Run, value: object, *, pretty: bool = False, raw: bool = False) -> str:
    """Return the JSON text; ``pretty``: indented by two; ``raw``: without escapes for HTML.

    Raises CallError for NaN, infinities and maps whose keys are not text, LimitExceededError for
    more nesting than orjson writes.
    """
    data, layout = None, orjson.OPT_INDENT_2 if pretty else 0
    if run.check_tree(value):
        # Bytes that are not UTF-8, or an integer of more than 64 bits.
        with suppress(TypeError):
            data = orjson.dumps(value, option=layout | orjson.OPT_SORT_KEYS)
    if data is None:
        try:
            data = orjson.dumps(_to_plain(value), option=layout)
        except TypeError as error:
            raise LimitExceededError("JSON has at most 254 levels") from error
    text = data.decode()
    if not text.isascii():
        text = text.replace("\u2028", r"\u2028").replace("\u2029", r"\u2029")
    if raw or not ("<" in text or ">" in text or "&" in text):
        return text
    return text.translate(_HTML)


_HTML: Final = str.maketrans({"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"})


def _to_plain(value: object) -> object:
    """Return a value in which orjson writes everything as Go does."""
    if isinstance(value, str):
        return values.whole(value)
    if isinstance(value, int):
        return value if isinstance(value, bool) else orjson.Fragment(int.__repr__(value))
    if isinstance(value, float):
        return orjson.Fragment(float_text(value))
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, values.AnyMap):
        raise CallError(f"json: unsupported type: {values.go_type(value)}")
    if isinstance(value, values.Struct):
        data = value.json()
        # The fields of a struct stay in Go's order, the keys of a map are sorted by bytes.
        if isinstance(data, dict):
            return {key: _to_plain(item) for key, item in data.items()}
        return _to_plain(data)
    if isinstance(value, dict) and not values.is_nil(value):
        items = printing.sorted_items(value)
        return {values.whole(str(key)): _to_plain(item) for key, item in items}
    if isinstance(value, list) and not values.is_nil(value):
        return list(map(_to_plain, value))
    return None


def float_text(number: float) -> str:
    """Format a float in JSON: ``1``, ``0.5``, ``1e+21``, ``1e-7``; raises CallError."""
    if not math.isfinite(number):
        raise CallError(f"json: unsupported value: {printing.float_text(number)}")
    if number and not _MIN_PLAIN <= abs(number) < _MAX_PLAIN:
        return exponent_text(number).replace("e-0", "e-")
    text = repr(number)
    # Go has an exponent for fewer numbers than Python.
    return (f"{Decimal(text):f}" if "e" in text else text).removesuffix(".0")


# Reading


def unmarshal(run: Run, text: str) -> object:
    """Return the value of a JSON text; raises CallError."""
    run.check_string(len(text))
    # Before it is read: an item takes many times the memory of its text.
    run.check_list(text.count(","))
    try:
        return _read_numbers(orjson.loads(values.whole(text)))
    except ValueError as error:
        raise CallError(f"it is not JSON: {error}") from error


def _read_numbers(value: object) -> object:
    """Return a value in which all numbers are floats, as Go reads them."""
    if type(value) is int:
        return float(value)
    if isinstance(value, list):
        return list(map(_read_numbers, value))
    if isinstance(value, dict):
        return {key: _read_numbers(item) for key, item in value.items()}
    return value


FUNCTIONS: Final = FunctionTable()


@FUNCTIONS.add("default", allocates=False, accepts=Accepts.MISSING_AND_RETURNS_IT)
def default(fallback: object, *values: object) -> object:
    """The second value, or the first where the second is empty or missing."""
    return values[0] if values and values[0] else fallback


@FUNCTIONS.add("empty", accepts=Accepts.MISSING)
def empty(value: object) -> bool:
    """True if the value is empty."""
    return not value


@FUNCTIONS.add("coalesce", allocates=False, accepts=Accepts.MISSING_AND_RETURNS_IT)
def coalesce(*values: object) -> object:
    """The first value that is not empty."""
    return next(filter(None, values), None)


@FUNCTIONS.add("all", accepts=Accepts.MISSING)
def all_(*values: object) -> bool:
    """True if no value is empty."""
    return all(values)


@FUNCTIONS.add("any", accepts=Accepts.MISSING)
def any_(*values: object) -> bool:
    """True if a value is not empty."""
    return any(values)


@FUNCTIONS.add(
    "ternary", parameters="any any bool", allocates=False, accepts=Accepts.MISSING_AND_RETURNS_IT
)
def ternary(yes: object, no: object, condition: object) -> object:
    """The first value if the third is true, or else the second."""
    return yes if condition else no


@FUNCTIONS.add("fail")
def fail(message: str) -> str:
    """Stop with this message."""
    raise CallError(message)


# JSON

WRITERS: Final = FunctionTable(accepts=Accepts.NULL)


WRITERS.add("toJson", summary="The value as JSON on one line.", on_failure="")(marshal)
WRITERS.add("mustToJson")(marshal)


@WRITERS.add("mustToPrettyJson")
@WRITERS.add("toPrettyJson", on_failure="")
def to_pretty_json(run: Run, value: object) -> str:
    """The value as JSON, indented."""
    return marshal(run, value, pretty=True)


@WRITERS.add("toRawJson", "mustToRawJson")
def to_raw_json(run: Run, value: object) -> str:
    """The value as JSON, without escapes for HTML."""
    return marshal(run, value, raw=True)


FUNCTIONS.add("fromJson", summary="The value of a JSON text.", is_lookup=True, on_failure=None)(
    unmarshal
)
FUNCTIONS.add("mustFromJson")(unmarshal)
