"""Tokens to nodes, with Go's grammar and the texts of Go's errors.

Unknown functions and undeclared variables are reported together; anything else stops the parser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from function_script.engines.gotemplate.errors import LimitExceededError, ParseError
from function_script.engines.gotemplate.printing import quote
from function_script.engines.gotemplate.syntax import literals
from function_script.engines.gotemplate.syntax.lexer import Token, tokenize
from function_script.engines.gotemplate.syntax.nodes import (
    Action,
    Break,
    Continue,
    If,
    Node,
    Pipe,
    Range,
    Template,
    Text,
    With,
)
from function_script.engines.gotemplate.syntax.pipelines import MAX_NESTING, PipelineParser

if TYPE_CHECKING:
    from collections.abc import Container, Mapping


# The largest template seen in public has 1,600; each takes about 5 kB while it is compiled.
MAX_TOKENS: Final = 20_000


class End(NamedTuple):
    """What closed a list of nodes: ``{{end}}`` or ``{{else}}``."""

    keyword: str
    position: int
    # The if or with that stands right after an else.
    then: str = ""


Closed: TypeAlias = tuple[list[Node], End]
Trees: TypeAlias = dict[str, list[Node]]


class Parsed(NamedTuple):
    """The templates of a text, what it assigns and calls by name, and how many tokens it has."""

    trees: Trees
    assigned: frozenset[str]
    called: frozenset[str]
    tokens: int


class Grammar(NamedTuple):
    """What a parser must know of its surroundings."""

    delims: tuple[str, str]
    functions: Container[str]


class ParseFailure(Exception):  # noqa: N818 # several errors, not one
    """A template that does not parse: all errors found, the one Go would report first."""

    def __init__(self, errors: list[ParseError]) -> None:
        super().__init__(str(errors[0]))
        self.errors = errors


def parse(name: str, text: str, grammar: Grammar) -> Parsed:
    """The templates in ``text`` by name, its own under ``name``.

    Raises ParseFailure, and OverLimit for more tokens than can be compiled in reasonable memory.
    """
    tokens = tokenize(text, *grammar.delims)
    check_tokens(len(tokens))
    parser = _Parser(text, tokens, grammar.functions)
    try:
        parser.parse_all(name)
    except ParseError as error:
        if error.position is None:
            error.position = parser.here
        parser.errors.append(error)
    except RecursionError:
        parser.errors.append(ParseError("the template is nested too deeply", parser.here))
    if parser.errors:
        raise ParseFailure(parser.errors)
    return Parsed(parser.trees, frozenset(parser.assigned), frozenset(parser.called), len(tokens))


def check_tokens(count: int) -> None:
    """Raise OverLimit for more than a program may have."""
    if count > MAX_TOKENS:
        raise LimitExceededError(f"{count} tokens, the limit is {MAX_TOKENS}")


class _Parser(PipelineParser):
    def __init__(self, text: str, tokens: list[Token], functions: Container[str]) -> None:
        super().__init__(tokens, functions)
        self.text = text
        self.trees: Trees = {}
        self.ranges = 0
        # The blocks that wait for their end, outermost first.
        self.open: list[Token] = []

    def parse_all(self, name: str) -> None:
        """The whole text: nodes and definitions."""
        root: list[Node] = []
        while self.peek().kind != "eof":
            if self.peek().kind == "left" and self.tokens[self.index + 1].kind == "define":
                self.next()
                self.open.append(self.next())
                self.define()
                self.open.pop()
                continue
            node = self.text_or_action()
            if isinstance(node, End):
                raise ParseError(f"unexpected {{{{{node.keyword}}}}}", cause=node.position)
            root.append(node)
        self.add(name, root)

    def define(self) -> None:
        """A named template, from behind ``define``."""
        context = "define clause"
        name = literals.read_string(self.expect(("string", "raw"), context).text)
        self.expect(("right",), context)
        self.add(name, self.named_body(context))

    def named_body(self, context: str) -> list[Node]:
        """The nodes of a template of its own: it sees no variables, no loop of the outside."""
        outside = self.variables, self.ranges
        self.variables, self.ranges = ["$"], 0
        body, end = self.items()
        if end.keyword != "end":
            text = f"unexpected {{{{{end.keyword}}}}} in {context}"
            raise ParseError(text, cause=end.position)
        self.variables, self.ranges = outside
        return body

    def add(self, name: str, root: list[Node]) -> None:
        """Keep a definition, unless there is one already: an empty one gives way."""
        if name not in self.trees or _is_empty(self.trees[name]):
            self.trees[name] = root
        elif not _is_empty(root):
            raise ParseError(f"template: multiple definition of template {quote(name)}")

    def items(self) -> Closed:
        """Nodes up to the end or else that closes them."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise ParseError(f"blocks are nested more than {MAX_NESTING} deep")
        nodes: list[Node] = []
        while self.peek().kind != "eof":
            node = self.text_or_action()
            if isinstance(node, End):
                self.nesting -= 1
                return nodes, node
            nodes.append(node)
        raise self.unclosed()

    def unclosed(self) -> ParseError:
        """The text ends inside of a block, which is where to look for the mistake."""
        if not self.open:
            return ParseError("unexpected EOF")
        token = self.open[-1]
        return ParseError(
            "unexpected EOF", hint=f"this {token.kind} has no end", cause=token.position
        )

    def text_or_action(self) -> Node | End:
        """One node."""
        token = self.next()
        if token.kind == "text":
            return Text(token.position, token.text)
        if token.kind == "left":
            return self.action()
        raise self.unexpected(token, "input")

    def action(self) -> Node | End:
        """What stands between delimiters, from behind the left one."""
        token = self.peek()
        control = _CONTROLS.get(token.kind)
        if control is None:
            return Action(token.position, self.pipeline("command", "right"))
        self.next()
        return control(self, token)

    def loop_control(self, token: Token) -> Node:
        """``break`` or ``continue``."""
        shown = f"{{{{{token.kind}}}}}"
        self.expect(("right",), shown)
        if self.ranges == 0:
            raise ParseError(f"{shown} outside {{{{range}}}}")
        make = Break if token.kind == "break" else Continue
        return make(token.position)

    def end(self, token: Token) -> End:
        """``end``."""
        self.expect(("right",), "end")
        return End("end", token.position)

    def otherwise(self, token: Token) -> End:
        """``else``, with or without an if or with behind it."""
        if self.peek().kind in {"if", "with"}:
            return End("else", token.position, self.peek().kind)
        self.expect(("right",), "else")
        return End("else", token.position)

    def branch(self, token: Token) -> Node:
        """``if``, ``with`` or ``range`` with all its parts; a chain of else-ifs is one loop."""
        kind = token.kind
        known = len(self.variables)
        self.open.append(token)
        links: list[tuple[Pipe, list[Node]]] = []
        rest: list[Node] | None = None
        while True:
            pipe = self.pipeline(kind, "right")
            self.ranges += kind == "range"
            body, end = self.items()
            self.ranges -= kind == "range"
            links.append((pipe, body))
            if end.then != kind:
                break
            self.next()
        if end.keyword == "else":
            rest, end = self.items()
            if end.keyword != "end":
                text = f"expected end; found {{{{{end.keyword}}}}}"
                raise ParseError(text, cause=end.position)
        del self.variables[known:]
        self.open.pop()
        make = _BRANCHES[kind]
        while len(links) > 1:
            pipe, body = links.pop()
            rest = [make(pipe.position, pipe, body, rest)]
        pipe, body = links[0]
        return make(pipe.position, pipe, body, rest)

    def template(self, _: Token) -> Node:
        """``template "name" pipeline``."""
        context = "template clause"
        token = self.next()
        name = self.template_name(token, context)
        pipe = None
        if self.peek().kind == "right":
            self.next()
        else:
            pipe = self.pipeline(context, "right")
        return Template(token.position, name, pipe)

    def block(self, keyword: Token) -> Node:
        """``block "name" pipeline``: a definition and its use."""
        context = "block clause"
        token = self.next()
        name = self.template_name(token, context)
        pipe = self.pipeline(context, "right")
        self.open.append(keyword)
        self.add(name, self.named_body(context))
        self.open.pop()
        return Template(token.position, name, pipe)

    def template_name(self, token: Token, context: str) -> str:
        """A template's name: a string constant."""
        if token.kind not in {"string", "raw"}:
            raise self.unexpected(token, context)
        return literals.read_string(token.text)


_CONTROLS: Final = {
    "block": _Parser.block,
    "break": _Parser.loop_control,
    "continue": _Parser.loop_control,
    "else": _Parser.otherwise,
    "end": _Parser.end,
    "if": _Parser.branch,
    "range": _Parser.branch,
    "template": _Parser.template,
    "with": _Parser.branch,
}
_BRANCHES: Final[Mapping[str, type[If | Range | With]]] = {"if": If, "range": Range, "with": With}


def _is_empty(root: list[Node]) -> bool:
    return all(isinstance(node, Text) and not node.text.strip() for node in root)
