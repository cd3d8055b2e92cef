"""What is wrong with a YAML text, before anyone knows whose text it is.

YamlError           not YAML, or not YAML that Kubernetes accepts
└── TooLargeError   more values, levels or expanded text than allowed
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from function_script.errors import LimitName


class YamlError(Exception):
    """A problem at ``line`` and ``column``, both 0-based, of the text that was read."""

    def __init__(self, message: str, *, line: int, column: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.hint = hint

    def let_pass(self, consequence: str) -> YamlError:
        """The same problem, with what it leads to where it is no error."""
        message = f"{self.message}: {consequence}"
        return YamlError(message, line=self.line, column=self.column, hint=self.hint)


class TooLargeError(YamlError):
    """The value would be larger than the limits allow; ``limit`` names the one that can be set."""

    def __init__(
        self, message: str, *, line: int, column: int, limit: LimitName | None = None
    ) -> None:
        super().__init__(message, line=line, column=column)
        self.limit = limit
