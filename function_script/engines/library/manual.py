"""The library's table as entries of the manual."""

import json
from collections.abc import Iterator

from function_script.engines.language import Entry
from function_script.engines.library import FUNCTIONS


def entries() -> Iterator[Entry]:
    """Yield an entry for each function, by group."""
    for function in FUNCTIONS:
        details = []
        for each in function.parameters:
            usage = "required" if each.is_required else f"default {json.dumps(each.default)}"
            details.append(f"{each.name}: {each.type}, {usage}")
        result = json.dumps(function.result, ensure_ascii=False)
        details += ["", function.example, f"gives {result}"]
        if function.is_filter:
            details += ["", f"In Jinja, also as a filter: value | {function.name}"]
        yield Entry(
            name=function.name,
            section=function.group.name,
            summary=function.summary.replace("``", ""),
            usage=f"{function.signature} -> {function.returns}",
            details=tuple(details),
        )
