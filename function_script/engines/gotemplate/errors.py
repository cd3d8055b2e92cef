"""Errors of parsing and running a template, in Go's words and without a position.

Functions raise CallError, the evaluator EvalError; diagnostics.py makes diagnostics of them.
"""

from function_script.errors import LimitName


class GoError(Exception):
    """Failure of a template; ``text`` is Go's message without the position."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class CallError(GoError):
    """A function refused its arguments; Go says "error calling NAME: " in front."""


class EvalError(GoError):
    """An expression cannot be evaluated: a wrong type, a field of nil, a missing key."""


class FieldError(EvalError):
    """A value has no such field.

    ``index`` is the place of the name in the chain of fields. ``names`` are the fields that the
    value has, for a hint. ``kind`` is the kind of the value: ``null``, ``map``, ``string``,
    ``int64``, …
    """

    def __init__(
        self, text: str, name: str, *, index: int, kind: str, names: tuple[str, ...] = ()
    ) -> None:
        super().__init__(text)
        self.name = name
        self.index = index
        self.kind = kind
        self.names = names


class NoValueError(EvalError):
    """A required value does not exist; only templates of our own kind are so strict.

    ``path`` is the missing path in the template's words, as far as it is known. ``name`` is the key
    that its holder lacks, ``names`` are the keys that the holder has, for a hint. ``null``: the
    path exists and is null.
    """

    def __init__(
        self, path: str = "", name: str = "", names: tuple[str, ...] = (), *, null: bool = False
    ) -> None:
        super().__init__("it does not exist")
        self.path = path
        self.name = name
        self.names = names
        self.null = null


class TypeFieldError(FieldError):
    """A field was read of a value whose type has no fields.

    At the start of a chain Go calls the elements of a range ``interface {}``, which only the
    compiler can know.
    """

    def __init__(self, name: str, type_name: str, *, index: int, kind: str) -> None:
        text = f"can't evaluate field {name} in type {type_name}"
        super().__init__(text, name, index=index, kind=kind)


class ParseError(GoError):
    """The template's text is not Go template syntax; ``position`` counts characters.

    ``cause`` is the position of the mistake where Go reports another one: the block that was not
    closed.
    """

    def __init__(
        self,
        text: str,
        position: int | None = None,
        *,
        hint: str | None = None,
        cause: int | None = None,
    ) -> None:
        super().__init__(text)
        self.position = position
        self.hint = hint
        self.cause = cause


class LimitExceededError(Exception):  # becomes errors.LimitError, with a position
    """A run exceeds a limit; the text has the amount and the limit.

    ``limit`` names the limit if it can be set; None for a bound of this engine.
    """

    def __init__(
        self, text: str, hint: str | None = None, *, limit: LimitName | None = None
    ) -> None:
        super().__init__(text)
        self.hint = hint
        self.limit = limit
