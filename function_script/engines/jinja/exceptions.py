"""Exceptions of a running template, which have no positions: `engine` adds them.

Undefined values chain and take a default; any other use of one is an error with a path. A failed
lookup only records its parent and its key.
"""

from typing import NoReturn, cast

from jinja2 import Undefined

from function_script.request.values import type_name, with_article
from function_script.texts.errors import LimitName

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


class RenderError(Exception):
    """An operation that the template requests is not possible.

    ``name`` is the word of the template's line to underline, ``limit`` the limit that was exceeded
    if it can be set.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        name: str | None = None,
        limit: LimitName | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.name = name
        self.limit = limit


class AuthorError(RenderError):
    """The template stopped itself; the message is the author's own."""


class BudgetError(RenderError):
    """A limit was exceeded, or a bound of this engine; the message has the amount and the limit."""


class MissingError(Exception):
    """A value that does not exist was used; `engine` looks up its path.

    ``decides_documents``: the value decides which documents exist, so they cannot be listed.
    """

    def __init__(self, undefined: Undefined) -> None:
        super().__init__("undefined")
        self.undefined = undefined
        self.decides_documents = False


def type_of(value: object) -> str:
    """Return ``a string``, ``an integer``, ``null``: a value's type as messages name it."""
    return with_article(_NAMES.get(type(value).__name__) or type_name(value))


def _refuse(value: Undefined, *_: object) -> NoReturn:
    raise MissingError(value)


class Lenient(Undefined):
    """False in conditions and equal to undefined values only; every other use is an error."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Undefined)

    __hash__ = _refuse
    __call__ = __getitem__ = __contains__ = __iter__ = __len__ = _refuse
    __int__ = __float__ = __index__ = __str__ = _refuse


class Strict(Lenient):
    """Refuses even conditions and comparisons; `default` and `is defined` still take it."""

    __slots__ = ()

    __bool__ = __eq__ = __hash__ = _refuse


class Absent(Lenient):
    """The value of an inline `if` without `else` that is false: it prints as nothing."""

    __slots__ = ()


def unsuitable(
    message: str, *values: object, hint: str | None = None, name: str | None = None
) -> MissingError | RenderError:
    """Return the error for values that an operation does not take: missing, or of a wrong type.

    ``message`` has ``{}`` for the type of each.
    """
    for value in values:
        if isinstance(value, Undefined):
            return MissingError(value)
    return RenderError(message.format(*map(type_of, values)), hint=hint, name=name)


def make_undefined(kind: type[Undefined], parent: object, key: object) -> Undefined:
    """Return the undefined value of ``parent.key`` or ``parent[key]``."""
    return kind(obj=parent, name=cast("str", key))
