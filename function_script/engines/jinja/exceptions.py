"""Exceptions of a running template; they have no positions, which `diagnostics` adds."""

import re

from jinja2 import Undefined

from function_script.request.values import type_name, with_article
from function_script.texts.errors import LimitName


class RenderError(Exception):
    """An operation that the template requests is not possible.

    ``name`` is the word of the template's line to underline.
    """

    def __init__(self, message: str, *, hint: str | None = None, name: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.name = name


class AuthorError(RenderError):
    """The template stopped itself; the message is the author's own."""


class BudgetError(RenderError):
    """A limit was exceeded; the message has the amount and the limit.

    ``limit`` names the limit if it can be set; None for a bound of this engine.
    """

    def __init__(
        self, message: str, *, hint: str | None = None, limit: LimitName | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.limit = limit


class MissingError(Exception):
    """A value that does not exist was used; `diagnostics` looks up its path.

    ``decides_documents``: the value decides which documents exist, so they cannot be listed.
    """

    def __init__(self, undefined: Undefined) -> None:
        super().__init__("undefined")
        self.undefined = undefined
        self.decides_documents = False


def reword(text: str) -> str:
    """Adapt a message of Jinja's or Python's: lower case, no full stop, double quotes."""
    return _QUOTED.sub(r'"\1"', text[:1].lower() + text[1:]).rstrip(".")


def type_of(value: object) -> str:
    """Return ``a string``, ``an integer``, ``null``: a value's type as messages name it."""
    return with_article(_NAMES.get(type(value).__name__) or type_name(value))


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
