"""How this installation runs: compiled, or as plain Python, and why.

The loaded modules show which; build.json, which setup.py writes into a wheel, says why.
"""

from __future__ import annotations

import json
from importlib import resources

from function_script import wire

_RECORD = "build.json"
COMPILED = "compiled"
PLAIN = "plain Python"


def describe() -> str:
    """Say ``compiled``, or ``plain Python: `` and the reason."""
    return COMPILED if wire.is_compiled() else f"{PLAIN}: {_reason()}"


def _reason() -> str:
    record = resources.files("function_script") / _RECORD
    if not record.is_file():
        return "it runs from its sources, as an editable installation does"
    reason = str(json.loads(record.read_text(encoding="ascii"))["reason"])
    return reason or "its machine code is for another Python or another machine"
