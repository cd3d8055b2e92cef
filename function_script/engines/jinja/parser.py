"""Parsing of templates, with Jinja's error messages in our own words.

A message states the problem, its hint states the remedy. An unclosed tag is reported with the line
that opens it.
"""

import re

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.parser import Parser as JinjaParser

from function_script.engines.jinja import hints
from function_script.engines.jinja.exceptions import reword
from function_script.engines.jinja.policy import Violation
from function_script.problems import nearest

_STATEMENTS = (
    *("block", "call", "extends", "filter", "for", "from", "if", "import", "include", "macro"),
    *("raw", "set", "with"),
)
# Tags that exist; where the parser does not know them they are misplaced.
_TAGS_ELSEWHERE = {"elif", "else", *(f"end{statement}" for statement in _STATEMENTS)}
_SENTENCE = re.compile(r"(?<=[a-z'\"])\. ")
_QUOTED = re.compile(r"'([^']+)'")
_TAGS = re.compile(r"(?:for the following tags:|but currently looking for) (.+?)\.(?: |$)")


class UnparsableError(Exception):
    """The text is not a valid template."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(violation.message)
        self.violation = violation


class _Parser(JinjaParser):
    """Records the open tags and their lines."""

    open_tags: list[tuple[str, int]]

    def parse_statement(self) -> nodes.Node | list[nodes.Node]:
        """Parse one statement; its tag stays in the list if that fails."""
        token = self.stream.current
        self.open_tags.append((str(token.value), token.lineno))
        parsed = super().parse_statement()
        self.open_tags.pop()
        return parsed


def parse(environment: Environment, text: str) -> nodes.Template:
    """Return the syntax tree of a template; raises UnparsableError."""
    parser = None
    open_tags: list[tuple[str, int]] = []
    try:
        parser = _Parser(environment, text)
        parser.open_tags = open_tags
        return parser.parse()
    except TemplateSyntaxError as error:
        raise UnparsableError(_to_violation(error, open_tags)) from error
    except RecursionError as error:
        line = parser.stream.current.lineno if parser is not None else 1
        raise UnparsableError(Violation(line=line, message="nested too deeply")) from error
    except ValueError as error:
        # Python refuses to read numbers of more than 4,300 digits.
        line = parser.stream.current.lineno if parser is not None else 1
        raise UnparsableError(
            Violation(line=line, message="a number with too many digits")
        ) from error


def _to_violation(error: TemplateSyntaxError, open_tags: list[tuple[str, int]]) -> Violation:
    message = error.message or "the text is no template"
    if message.startswith("Unexpected end of template") and open_tags:
        tag, line = open_tags[-1]
        hint = f"it ends with {_closing_tags(message)}"
        return Violation(line=line, message=f'"{tag}" is not closed', name=tag, hint=hint)
    if message.startswith("Encountered unknown tag"):
        return _unknown_tag(error, message, open_tags)
    if violation := hints.find(message, error.lineno):
        return violation
    first_sentence = _SENTENCE.split(message, maxsplit=1)[0].rstrip(".")
    quoted = _QUOTED.search(message)
    return Violation(
        line=error.lineno,
        message=reword(first_sentence),
        name=quoted[1] if quoted else None,
    )


def _closing_tags(message: str) -> str:
    tags = _expected_tags(message)
    return " or ".join("{% " + tag + " %}" for tag in tags) or "a tag of its own"


def _expected_tags(message: str) -> list[str]:
    """Return the tags that would continue or close the open tag."""
    match = _TAGS.search(message)
    return _QUOTED.findall(match[1]) if match else []


def _unknown_tag(
    error: TemplateSyntaxError, message: str, open_tags: list[tuple[str, int]]
) -> Violation:
    quoted = _QUOTED.search(message)
    tag = quoted[1] if quoted else ""
    # The unknown tag itself is the last one in the list.
    enclosing = [each for each in open_tags if each != (tag, error.lineno)]
    open_tag = enclosing[-1] if enclosing else None
    expected = _expected_tags(message)
    near = None if tag in _TAGS_ELSEWHERE else nearest(tag, (*expected, *_STATEMENTS))
    if near is not None:
        hint = f'did you mean "{near}"?'
        open_tag = open_tag if near in expected else None
    elif open_tag is not None:
        hint = f'"{open_tag[0]}" ends with {_closing_tags(message)}'
    elif tag.startswith("end"):
        hint = f'no "{tag.removeprefix("end")}" is open here'
    else:
        hint = f"there are {', '.join(_STATEMENTS)}"
    message = f'there is no tag "{tag}" here'
    return Violation(line=error.lineno, message=message, name=tag, hint=hint, open_tag=open_tag)
