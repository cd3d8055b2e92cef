"""The library's table as text for terminals: a list of all functions, or one in full."""

from __future__ import annotations

import json
from itertools import groupby
from operator import attrgetter

from function_script.engines.library import FUNCTIONS
from function_script.errors import InputError
from function_script.problems import suggest


def listing() -> str:
    """Return a line for every function, below its group."""
    width = max(len(function.name) for function in FUNCTIONS)
    parts = []
    for group, functions in groupby(FUNCTIONS, key=attrgetter("group")):
        lines = [
            f"  {function.name:{width}}  {_plain(function.summary)}\n" for function in functions
        ]
        parts.append(f"{group.name.capitalize()}\n{''.join(lines)}")
    return "\n".join(parts)


def entry(name: str) -> str:
    """Return the whole description of a function; raises InputError when there is none."""
    function = next((each for each in FUNCTIONS if each.name == name), None)
    if function is None:
        raise InputError.of(
            f'cannot find "{name}" in the library',
            hint=suggest(
                name, tuple(each.name for each in FUNCTIONS), "list all with: function-script docs"
            ),
        )
    lines = [f"{function.signature} -> {function.returns}", "", f"  {_plain(function.summary)}", ""]
    for parameter in function.parameters:
        usage = "required" if parameter.is_required else f"default {json.dumps(parameter.default)}"
        lines.append(f"  {parameter.name}: {parameter.type}, {usage}")
    result = json.dumps(function.result, ensure_ascii=False)
    lines += ["", f"  {function.example}", f"  gives {result}"]
    if function.is_filter:
        lines += ["", f"  In Jinja, also as a filter: value | {function.name}"]
    return "\n".join(lines) + "\n"


def _plain(summary: str) -> str:
    """Return the text without marks of code, which only pages show."""
    return summary.replace("``", "")
