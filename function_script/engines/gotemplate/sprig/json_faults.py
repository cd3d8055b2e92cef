"""What is wrong with a text that is not JSON, in the words of Go's encoding/json."""

from __future__ import annotations


def find_fault(text: str) -> str:
    """The first thing Go's scanner stumbles over."""
    return "unexpected end of JSON input" if not text.strip() else "invalid JSON"
