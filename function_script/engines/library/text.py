"""Text for YAML and for people: indentation, quotes, prefixes, lengths."""

from typing import Final

import orjson

from function_script import documents
from function_script.engines.library.bounds import check_length
from function_script.engines.library.function import Group
from function_script.request.values import Value

GROUP: Final = Group(
    name="text",
    summary="Text for YAML and for people.",
)


_MAX_INDENT = 200


@GROUP.filter(example='indent("a\\nb", 2)', result="a\n  b")
def indent(text: str, spaces: int, *, first: bool = False) -> str:
    """Indent every line but the first (with ``first`` also that); empty lines stay empty."""
    if not 0 <= spaces <= _MAX_INDENT:
        raise ValueError(f"spaces: must be between 0 and {_MAX_INDENT}, not {spaces}")
    check_length(len(text) + spaces * (text.count("\n") + 1))
    margin = " " * spaces
    lines = text.split("\n")
    padded = [margin + line if line else line for line in lines]
    return "\n".join(padded if first else [lines[0], *padded[1:]])


@GROUP.filter(example='nindent("a\\nb", 2)', result="\n  a\n  b")
def nindent(text: str, spaces: int) -> str:
    """Indent every line, after a line break: to begin a block below a key."""
    return "\n" + indent(text, spaces, first=True)


@GROUP.filter(example="quote(8080)", result='"8080"')
def quote(value: Value) -> str:
    """A double-quoted string, for YAML and JSON alike; numbers and booleans become text."""
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return documents.to_flow_yaml(orjson.dumps(text).decode())


@GROUP.filter(example='truncate("eu-west-1", 2)', result="eu")
def truncate(text: str, length: int) -> str:
    """At most the first ``length`` characters; negative: the last ones."""
    return text[:length] if length >= 0 else text[length:]


@GROUP.filter(example='trim_prefix("v1.2", "v")', result="1.2")
def trim_prefix(text: str, prefix: str) -> str:
    """The text without the prefix, if it begins with it."""
    return text.removeprefix(prefix)


@GROUP.filter(example='trim_suffix("a.yaml", ".yaml")', result="a")
def trim_suffix(text: str, suffix: str) -> str:
    """The text without the suffix, if it ends with it."""
    return text.removesuffix(suffix)
