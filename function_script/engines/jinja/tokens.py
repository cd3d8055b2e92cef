"""Tokens and syntax trees of templates with offsets, where Jinja itself has lines only.

For errors and analyses, not for the way of a request: the text is read once more. Offsets count
characters from the beginning of the text; a line break counts as one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.lexer import TokenStream
from jinja2.parser import Parser

from function_script.engines.jinja.policy import Violation
from function_script.request.program import Program
from function_script.texts.source import Source, Span, span_at

_NEWLINE: Final = re.compile(r"\r\n|\r|\n")
# A word is not searched for farther behind the beginning of its node.
_MAX_DISTANCE: Final = 500
_BEGINS: Final = {"variable_begin": "variable_end", "block_begin": "block_end"}
_NO_TOKENS: Final = frozenset(
    {"data", "whitespace", "comment_begin", "comment", "comment_end", "raw_begin", "raw_end"}
)


class Token(NamedTuple):
    """A token inside of a tag, or a mark that begins or ends one, as it is written."""

    kind: str
    text: str
    offset: int

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.offset + len(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenList:
    """The tokens of a text up to ``end``; ``error`` is the lexer's, which then is there.

    ``comment`` and ``raw`` are the offsets of a comment and of a raw block that does not end.
    """

    text: str
    tokens: Sequence[Token]
    end: int
    error: TemplateSyntaxError | None = None
    comment: int | None = None
    raw: int | None = None

    def tag(self, index: int) -> tuple[int, int]:
        """Return the indexes of the tag's first token, and behind its last, around a token."""
        before = range(min(index, len(self.tokens) - 1), -1, -1)
        begin = next((at for at in before if self.tokens[at].kind in _BEGINS), 0)
        end = begin + 1
        while end < len(self.tokens) and self.tokens[end].kind not in _BEGINS.values():
            end += 1
        return begin, end


def normalize(text: str) -> str:
    """Return the text with the line breaks that Jinja's lexer sees."""
    return "\n".join(_NEWLINE.split(text))


def span(source: Source, offset: int, width: int = 1) -> Span:
    """Return the span of ``width`` characters from an offset on."""
    return span_at(Source(name=source.name, text=normalize(source.text)), offset, width)


def line_at(text: str, offset: int) -> int:
    """Return the 1-based line of an offset."""
    return text.count("\n", 0, offset) + 1


def at_word(text: str, violation: Violation) -> Violation:
    """Return a violation in a tree with offsets at its word, or at the node that it is about."""
    offset, name = violation.line, violation.name
    position = -1 if name is None else text.find(name, offset, offset + len(name) + _MAX_DISTANCE)
    if position >= 0:
        offset = position
    width = len(name) if name is not None and position >= 0 else 1
    line = line_at(text, offset)
    return replace(violation, line=line, name=None, offset=offset, width=width)


def read(environment: Environment, source: str) -> TokenList:
    """Return the tokens of a template, up to the place where the lexer fails if it does."""
    text = normalize(source)
    placed, end, error = _place(environment, text)
    # The mark at which the lexer has begun what does not end.
    last = placed[-1] if error is not None and placed else (0, "", "")
    return TokenList(
        text=text,
        tokens=[
            Token(kind, value, offset) for offset, kind, value in placed if kind not in _NO_TOKENS
        ],
        end=end,
        error=error,
        comment=last[0] if last[1] == "comment_begin" else None,
        raw=last[0] if last[1] == "raw_begin" else None,
    )


def parse(environment: Environment, source: str) -> nodes.Template:
    """Return the syntax tree of a template that parses; ``lineno`` of its nodes are offsets."""
    placed, _, _ = _place(environment, normalize(source))
    parser = Parser(environment, "")
    parser.stream = TokenStream(environment.lexer.wrap(placed), None, None)
    return parser.parse()


def parse_program(
    environment: Environment, program: Program
) -> tuple[dict[str, Source], dict[str, nodes.Template]]:
    """Return the sources of a program and their trees, both by module; ``""`` is the main one."""
    sources = {"": program.main, **program.modules}
    return sources, {name: parse(environment, each.text) for name, each in sources.items()}


def first_offset(node: nodes.Node) -> int:
    """Return the offset of the first word of an expression, in a tree with offsets."""
    below = node.find_all(nodes.Node)
    return min(each.lineno for each in (node, *below) if each.lineno)


def _place(
    environment: Environment, text: str
) -> tuple[list[tuple[int, str, str]], int, TemplateSyntaxError | None]:
    """Return all tokens with their offsets, the offset behind the last, and the lexer's error."""
    placed: list[tuple[int, str, str]] = []
    end = 0
    try:
        for _, kind, value in environment.lexer.tokeniter(text, None):
            # The lexer leaves out white space only, so the token is the next such text.
            offset = max(text.find(value, end), end)
            placed.append((offset, kind, value))
            end = offset + len(value)
    except TemplateSyntaxError as error:
        return placed, end, error
    return placed, end, None
