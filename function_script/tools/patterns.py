"""Patterns of schemas in RE2's syntax, like the API server's: linear time, bounded memory."""

from functools import lru_cache
from typing import Final

from function_script.engines import regular_expressions

_MAX_CHARACTERS: Final = 100_000
_MAX_BYTES: Final = 16 << 20
# Characters of pattern times characters of text: some seconds at worst.
_MAX_WORK: Final = 1 << 28
_CACHED: Final = 512


class NotEvaluatedError(Exception):
    """The pattern was not evaluated; the text is the reason."""


def is_match(pattern: str, text: str) -> bool:
    """Report whether a pattern matches anywhere in a text.

    Raises ValueError for what RE2 calls invalid, NotEvaluatedError for what exceeds the bounds.
    """
    if len(pattern) > _MAX_CHARACTERS or len(pattern) * len(text) > _MAX_WORK:
        raise NotEvaluatedError("it is too expensive for its length and that of the text")
    return _compile(pattern).search(text) is not None


@lru_cache(maxsize=_CACHED)
def _compile(pattern: str) -> regular_expressions.Pattern:
    try:
        return regular_expressions.compile_within(pattern, _MAX_BYTES)
    except regular_expressions.TooLargeError as error:
        raise NotEvaluatedError("it needs too much memory") from error
