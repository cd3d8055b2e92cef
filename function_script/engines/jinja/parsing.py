"""From a template's text to its syntax tree, or to one finding that says why there is none.

Called when a program is compiled. Jinja's own messages are reworded: what is wrong first, then
what to do, and unclosed tags are reported with the line they were opened in.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jinja2 import TemplateSyntaxError
from jinja2.parser import Parser as JinjaParser

from function_script.engines.jinja import syntax_hints
from function_script.engines.jinja.exceptions import reworded
from function_script.engines.jinja.tree import Violation
from function_script.problems import nearest

if TYPE_CHECKING:
    from jinja2 import Environment, nodes

_STATEMENTS = (
    *("block", "call", "extends", "filter", "for", "from", "if", "import", "include", "macro"),
    *("raw", "set", "with"),
)
# Tags that exist, and stand at the wrong place when they are not known there.
_TAGS_ELSEWHERE = {"elif", "else", *(f"end{statement}" for statement in _STATEMENTS)}
_SENTENCE = re.compile(r"(?<=[a-z'\"])\. ")
_QUOTED = re.compile(r"'([^']+)'")
_TAGS = re.compile(r"(?:for the following tags:|but currently looking for) (.+?)\.(?: |$)")


class UnparsableError(Exception):
    """The text is no template."""

    def __init__(self, finding: Violation) -> None:
        super().__init__(finding.message)
        self.finding = finding


class _Parser(JinjaParser):
    """Remembers the lines of the tags that are open."""

    open_tags: list[tuple[str, int]]

    def parse_statement(self) -> nodes.Node | list[nodes.Node]:
        """Parse one statement; when that fails, its tag stays in the list."""
        token = self.stream.current
        self.open_tags.append((str(token.value), token.lineno))
        parsed = super().parse_statement()
        self.open_tags.pop()
        return parsed


def parse(environment: Environment, text: str) -> nodes.Template:
    """The syntax tree of a template; raises UnparsableError."""
    parser = None
    open_tags: list[tuple[str, int]] = []
    try:
        parser = _Parser(environment, text)
        parser.open_tags = open_tags
        return parser.parse()
    except TemplateSyntaxError as error:
        raise UnparsableError(_reworded(error, open_tags)) from error
    except RecursionError as error:
        line = parser.stream.current.lineno if parser is not None else 1
        raise UnparsableError(Violation(line=line, message="nested too deeply")) from error
    except ValueError as error:
        # Python refuses to read numbers of more than 4,300 digits.
        line = parser.stream.current.lineno if parser is not None else 1
        raise UnparsableError(
            Violation(line=line, message="a number with too many digits")
        ) from error


def _reworded(error: TemplateSyntaxError, open_tags: list[tuple[str, int]]) -> Violation:
    message = error.message or "the text is no template"
    first = _SENTENCE.split(message, maxsplit=1)[0].rstrip(".")
    if message.startswith("Unexpected end of template") and open_tags:
        return _unclosed(message, open_tags[-1])
    if message.startswith("Encountered unknown tag"):
        return _unknown_tag(error, message, open_tags)
    if classic := syntax_hints.find(message, error.lineno):
        return classic
    quoted = _QUOTED.search(message)
    return Violation(
        line=error.lineno,
        message=reworded(first),
        name=quoted[1] if quoted else None,
    )


def _unclosed(message: str, opened: tuple[str, int]) -> Violation:
    tag, line = opened
    return Violation(
        line=line,
        message=f'"{tag}" is not closed',
        name=tag,
        hint=f"it ends with {_closing(message)}",
    )


def _closing(message: str) -> str:
    return " or ".join("{% " + tag + " %}" for tag in _wanted(message)) or "a tag of its own"


def _wanted(message: str) -> list[str]:
    """The tags that would go on with what is open, or close it."""
    wanted = _TAGS.search(message)
    return _QUOTED.findall(wanted[1]) if wanted else []


def _unknown_tag(
    error: TemplateSyntaxError, message: str, open_tags: list[tuple[str, int]]
) -> Violation:
    quoted = _QUOTED.search(message)
    tag = quoted[1] if quoted else ""
    # The unknown tag itself was the last one to be opened.
    enclosing = [opened for opened in open_tags if opened != (tag, error.lineno)]
    opened = enclosing[-1] if enclosing else None
    wanted = _wanted(message)
    near = None if tag in _TAGS_ELSEWHERE else nearest(tag, (*wanted, *_STATEMENTS))
    if near is not None:
        hint = f'did you mean "{near}"?'
        opened = opened if near in wanted else None
    elif opened is not None:
        hint = f'"{opened[0]}" ends with {_closing(message)}'
    elif tag.startswith("end"):
        hint = f'no "{tag.removeprefix("end")}" is open here'
    else:
        hint = f"there are {', '.join(_STATEMENTS)}"
    message = f'there is no tag "{tag}" here'
    return Violation(line=error.lineno, message=message, name=tag, hint=hint, opened=opened)
