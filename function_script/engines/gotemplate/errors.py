"""Errors of parsing and running a template, in Go's words and without a position.

Functions raise CallError, the evaluator EvalError, the parser ParseError; run_problems.py and
parse_problems.py make diagnostics of them.
"""

from enum import Enum, unique

from function_script.texts.errors import LimitName


@unique
class Code(Enum):
    """The subject of an error, where a hint or a place depends on it.

    The value is the hint, where one sentence is right wherever the error occurs. It is a number
    where the hint needs what is around.
    """

    ACTION_RUNS_ON = "this action has no }}"
    ACTION_UNCLOSED = "an action ends with }}"
    BAD_CHARACTER = 1
    BAD_CONSTRAINT = 'write a constraint such as ">= 1.2, < 2"'
    BAD_ESCAPE = "write two backslashes for one, or the text in backquotes"
    BAD_PATTERN = r"write \ before a character that is meant as such, in backquotes: `a\.b`"
    BAD_VERSION = "a version is three numbers with dots, 1.2.3; semverCompare takes it last"
    BLOCK_UNCLOSED = 2
    CHARACTER_UNCLOSED = "a text is in double quotes"
    COMMENT_NOT_ALONE = "a comment is alone in its action"
    COMMENT_UNCLOSED = "a comment ends with */"
    CONDITION_COMPARED = "compare a field of it: (getResourceCondition TYPE RESOURCE).Status"
    CONSTANT_QUOTED = 3
    DIVISION_BY_ZERO = "test that the divisor is not 0 first"
    ELSE_MISPLACED = "no if, range or with is open here"
    ELSE_REPEATED = "a block has one else: other conditions are written as else if"
    END_MISPLACED = "no if, range, with or define is open here"
    FUNCTION_UNKNOWN = 4
    INCOMPATIBLE_TYPES = "convert one of the two: int, float64 or toString"
    INDEX_OF_NOTHING = "it is absent: check the path, or use dig with a default"
    INDEX_OUT_OF_RANGE = "items count from 0: test {{ if gt (len LIST) INDEX }}, or see what it has"
    KEY_NOT_A_TEXT = "keys are texts, and the map comes last: dig KEY … DEFAULT MAP"
    KEY_OF_LIST = "items of a list have numbers; a condition is getResourceCondition TYPE RESOURCE"
    NOTHING_AS_ARGUMENT = "it is absent: check the path, or use default"
    NOT_AN_INTEGER = "write (VALUE | int)"
    NOT_A_LIST = "a list is list A B, keys MAP or splitList SEPARATOR TEXT; print A B joins texts"
    NOT_A_COMMAND = "behind | comes a function, which gets what is before"
    NOT_A_METHOD = 5
    NOT_A_STRING = "write (VALUE | toString)"
    NUMBER_OF_MAP = (
        "keys of a map are texts; splitList gives a list, where split gives a map with _0 and _1"
    )
    NULL_AS_ARGUMENT = "it is null: use default"
    NULL_AS_VALUE = "say what to take instead: (.x | default VALUE)"
    NULL_TO_RANGE = "say what to go over instead: {{ range default list .x }}"
    OUTSIDE_RANGE = "only a range has turns to leave or to go on with: take it out"
    PARENTHESIS_UNCLOSED = "close it with )"
    PARENTHESIS_UNOPENED = "there is no ( that it closes"
    PLUS_BETWEEN = "add A B adds numbers; print joins texts, concat lists, and merge maps"
    RAW_TEXT_UNCLOSED = "close it with `"
    TEMPLATE_REPEATED = "give one of them another name"
    TEMPLATE_UNKNOWN = 7
    TEXT_UNCLOSED = 'close it with "'
    TOKEN_UNEXPECTED = 8
    VALUE_MISSING = "write what it is about between the name and }}"
    VALUE_TO_RANGE = "range goes over lists, maps and whole numbers: see the path"
    VARIABLE_UNDEFINED = 9
    WRONG_COUNT = 10
    WRONG_TYPE = 11

    @property
    def hint(self) -> str | None:
        """The sentence that helps, if one is enough."""
        return self.value if isinstance(self.value, str) else None


class GoError(Exception):
    """Failure of a template; ``text`` is Go's message without the position.

    ``code`` is None where no hint depends on it. ``subject`` is the name that it is about, the
    kind of the value that a parameter refused, or "".
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
