"""Frequent functions as operations of their own.

A shortcut covers some types of arguments; for others it calls the function.
"""

import operator
from collections.abc import Mapping
from typing import Final

from function_script.engines.gotemplate import printing, values
from function_script.engines.gotemplate.operations.calls import SMALL, AnyCallable, Call, Callee
from function_script.engines.gotemplate.operations.frame import Expression, Frame
from function_script.engines.gotemplate.sites import Site

_MISSING: Final = values.MISSING
_INT: Final = values.Int
_quote: Final = printing.quote


def is_integer(value: object) -> bool:
    """Report whether a value is an int64 or an int."""
    kind = type(value)
    return kind is int or kind is _INT


# Comparisons

_OPERATORS: Final[Mapping[str, AnyCallable]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
OPERATORS: Final = frozenset(_OPERATORS)


class Comparison(Call):
    """``eq``, ``lt`` and the like with two arguments: texts and integers are quick."""

    def __init__(self, callee: Callee, arguments: list[Expression], site: Site) -> None:
        super().__init__(callee, arguments, site)
        self.compare: AnyCallable = _OPERATORS[callee.name]
        self.first: Expression = arguments[0]
        self.second: Expression = arguments[1]

    def evaluate(self, frame: Frame) -> object:
        """Compare."""
        first = self.first.evaluate(frame)
        second = self.second.evaluate(frame)
        if (type(first) is str and type(second) is str) or (
            is_integer(first) and is_integer(second)
        ):
            return self.compare(first, second)
        return self.apply(frame, [first, second])


class IsNil(Expression):
    """A comparison with nil; ``expected`` is its value for a nil."""

    def __init__(self, operand: Expression, *, expected: bool) -> None:
        self.operand: Expression = operand
        self.expected: bool = expected

    def evaluate(self, frame: Frame) -> object:
        """Compare."""
        value = self.operand.evaluate(frame)
        return self.expected if values.is_nil(value) else not self.expected


# Texts


class Text(Call):
    """A call whose result is a text, and whose arguments are of type ``any``."""

    def apply_to_any(self, frame: Frame, arguments: list[object]) -> object:
        """Call with arguments; None is nil."""
        return self.apply(frame, [None if item is _MISSING else item for item in arguments])

    def measure(self, frame: Frame, text: str) -> str:
        """Charge for a text and return it."""
        if len(text) > SMALL:
            frame.site = self.site
            frame.run.check_string(len(text))
        return text


# Tests of the values that a verb or `print` writes as Python's str does.
ANY_TEXT: Final = 0
ANY_INTEGER: Final = 1
ANY_PLAIN: Final = 2


class Joined(Text):
    """``printf`` with simple verbs, or ``print``: pieces of text with values between them.

    ``tests`` are those of the values. ``before`` are the arguments of the function before them.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - by position, where compiled code is quick
        self,
        callee: Callee,
        arguments: list[Expression],
        site: Site,
        pieces: list[str],
        tests: list[int],
        before: list[object],
    ) -> None:
        super().__init__(callee, arguments, site)
        self.pieces: list[str] = pieces
        self.tests: list[int] = tests
        self.before: list[object] = before

    def evaluate(self, frame: Frame) -> object:
        """Evaluate the values and join all."""
        arguments = [argument.evaluate(frame) for argument in self.arguments]
        texts: list[str] = [self.pieces[0]]
        for index, value in enumerate(arguments):
            if type(value) is str:
                if self.tests[index] == ANY_INTEGER:
                    return self.apply_to_any(frame, self.before + arguments)
                texts.append(value)
            elif self.tests[index] == ANY_TEXT or not is_integer(value):
                return self.apply_to_any(frame, self.before + arguments)
            else:
                texts.append(str(value))
            texts.append(self.pieces[index + 1])
        return self.measure(frame, "".join(texts))


class Quote(Text):
    """``quote`` of one value."""

    def __init__(self, callee: Callee, arguments: list[Expression], site: Site) -> None:
        super().__init__(callee, arguments, site)
        self.operand: Expression = arguments[0]

    def evaluate(self, frame: Frame) -> object:
        """Quote a text or an integer; others as the function does."""
        value = self.operand.evaluate(frame)
        if type(value) is str:
            return self.measure(frame, _quote(value))
        if is_integer(value):
            return self.measure(frame, f'"{value}"')
        return self.apply_to_any(frame, [value])


# Functions of all types of arguments


class Default(Expression):
    """``default``: the value unless it is empty."""

    def __init__(self, fallback: Expression, value: Expression) -> None:
        self.fallback: Expression = fallback
        self.value: Expression = value

    def evaluate(self, frame: Frame) -> object:
        """Evaluate both in order and choose."""
        fallback = self.fallback.evaluate(frame)
        value = self.value.evaluate(frame)
        return value or fallback


class Not(Expression):
    """``not`` and ``empty``."""

    def __init__(self, operand: Expression) -> None:
        self.operand: Expression = operand

    def evaluate(self, frame: Frame) -> object:
        """Negate."""
        return not self.operand.evaluate(frame)


class NewList(Expression):
    """``list``."""

    def __init__(self, operands: list[Expression]) -> None:
        self.operands: list[Expression] = operands

    def evaluate(self, frame: Frame) -> object:
        """Return a new list."""
        return [operand.evaluate(frame) for operand in self.operands]


class NewDict(Expression):
    """``dict`` with constant keys."""

    def __init__(self, keys: list[str], operands: list[Expression]) -> None:
        self.keys: list[str] = keys
        self.operands: list[Expression] = operands

    def evaluate(self, frame: Frame) -> object:
        """Return a new dict."""
        entries: dict[str, object] = {}
        for index, operand in enumerate(self.operands):
            entries[self.keys[index]] = operand.evaluate(frame)
        return entries


class HasKey(Expression):
    """``hasKey``."""

    def __init__(self, entries: Expression, key: Expression) -> None:
        self.entries: Expression = entries
        self.key: Expression = key

    def evaluate(self, frame: Frame) -> object:
        """Report whether a map has a key."""
        entries = self.entries.evaluate(frame)
        return self.key.evaluate(frame) in entries  # type: ignore[operator] # a dict, as checked
