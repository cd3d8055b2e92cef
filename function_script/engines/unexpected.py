"""The token that a parser does not expect, and those around it: what rules for hints look at."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

CLOSING: Final = {"[": "]", "(": ")", "{": "}"}
OPENING: Final = {close: opening for opening, close in CLOSING.items()}
VALUES: Final = frozenset({"name", "integer", "float", "number", "string"})
"""Kinds of tokens that are values."""


class Token(NamedTuple):
    """A token as it is written."""

    kind: str
    text: str
    offset: int

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.offset + len(self.text)


_NOTHING: Final = Token("", "", -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Tokens of a text, and the index of the one that is unexpected."""

    text: str
    tokens: Sequence[Token]
    index: int
    words: ClassVar[frozenset[str]]
    """Names that end no value, and so begin nothing beside another one."""

    def at(self, step: int) -> Token:
        """Return the token that is so many steps away; one without a text where there is none."""
        index = self.index + step
        return self.tokens[index] if 0 <= index < len(self.tokens) else _NOTHING

    def text_at(self, step: int) -> str:
        """Return the text of the token that is so many steps away."""
        return self.at(step).text

    def is_adjacent(self, step: int) -> bool:
        """Report whether the tokens ``step`` and ``step + 1`` stand side by side."""
        return self.at(step).end == self.at(step + 1).offset and bool(self.text_at(step))

    def find_mark(self, marks: Iterable[str]) -> Token | None:
        """Return the first of ``marks`` that ends with the unexpected token."""
        end = self.at(0).end
        mark = next((each for each in marks if self.text.endswith(each, 0, end)), None)
        return None if mark is None else Token("operator", mark, end - len(mark))

    def bracket(self) -> Token | None:
        """Return the innermost bracket that is open before the token."""
        stack: list[Token] = []
        for token in self.tokens[: self.index]:
            if token.kind == "operator" and token.text in CLOSING:
                stack.append(token)
            elif token.kind == "operator" and token.text in OPENING and stack:
                stack.pop()
        return stack[-1] if stack else None

    def is_value_before(self) -> bool:
        """Report whether a value ends just before the token."""
        before = self.at(-1)
        if before.kind == "operator":
            return before.text in OPENING
        return before.kind in VALUES and before.text not in self.words
