"""Sources of users, and spans in them. Lines and columns are 1-based; columns count characters."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A text with its name for the author.

    ``name`` is the input's field path (``script``, ``modules[lib.star]``) or a file's path
    below its directory (``main.star``); positions are reported as ``name:line:column``.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A range in a line of a source. ``column`` None: the whole line. ``width`` in characters."""

    name: str
    line: int
    column: int | None = None
    width: int = 1

    def __str__(self) -> str:
        position = f"{self.name}:{self.line}"
        return position if self.column is None else f"{position}:{self.column}"


JINJA_FILTER = "{}({})"
"""The form of a filter with an argument in Jinja; Go has none around it."""
# Texts and brackets without others inside, and operators outside of them.
_ENCLOSED = re.compile(r"\"[^\"]*\"|'[^']*'|\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")
_OPERATOR = re.compile(r"[-~+*/%<>=,]|\b(?:if|or|and|not|in|is)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a rendered text, and the part of a template that wrote it.

    ``start`` and ``end`` are offsets in ``source``, the template's text: of the same text, or of
    the tag around ``expression`` that printed it. ``locate`` returns the span of an offset and a
    width. ``filter_form`` is the form of a filter with an argument, such as ``{}({})``.
    """

    text: str
    source: str
    start: int
    end: int
    locate: Callable[[int, int], Span]
    expression: str | None = None
    filter_form: str = ""

    @property
    def span(self) -> Span:
        """The span of the expression, or of the first line of the text."""
        if self.expression is None:
            return self.locate(self.start, max(len(self.text.partition("\n")[0]), 1))
        offset = max(self.source.find(self.expression, self.start), self.start)
        return self.locate(offset, max(len(self.expression), 1))

    def to_operand(self, expression: str) -> str:
        """Return an expression as it stands before a filter, which in Jinja binds most."""
        rest, simple = "", expression
        while rest != simple:
            rest, simple = simple, _ENCLOSED.sub("", simple)
        has_operator = self.filter_form == JINJA_FILTER and _OPERATOR.search(simple)
        return f"({expression})" if has_operator else expression


def span_at(source: Source, position: int, width: int = 1) -> Span:
    r"""Return the span of ``width`` characters from a 0-based position on, cut at the line's end.

    A line ends at ``\n`` only, as in the parsers of all languages: ``str.splitlines`` also ends it
    at U+0085 and U+2028, which any string may have.
    """
    start = source.text.rfind("\n", 0, position) + 1
    end = source.text.find("\n", position)
    room = (end if end >= 0 else len(source.text)) - position
    return Span(
        name=source.name,
        line=source.text.count("\n", 0, position) + 1,
        column=position - start + 1,
        width=max(1, min(width, room)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """Lines around a span; ``first_line`` is the number of ``lines[0]``.

    Each line begins with its column ``first_column``, which is not 1 where the span is far right.
    """

    first_line: int
    lines: tuple[str, ...]
    first_column: int = 1


# Longer lines are cut, around the span.
_MAX_EXCERPT_COLUMNS = 200
_LINES_AROUND = 2
# As editors count lines; str.splitlines also splits at form feeds within a string.
_LINE_END = re.compile(r"\r\n|\n|\r")
# A text may have a problem in each of its lines.
_split_lines = lru_cache(maxsize=2)(_LINE_END.split)


def excerpt(source: Source, span: Span) -> Excerpt | None:
    """Return the lines around ``span`` in ``source``; None for a span outside of it."""
    lines = _split_lines(source.text)
    # The empty line after the last line end is a line only if the span is in it.
    count = len(lines) - (not lines[-1] and span.line < len(lines))
    if not 1 <= span.line <= count:
        return None
    first = max(1, span.line - _LINES_AROUND)
    last = min(count, span.line + _LINES_AROUND)
    start = 0
    if span.column is not None and span.column + span.width > _MAX_EXCERPT_COLUMNS:
        start = max(0, span.column - _MAX_EXCERPT_COLUMNS // 2)
    end = start + _MAX_EXCERPT_COLUMNS
    around = tuple(line[start:end] for line in lines[first - 1 : last])
    return Excerpt(first_line=first, lines=around, first_column=start + 1)
