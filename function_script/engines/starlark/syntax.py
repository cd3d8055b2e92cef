"""Starlark as syntax trees of Python, whose parser accepts a superset of it.

Called by what looks at scripts without running them. Such a tree is only looked at for scripts
that the interpreter has accepted.
"""

from __future__ import annotations

import ast
import warnings

# A longer source is not worth the time.
_MAX_CHARACTERS = 64 * 1024


def parse(text: str) -> ast.Module | None:
    """The tree of a source; None where Python's reading could differ from Starlark's."""
    # Python ends lines at a lone carriage return, and knows characters by name; Starlark not.
    if len(text) > _MAX_CHARACTERS or "\\N" in text or "\r" in text.replace("\r\n", ""):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
