"""Which field a problem is about, read from the path its text begins with.

Called when problems are told, so that each is shown at the field and not at the whole.
"""

from __future__ import annotations

from function_script import objects


def path_of(text: str) -> objects.Path:
    """The path in ``path: what is wrong``; empty when the text begins otherwise."""
    path, colon, _ = text.partition(": ")
    try:
        return objects.parse_path(path) if colon else ()
    except ValueError:
        return ()
