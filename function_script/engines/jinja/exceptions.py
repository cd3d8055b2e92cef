"""What can go wrong while a template runs, before anybody knows where: no positions here.

Raised by what templates call; `positions` turns them into errors with a place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from function_script.values import type_name

if TYPE_CHECKING:
    from jinja2 import Undefined

    from function_script.errors import LimitName


class RenderError(Exception):
    """The template asked for something that cannot be done.

    ``name`` is what to underline: a word of the template's line.
    """

    def __init__(self, message: str, *, hint: str | None = None, name: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.name = name


class AuthorError(RenderError):
    """The template itself said that it cannot go on; the message is the author's own."""


class BudgetError(RenderError):
    """A limit was reached; the message has the amount and the limit.

    ``limit`` names the limit if it can be set; None for a bound of this engine.
    """

    def __init__(
        self, message: str, *, hint: str | None = None, limit: LimitName | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.limit = limit


class MissingError(Exception):
    """A value that does not exist was used; its path is looked up when the error is told.

    ``decides_documents``: nobody can say which documents are missing for it.
    """

    def __init__(self, undefined: Undefined) -> None:
        super().__init__("undefined")
        self.undefined = undefined
        self.decides_documents = False


def reworded(text: str) -> str:
    """A message of Jinja's or Python's in our style: lower case, no full stop, double quotes."""
    return _QUOTED.sub(r'"\1"', text[:1].lower() + text[1:]).rstrip(".")


def a(value: object) -> str:
    """``a string``, ``an integer``, ``null``: how messages call a value."""
    return with_article(_NAMES.get(type(value).__name__) or type_name(value))


def with_article(name: str) -> str:
    """The name with its article: ``an integer``."""
    if name == "null":
        return name
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


_QUOTED = re.compile(r"(?<!\w)'([^']*)'")
_NAMES = {
    "BlockReference": "block",
    "Builtin": "function",
    "LoopContext": "loop",
    "Macro": "macro",
    "Method": "method",
    "Namespace": "namespace",
    "TemplateModule": "module",
    "range": "list",
    "type": "function",
}
