"""Parsing of templates into trees with offsets, with Jinja's error messages in our own words.

The ``lineno`` of a node is an offset: see `tokens`. A message states the problem, its hint states
the remedy. An unclosed tag is reported with the line that opens it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.lexer import Token, TokenStream
from jinja2.parser import Parser as JinjaParser

from function_script.engines import habits, unexpected
from function_script.engines.jinja import hints, policy, wording
from function_script.engines.jinja import tokens as token_lists
from function_script.engines.jinja.environment import Environment as JinjaEnvironment
from function_script.request.program import Program
from function_script.texts import spelling
from function_script.texts.problems import list_choices
from function_script.texts.source import Source

# More than templates of the greatest allowed size have; see `policy`.
_MAX_TOKENS: Final = 4 * policy.MAX_NODES

# Words of other languages that end a block.
_ENDS: Final = frozenset({"fi", "done", "esac"})


class UnparsableError(Exception):
    """The text is not a valid template."""

    def __init__(self, violation: policy.Violation) -> None:
        super().__init__(violation.message)
        self.violation = violation


class _Parser(JinjaParser):
    """Records the open tags and their offsets."""

    open_tags: list[tuple[str, int]]

    def parse_statement(self) -> nodes.Node | list[nodes.Node]:
        """Parse one statement; its tag stays in the list if that fails."""
        token = self.stream.current
        self.open_tags.append((str(token.value), token.lineno))
        parsed = super().parse_statement()
        self.open_tags.pop()
        return parsed

    def parse_autoescape(self) -> nodes.Scope:
        """Refuse a tag of Jinja's that means nothing here."""
        self.fail_unknown_tag("autoescape", self.stream.current.lineno)


def parse(environment: Environment, text: str) -> nodes.Template:
    """Return the syntax tree of a template; raises UnparsableError."""
    tokens = token_lists.read(environment, text)
    parser = _Parser(environment, "")
    parser.open_tags = []
    try:
        parser.stream = TokenStream(_limit(tokens, environment), None, None)
        tree = parser.parse()
    except TemplateSyntaxError as error:
        raise UnparsableError(_explain(error, tokens, parser)) from error
    except (RecursionError, ValueError) as error:
        # Python refuses to read numbers of more than 4,300 digits.
        is_deep = isinstance(error, RecursionError)
        message = "nested too deeply" if is_deep else "a number with too many digits"
        offset = parser.stream.current.lineno
        violation = policy.Violation(offset=offset, message=message, width=None)
        raise UnparsableError(violation) from error
    # Jinja sets the line 1, which would be an offset here.
    tree.lineno = 0
    return tree


class Template(NamedTuple):
    """A template of a program: its module, which is ``""`` of the main one, and its tree."""

    module: str
    source: Source
    tree: nodes.Template


def parse_program(program: Program) -> list[Template]:
    """Return all templates of a program, which must compile; the main one is the first."""
    sources = {"": program.main, **program.modules}
    return [
        Template(name, source, _parse_once(source.text))
        for name, source in zip(sources, map(token_lists.normalize, sources.values()), strict=True)
    ]


# A dozen analyses of `check` read one program, and none changes a tree.
@lru_cache(maxsize=16)
def _parse_once(text: str) -> nodes.Template:
    return parse(JinjaEnvironment(), text)


def _limit(tokens: token_lists.TokenList, environment: Environment) -> Iterator[Token]:
    """Yield the tokens, as many as a template may have: parsing each takes time."""
    # A stream reads one token ahead: a mistake of the lexer comes before one of the parser.
    stream = TokenStream(environment.lexer.wrap(tokens.read_on()), None, None)
    for number, token in enumerate(stream):
        if number >= _MAX_TOKENS:
            message = f"more than {_MAX_TOKENS} words, the limit of a template"
            raise TemplateSyntaxError(message, token.lineno)
        yield token


