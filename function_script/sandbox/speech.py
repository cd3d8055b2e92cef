"""What a worker wrote to its standard error, as text that is safe to put into a log."""

from __future__ import annotations

import re

from function_script.diagnostics import CONTROL

_PANIC = re.compile(
    r"^\n?thread '[^\n]*panicked at [^\n]*\n[^\n]*\n?(note: [^\n]*\n?)?", re.MULTILINE
)


def sanitize_stderr(printed: bytes) -> str:
    """Lines of text: no terminal codes, and no panic notices with paths of a build machine."""
    text = _PANIC.sub("", printed.decode("utf-8", "replace"))
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
