"""JSON and YAML, both ways. YAML is read as Kubernetes reads it, and written to be read so."""

from typing import Final

import orjson

from function_script import documents
from function_script.engines.library.function import Group
from function_script.request import objects
from function_script.request.values import Value
from function_script.texts.errors import FatalError

GROUP: Final = Group(
    name="formats",
    summary="JSON and YAML, both ways. YAML is read as Kubernetes reads it, and written to be read "
    "so.",
)


@GROUP.filter(example='to_json({"b": 1, "a": [2]})', result='{"a":[2],"b":1}')
def to_json(value: Value) -> str:
    """Compact JSON with sorted keys, which is YAML, too."""
    return documents.to_flow_yaml(orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode())


@GROUP.filter(example='to_pretty_json({"a": 1})', result='{\n  "a": 1\n}')
def to_pretty_json(value: Value) -> str:
    """JSON with sorted keys, indented by two blanks, which is YAML, too."""
    options = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2
    return documents.to_flow_yaml(orjson.dumps(value, option=options).decode())


@GROUP.filter(example='from_json("{\\"a\\": 1.0}")', result={"a": 1})
def from_json(text: str) -> Value:
    """The value of a JSON text; whole numbers are integers."""
    try:
        return objects.with_integers(orjson.loads(text))
    except orjson.JSONDecodeError as error:
        raise ValueError(f"invalid JSON: {error}") from error


@GROUP.filter(example='to_yaml({"b": ["x"], "a": "yes"})', result='a: "yes"\nb:\n- x')
def to_yaml(value: Value) -> str:
    """YAML with sorted keys, without a line break at the end: to be indented and filled in."""
    text = documents.to_yaml(value)
    # The last of several breaks belongs to the value: a block that keeps them all ends in it.
    return text if text.endswith("\n\n") else text.removesuffix("\n")


@GROUP.filter(example='from_yaml("a: [yes, 0x10]")', result={"a": [True, 16]})
def from_yaml(text: str) -> Value:
    """The value of a text of one YAML document; null when it is empty."""
    try:
        return documents.read_value(text)
    except FatalError as error:
        raise ValueError(str(error)) from error


@GROUP.filter(example='from_yaml_stream("a: 1\\n---\\nb: 2")', result=[{"a": 1}, {"b": 2}])
def from_yaml_stream(text: str) -> list[Value]:
    """The objects of a stream of YAML or JSON documents; empty documents are left out."""
    try:
        stream = documents.read_stream(text)
    except FatalError as error:
        raise ValueError(str(error)) from error
    return [objects.deep_copy(document.value) for document in stream]
