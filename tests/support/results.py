"""What a script returned, as one object: the engine hands some of it on as text."""

import copy
import json

from function_script.request.program import ScriptResult


def whole(returned: ScriptResult) -> dict[str, object]:
    """The response-shaped object with every desired resource in it."""
    value: dict[str, object] = copy.deepcopy(returned.value)
    for text in returned.resources:
        value["desired"]["resources"].update(json.loads(f"{{{text}}}"))  # type: ignore[index] # it is there when there are texts
    return value
