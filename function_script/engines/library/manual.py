"""The library's table as entries of the manual."""

import json
from collections.abc import Iterator

from function_script.engines.library import FUNCTIONS, Function
from function_script.engines.manual import Entry


def entries() -> Iterator[Entry]:
    """Yield an entry for each function, by group."""
    for function in FUNCTIONS:
        yield Entry(
            name=function.name,
            section=function.group.name,
            summary=function.summary.replace("``", ""),
            usage=f"{function.signature} -> {function.returns}",
            details=tuple(_details(function)),
        )


def _details(function: Function) -> Iterator[str]:
    for parameter in function.parameters:
        usage = "required" if parameter.is_required else f"default {json.dumps(parameter.default)}"
        yield f"{parameter.name}: {parameter.type}, {usage}"
    result = json.dumps(function.result, ensure_ascii=False)
    yield from ("", function.example, f"gives {result}")
    if function.is_filter:
        yield from ("", f"In Jinja, also as a filter: value | {function.name}")
