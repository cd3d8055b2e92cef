"""JSON and YAML, both ways. YAML is read as Kubernetes reads it, and written to be read so."""

from __future__ import annotations

import orjson

from function_script.engines.library.function import Group
from function_script.values import MAX_SAFE_INTEGER, Value


def to_json(value: Value) -> str:
    """Compact JSON with sorted keys."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def to_pretty_json(value: Value) -> str:
    """JSON with sorted keys, indented by two blanks."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2).decode()


def from_json(text: str) -> Value:
    """The value a JSON text stands for; whole numbers are integers."""
    try:
        return _whole_numbers(orjson.loads(text))
    except orjson.JSONDecodeError as error:
        raise ValueError(f"the text is no JSON: {error}") from error


def _whole_numbers(value: Value) -> Value:
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole_numbers(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_SAFE_INTEGER:
        return int(value)
    return value


_GROUP = Group(name="formats")
FUNCTIONS = (
    _GROUP.filter(to_json, example='to_json({"b": 1, "a": [2]})', result='{"a":[2],"b":1}'),
    _GROUP.filter(to_pretty_json, example='to_pretty_json({"a": 1})', result='{\n  "a": 1\n}'),
    _GROUP.filter(from_json, example='from_json("{\\"a\\": 1.0}")', result={"a": 1}),
)
