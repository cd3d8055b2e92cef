"""What a worker wrote to its standard error, as text that is safe to put into a log."""

from __future__ import annotations

import re

_PANIC = re.compile(
    r"^\n?thread '[^\n]*panicked at [^\n]*\n[^\n]*\n?(note: [^\n]*\n?)?", re.MULTILINE
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def sanitize_stderr(printed: bytes) -> str:
    """Lines of text: no terminal codes, and no panic notices with paths of a build machine."""
    text = _PANIC.sub("", printed.decode("utf-8", "replace"))
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
