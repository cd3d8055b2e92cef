"""The build of this installation: compiled, or plain Python with the reason.

The loaded modules show which it is. setup.py writes the reason to build.json in a wheel.
"""

import json
from importlib import resources

from function_script import wire

_RECORD = "build.json"
COMPILED = "compiled"
PLAIN = "plain Python"


def describe() -> str:
    """Return ``compiled``, or ``plain Python: `` and the reason."""
    if wire.is_compiled():
        return COMPILED
    record = resources.files("function_script") / _RECORD
    if record.is_file():
        reason = str(json.loads(record.read_text(encoding="ascii"))["reason"])
        reason = reason or "its machine code is for another Python or another machine"
    else:
        reason = "it runs from its sources, as an editable installation does"
    return f"{PLAIN}: {reason}"
