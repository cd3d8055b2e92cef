"""Errors in a YAML text, and the hints for classic mistakes.

YamlError               not YAML, or not YAML that Kubernetes accepts
├── YamlSyntaxError     not YAML
└── TooLargeError       more values, levels or expanded text than allowed

Positions are those of the text that was read; `TextOrigin.error` maps them to its author's.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from function_script.texts.diagnostics import Code
from function_script.texts.errors import LimitName

UNQUOTED_BRACES = 'quote a value that begins with "{"; {{ }} that was not rendered also looks so'
NO_TABS = "YAML is not indented by tabs: use blanks"
_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# The first line of a literal or folded block.
_BLOCK = re.compile(r"\s*(?:- +)*(?P<key>[\w.-]+|\"[^\"]+\"|'[^']+'): +[|>][-+0-9]*\s*(?:#.*)?$")
_KEY = re.compile(r"\s*(?:- +)*[\w./-]+:(?: |$)")


class YamlError(Exception):
    """A problem at ``line`` and ``column``, both 0-based, of the text that was read.

    A hint that takes time is a function, which is called when the hint is read.
    """

    def __init__(
        self,
        message: str,
        *,
        line: int,
        column: int,
        hint: str | Callable[[], str | None] | None = None,
        code: Code | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line
        self.column = column
        self._hint = hint

    @property
    def hint(self) -> str | None:
        """The text to write instead, if that is certain."""
        if callable(self._hint):
            self._hint = self._hint()
        return self._hint

    def with_consequence(self, consequence: str) -> YamlError:
        """Return the same problem as a warning: a lenient reader goes on with ``consequence``."""
        message = f"{self.message}: {consequence}"
        return YamlError(message, line=self.line, column=self.column, hint=self._hint)


class YamlSyntaxError(YamlError):
    """The text is no YAML."""


class TooLargeError(YamlError):
    """The value would be larger than the limits allow; ``limit`` names the one that can be set."""

    def __init__(
        self, message: str, *, line: int, column: int, limit: LimitName | None = None
    ) -> None:
        super().__init__(message, line=line, column=column)
        self.limit = limit


def find_early_end(lines: list[str], number: int) -> YamlError | None:
    """Return the error of a line that ends a block of text by its indentation, and must not.

    This is certain if the text goes on behind the line, or if the line is one of a template as the
    text is. ``number`` is the line at which the parser gives up.
    """
    header = next((each for each in range(number, -1, -1) if _BLOCK.match(lines[each])), None)
    if header is None:
        return None
    match = _BLOCK.match(lines[header])
    name = "" if match is None else match["key"].strip("\"'")
    following = [each for each in range(header + 1, len(lines)) if lines[each].strip()]
    if not following:
        return None
    depth = _indentation(lines[following[0]])
    if depth <= _indentation(lines[header]):
        return None
    end = next((each for each in following if _indentation(lines[each]) < depth), None)
    if end is None or not end <= number <= end + 1:
        return None
    after = next((each for each in following if each > end), None)
    goes_on = after is not None and _indentation(lines[after]) >= depth
    block = "\n".join(lines[header + 1 : end])
    is_template = any(mark in block and mark in lines[end] for mark in ("{{", "{%"))
    if not is_template and (not goes_on or _KEY.match(lines[end])):
        return None
    column = _indentation(lines[end])
    if lines[end][column] == "\t":
        return YamlSyntaxError("a tab in the indentation", line=end, column=column, hint=NO_TABS)
    return YamlError(
        f"this line ends the text of `{name}`: it is less indented",
        line=end,
        column=column,
        hint=f"indent it by {depth} blanks or more, as the lines of the text",
    )


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def invalid_character(text: str) -> YamlError:
    """Return the error for the first character that YAML does not allow."""
    match = _UNREADABLE.search(text)
    start = 0 if match is None else match.start()
    line = text.count("\n", 0, start)
    column = start - (text.rfind("\n", 0, start) + 1)
    name = "a character" if match is None else f"the character U+{ord(match[0]):04X}"
    hint = 'write it as an escape in double quotes, such as "\\x01"'
    return YamlError(f"{name} is not allowed in YAML", line=line, column=column, hint=hint)
