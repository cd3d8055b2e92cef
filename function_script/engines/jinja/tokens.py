"""Tokens of templates with offsets, where Jinja itself has lines only.

Offsets count characters from the beginning of the text; a line break counts as one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from jinja2 import Environment, TemplateSyntaxError, nodes

from function_script.engines.unexpected import Token
from function_script.texts.source import Source

_NEWLINE: Final = re.compile(r"\r\n|\r|\n")
_BEGINS: Final = {"variable_begin": "variable_end", "block_begin": "block_end"}
_NO_TOKENS: Final = frozenset(
    {"data", "whitespace", "comment_begin", "comment", "comment_end", "raw_begin", "raw_end"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenList:
    """The tokens of a text up to ``end``; ``error`` is the lexer's, which then is there.

    ``tokens`` are those in tags, and the marks that begin or end one. ``all_tokens`` are the
    others, too: the offset, kind and text of each.
    """

    text: str
    tokens: Sequence[Token]
    all_tokens: Sequence[tuple[int, str, str]]
    end: int
    error: TemplateSyntaxError | None = None

    def read_on(self) -> Iterator[tuple[int, str, str]]:
        """Yield all tokens, and raise the lexer's error behind the last one."""
        yield from self.all_tokens
        if self.error is not None:
            raise self.error

    def unclosed(self, kind: str) -> int | None:
        """Return the offset of a mark of this kind if what it begins does not end; else None."""
        offset, last, _ = self.all_tokens[-1] if self.error and self.all_tokens else (0, "", "")
        return offset if last == kind else None

    def tag(self, index: int) -> tuple[int, int]:
        """Return the indexes of the tag's first token, and behind its last, around a token."""
        before = range(min(index, len(self.tokens) - 1), -1, -1)
        begin = next((at for at in before if self.tokens[at].kind in _BEGINS), 0)
        end = begin + 1
        while end < len(self.tokens) and self.tokens[end].kind not in _BEGINS.values():
            end += 1
        return begin, end


def normalize(source: Source) -> Source:
    """Return a source with the line breaks that Jinja's lexer sees: those that offsets count."""
    return replace(source, text="\n".join(_NEWLINE.split(source.text)))


def line_at(text: str, offset: int) -> int:
    """Return the 1-based line of an offset."""
    return text.count("\n", 0, offset) + 1


def first_offset(node: nodes.Node) -> int:
    """Return the offset of the first word of an expression, in a tree with offsets."""
    below = node.find_all(nodes.Node)
    return min(each.lineno for each in (node, *below) if each.lineno)


def read(environment: Environment, text: str) -> TokenList:
    """Return the tokens of a normalized text, up to the place where the lexer fails if it does."""
    placed: list[tuple[int, str, str]] = []
    end, failure = 0, None
    try:
        for _, kind, value in environment.lexer.tokeniter(text, None):
            # The lexer leaves out white space only, so the token is the next such text.
            offset = max(text.find(value, end), end)
            placed.append((offset, kind, value))
            end = offset + len(value)
    except TemplateSyntaxError as error:
        # An offset, as in all nodes: the lexer's line is of no use.
        error.lineno = end
        failure = error
    tokens = [Token(kind, value, at) for at, kind, value in placed if kind not in _NO_TOKENS]
    return TokenList(text=text, tokens=tokens, all_tokens=placed, end=end, error=failure)
