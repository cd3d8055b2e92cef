"""Statements and values of other template languages: in a template they are text that stays.

A finding is certain from the text of the template alone. The table is `foreign_syntax.tsv`. In a
text of several parts, the "$" of `dollar-before-value` may be meant.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from function_script.engines.tables import read_rows
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.source import Source, Span


class ForeignSyntax(NamedTuple):
    """A pattern of a line, whose group ``mark`` is the place, and what to say of it.

    ``is_block``: an end belongs to it, so that the first in a source is the finding.
    """

    pattern: re.Pattern[str]
    message: str
    hint: str
    is_block: bool = True


WHOLE_LINE: Final = r"^[ -]*(?:[\w./\"'-]+: +)?[\"']?{}[\"']?\s*$"
"""The pattern of a line that has no other value than one of a pattern."""
_BLOCK_SCALAR: Final = re.compile(r"(?:.*[: -])?[|>][-+0-9]*[ \t]*(?:#.*)?")
_DOLLAR: Final = "${{"
# One without an end takes the rest: else each of many such would be searched for an end.
_RAW: Final = re.compile(r"\{%[-+]? *raw *[-+]?%\}(?:.*?\{%[-+]? *endraw|.*)", re.DOTALL)
_DOLLAR_BEFORE_VALUE, JINJA_TAG, JINJA_COMMENT, LINE_STATEMENT, DIRECTIVE = (
    ForeignSyntax(re.compile(pattern), message, hint, is_block == "yes")
    for _, pattern, message, hint, is_block in read_rows("foreign_syntax")
)
IN_GO: Final = (JINJA_TAG, JINJA_COMMENT, DIRECTIVE._replace(hint=JINJA_TAG.hint))
"""Leftovers of a Go template in its text."""
IN_JINJA: Final = (LINE_STATEMENT, DIRECTIVE)
"""Leftovers of a Jinja template in its text."""


def find(source: Source, text: str, syntax: Iterable[ForeignSyntax]) -> Iterator[Diagnostic]:
    """Yield findings in ``text``, the source with other characters in place of some parts.

    A block scalar of YAML may be a program of the other language, and is left out.
    """
    rest = [*syntax]
    for number, line in outside_scalars(text.split("\n")):
        for each in [*rest]:
            if match := each.pattern.search(line):
                if each.is_block:
                    rest.remove(each)
                column, width = match.start("mark") + 1, len(match["mark"])
                span = Span(name=source.name, line=number, column=column, width=width)
                yield Diagnostic(message=each.message, hint=each.hint).at(source, span)


def find_dollars(sources: Iterable[Source]) -> tuple[Diagnostic, ...]:
    """Return a finding for each value of a template that is written as in GitHub's workflows."""
    return tuple(
        problem
        for source in sources
        if _DOLLAR in source.text
        # In a raw block of Jinja, {{ }} is no action.
        for text in [_RAW.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source.text)]
        for problem in find(source, text, (_DOLLAR_BEFORE_VALUE,))
    )


def hint_of(line: str, syntax: Iterable[ForeignSyntax]) -> str | None:
    """Return the hint for a rendered line that is no YAML; None where it has no such syntax."""
    return next((each.hint for each in syntax if each.pattern.search(line)), None)


def outside_scalars(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines outside of block scalars with their numbers, from 1."""
    scalar: int | None = None
    for number, line in enumerate(lines, 1):
        indent = len(line) - len(line.lstrip(" "))
        if scalar is not None and (indent > scalar or not line.strip()):
            continue
        scalar = indent if _BLOCK_SCALAR.fullmatch(line) else None
        yield number, line
