"""The library's table as a page of the documentation, and as stubs for editors."""

from __future__ import annotations

import json
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from function_script.engines.library import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.engines.library import Function, Group

_HEAD = """\
<!-- Written by `make goldens`. -->

# Library

Scripts and Jinja templates can call these functions. In Jinja, a function with the mark *filter*
is also a filter: `{{ "hi" | b64encode }}`. Go templates of our own apiVersion have those with a
name in Go, `{{ cidrHost "10.0.0.0/24" 5 }}`, beside those of sprig.
`function-script docs NAME` prints the description of a function in the terminal.

All functions are pure: equal arguments give equal results, and no argument is changed. A text has
at most 1,048,576 characters, a value 100,000 items on 100 levels. A wrong call stops the program
with an error at its line, which names the function, the parameter, the type that it takes and the
type of the argument. `check` finds it before where the argument is a constant.
"""

# Python's names of the types, for stubs.
_TYPES = {
    "any": "Any",
    "boolean": "bool",
    "integer": "int",
    "list": "list[Any]",
    "list of integers": "list[int]",
    "list of strings": "list[str]",
    "number": "float",
    "object": "dict[str, Any]",
    "path": "str | list[str | int]",
    "resource": "dict[str, Any] | None",
    "string": "str",
}


def reference() -> str:
    """Return the page `docs/reference/library.md`."""
    parts = [_HEAD]
    for group, functions in groupby(FUNCTIONS, key=attrgetter("group")):
        parts.append(_section(group, list(functions)))
    return "\n".join(parts)


def _section(group: Group, functions: list[Function]) -> str:
    entries = "\n".join(_entry(function) for function in functions)
    return f"## {group.name.capitalize()}\n\n{group.summary}\n\n{entries}"


def _entry(function: Function) -> str:
    mark = ", *filter*" if function.is_filter else ""
    mark += f", in Go `{function.go_name}`" if function.go_name else ""
    result = json.dumps(function.result, ensure_ascii=False)
    return (
        f"- **`{function.signature.usage}`** → {function.signature.result}{mark}\n"
        f"  {function.summary}\n"
        f"  `{function.example}` → `{result}`\n"
    )


def stubs() -> str:
    """Return Python stubs of the functions, for editors that read those for Starlark."""
    head = '"""The functions that every script can call."""\n\nfrom typing import Any\n'
    return "\n\n".join([head, *(_stub(function) for function in FUNCTIONS)])


def _stub(function: Function) -> str:
    parameters = ", ".join(_stub_parameters(function))
    result = json.dumps(function.result, ensure_ascii=False)
    return (
        f"def {function.name}({parameters}) -> {_type(function.signature.result)}:\n"
        f'    r"""{function.summary}\n\n'
        f"    Example: {function.example} gives {result}\n"
        f'    """\n'
    )


def _stub_parameters(function: Function) -> Iterator[str]:
    has_star = False
    for parameter in function.parameters:
        if parameter.rule.is_named_only and not has_star:
            has_star = True
            yield "*"
        text = f"{parameter.rule.name}: {_type(parameter.type.name)}"
        yield text if parameter.rule.is_required else f"{text} = {parameter.default!r}"


def _type(name: str) -> str:
    kind, _, alternative = name.partition(" or ")
    return f"{_TYPES[kind]} | None" if alternative else _TYPES[kind]