def _explain(
    error: TemplateSyntaxError, tokens: token_lists.TokenList, parser: _Parser
) -> policy.Violation:
    """Return the violation of an error, which leaves the parser's stream where it is raised.

    It is that of a rule of `hints` if one recognises the mistake.
    """
    mistake = wording.read_syntax_error(error)
    if mistake.code == "unclosed" and parser.open_tags:
        tag, offset = parser.open_tags[-1]
        hint, text = f"it ends with {_closing_tags(mistake.tags)}", f'"{tag}" is not closed'
        return policy.Violation(offset=offset, message=text, name=tag, hint=hint)
    index, is_of_lexer = len(tokens.tokens), error is tokens.error
    if not is_of_lexer:
        try:
            # The tokens in tags from the unexpected one on, up to a mistake of the lexer.
            while parser.stream.current.type != "eof":
                index -= parser.stream.current.type != "data"
                next(parser.stream)
        except TemplateSyntaxError:
            pass
        # The parser has taken what follows a dot before it looks at it.
        index -= mistake.code == "dot"
    # Behind the last token, and where the lexer fails, it has none.
    site = unexpected.Site(text=tokens.text, tokens=tokens.tokens, index=index)
    if mistake.code == "tag":
        return _unknown_tag(mistake, site, error.lineno, parser.open_tags)
    violation = hints.of_lexer(tokens) if is_of_lexer else hints.of_parser(tokens, index)
    return violation or _unexpected(mistake, site.at(0), error.lineno)


def _unexpected(
    mistake: wording.SyntaxMistake, token: unexpected.Token, offset: int
) -> policy.Violation:
    """Return the violation of a mistake that is no common one, in the parser's words."""
    message = mistake.text
    if not token.text:
        return policy.Violation(offset=offset, message=message, name=mistake.name, width=None)
    text = token.text.strip()
    if mistake.code == "expected":
        quoted_text = text if text[:1] in "\"'" else f'"{text}"'
        end = f', expected "{mistake.expected}"' if mistake.expected else ""
        message = f"unexpected {quoted_text}{end}"
    elif mistake.code == "unexpected":
        message = f'unexpected "{text}"'
    width = max(1, len(text.partition("\n")[0]))
    return policy.Violation(message=message, offset=token.offset, width=width)


def _unknown_tag(
    mistake: wording.SyntaxMistake,
    site: unexpected.Site,
    offset: int,
    open_tags: Sequence[tuple[str, int]],
) -> policy.Violation:
    tag, expected = mistake.name or "", mistake.tags
    # The unknown tag itself is the last one in the list.
    enclosing = [each for each in open_tags if each != (tag, offset)]
    open_tag = enclosing[-1] if enclosing else None
    is_part = tag.startswith("end") or tag in _ENDS or tag in hints.TAGS_ELSEWHERE
    near = (
        None
        if tag in hints.TAGS_ELSEWHERE
        else spelling.nearest(tag, (*expected, *hints.STATEMENTS))
    )
    # The sign behind `name`, `name:` or `name.attribute`.
    sign = site.text_at({":": 2, ".": 3}.get(site.text_at(1), 1))
    if tag not in hints.TAGS_ELSEWHERE and (foreign := habits.find("jinja", tag, "tag")):
        # `do names.append(name)`, of which only some methods are of one type.
        match = re.match(r"do\s+([\w.]+)\.(\w+)\(", site.text[offset:])
        is_namespace = match and re.search(rf"\b{match[1]}\s*=\s*namespace\b", site.text)
        method = match[2] if match and not is_namespace else ""
        ways = {habits.find("jinja", method, "list"), habits.find("jinja", method, "object")}
        ways.discard(None)
        hint, open_tag = ways.pop() if len(ways) == 1 else foreign, None
    elif sign == "=":
        hint, open_tag = "write {% set name = value %}", None
    elif is_part and (begin := hints.foreign_beginning(tag, site.text[:offset], open_tag)):
        return begin
    elif is_part and open_tag is not None and near not in expected:
        hint = f'"{open_tag[0]}" ends with {_closing_tags(expected)}'
    elif near is not None:
        hint = f'did you mean "{near}"?'
        open_tag = open_tag if near in expected else None
    elif tag in {"else", "elif"}:
        hint = 'no "if" and no "for" is open here'
    elif tag.startswith("end"):
        hint = f'no "{tag.removeprefix("end")}" is open here'
    else:
        hint, open_tag = list_choices(hints.STATEMENTS), None
    message, width = f'there is no tag "{tag}" here', max(1, len(tag))
    return policy.Violation(
        offset=offset, message=message, hint=hint, open_tag=open_tag, width=width
    )


def _closing_tags(tags: Sequence[str]) -> str:
    ends = [tag for tag in tags if tag.startswith("end")]
    return " or ".join("{% " + tag + " %}" for tag in ends) or "a tag of its own"
