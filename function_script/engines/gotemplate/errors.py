"""Errors of parsing and running a template, in Go's words and without a position.

Functions raise CallError, the evaluator EvalError; diagnostics.py makes diagnostics of them.
"""

from enum import Enum, auto

from function_script.texts.errors import LimitName


class Code(Enum):
    """The subject of an error, where a hint or a place depends on it."""

    ACTION_RUNS_ON = auto()
    ACTION_UNCLOSED = auto()
    BAD_CHARACTER = auto()
    BAD_CONSTRAINT = auto()
    BAD_ESCAPE = auto()
    BAD_PATTERN = auto()
    BAD_VERSION = auto()
    BLOCK_UNCLOSED = auto()
    CHARACTER_UNCLOSED = auto()
    COMMENT_NOT_ALONE = auto()
    COMMENT_UNCLOSED = auto()
    CONSTANT_QUOTED = auto()
    DIVISION_BY_ZERO = auto()
    ELSE_MISPLACED = auto()
    ELSE_REPEATED = auto()
    END_MISPLACED = auto()
    FUNCTION_UNKNOWN = auto()
    INCOMPATIBLE_TYPES = auto()
    INDEX_OF_NOTHING = auto()
    INDEX_OUT_OF_RANGE = auto()
    KEY_OF_LIST = auto()
    NOTHING_AS_ARGUMENT = auto()
    NOT_AN_INTEGER = auto()
    NOT_A_COMMAND = auto()
    NOT_A_METHOD = auto()
    NOT_A_STRING = auto()
    NUMBER_OF_MAP = auto()
    NULL_AS_ARGUMENT = auto()
    NULL_AS_TEXT = auto()
    NULL_TO_RANGE = auto()
    OUTSIDE_RANGE = auto()
    PARENTHESIS_UNCLOSED = auto()
    PARENTHESIS_UNOPENED = auto()
    PATTERN_WITHOUT_BRACKET = auto()
    PATTERN_WITHOUT_PARENTHESIS = auto()
    RAW_TEXT_UNCLOSED = auto()
    TEMPLATE_REPEATED = auto()
    TEMPLATE_UNKNOWN = auto()
    TEXT_UNCLOSED = auto()
    TOKEN_UNEXPECTED = auto()
    VALUE_MISSING = auto()
    VALUE_TO_RANGE = auto()
    VARIABLE_UNDEFINED = auto()
    WRONG_COUNT = auto()


class GoError(Exception):
    """Failure of a template; ``text`` is Go's message without the position.

    ``code`` is None where no hint depends on it. ``subject`` is the name that it is about, or "".
    """

    def __init__(self, text: str, code: Code | None = None, subject: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.code = code
        self.subject = subject


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
    closed. ``context`` is what the parser was reading at an unexpected token: ``if``, ``operand``.
    """

    def __init__(  # noqa: PLR0913 # the facts of an error
        self,
        text: str,
        position: int | None = None,
        *,
        cause: int | None = None,
        code: Code | None = None,
        subject: str = "",
        context: str = "",
    ) -> None:
        super().__init__(text, code, subject)
        self.position = position
        self.cause = cause
        self.context = context


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
