"""Patterns in RE2's syntax: those of the languages' functions, and those of schemas."""

import re
from functools import lru_cache
from typing import Final, TypeAlias, cast

import re2  # type: ignore[import-untyped] # ships no types

from function_script.texts.errors import HintedError

MAX_PATTERN_CHARACTERS = 1_000
_MAX_PATTERN_BYTES = 1 << 20
_CACHED_PATTERNS = 128


# Hints by the words of google-re2, whose version `requirements/runtime.txt` pins.
_HINTS: Final = {
    "missing )": r"close it with ), or write \( where the character itself is meant",
    "missing ]": r"close it with ], or write \[ where the character itself is meant",
}
_ESCAPE: Final = r"write \ before a character that is meant as such, or use regex_escape"

# RE2's patterns and matches have the attributes of Python's.
Pattern: TypeAlias = re.Pattern[str]
Match: TypeAlias = re.Match[str]


class PatternError(HintedError):
    """A bad pattern: ``cause`` is its first words, ``part`` what it is about, or ""."""

    def __init__(self, words: str, hint: str | None = None) -> None:
        super().__init__(f"pattern: {words}", hint)
        self.cause, _, self.part = words.partition(": ")


class TooLargeError(PatternError):
    """A pattern that needs more memory than its bound."""


@lru_cache(maxsize=_CACHED_PATTERNS)
def compiled(pattern: str) -> Pattern:
    """Compile a pattern, or take it from the cache; raises PatternError."""
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        raise PatternError(f"more than {MAX_PATTERN_CHARACTERS:,} characters")
    return compile_within(pattern, _MAX_PATTERN_BYTES)


def compile_within(pattern: str, max_bytes: int) -> Pattern:
    """Compile a pattern of any length; raises PatternError."""
    options = re2.Options()
    options.max_mem = max_bytes
    options.log_errors = False
    try:
        return cast("Pattern", re2.compile(pattern, options))
    except re2.error as error:
        cause = error.args[0] if error.args else b""
        text = cause.decode("utf-8", "replace") if isinstance(cause, bytes) else str(cause)
        if "too large" in text:
            raise TooLargeError(text) from error
        hint = next((hint for cause, hint in _HINTS.items() if text.startswith(cause)), _ESCAPE)
        raise PatternError(text, hint) from error
