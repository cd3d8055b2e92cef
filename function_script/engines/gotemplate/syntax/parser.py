"""Tokens to nodes, with Go's grammar and the texts of Go's errors.

Unknown functions and undeclared variables are all reported; any other error stops the parser.
"""

from collections.abc import Container, Mapping
from typing import Final, NamedTuple, TypeAlias

from function_script.engines.gotemplate.errors import LimitExceededError, ParseError
from function_script.engines.gotemplate.function import Function
from function_script.engines.gotemplate.printing import quote
from function_script.engines.gotemplate.syntax import literals, nodes
from function_script.engines.gotemplate.syntax.lexer import Token, tokenize

# The largest template seen in public has 1,600; each takes about 5 kB while it is compiled.
MAX_TOKENS: Final = 20_000
# Python cannot follow much deeper nesting; real templates stay below 10.
_MAX_NESTING: Final = 45


class End(NamedTuple):
    """The end of a list of nodes: ``{{end}}`` or ``{{else}}``."""

    keyword: str
    position: int
    # The keyword ``if`` or ``with`` right behind an else.
    then: str = ""


Closed: TypeAlias = tuple[list[nodes.Node], End]
Trees: TypeAlias = dict[str, list[nodes.Node]]


class Parsed(NamedTuple):
    """The templates of a text, its assigned variables and called functions, its count of tokens."""

    trees: Trees
    assigned: frozenset[str]
    calls: frozenset[str]
    tokens: int


class Grammar(NamedTuple):
    """The delimiters, and the names of the functions."""

    delims: tuple[str, str]
    functions: Mapping[str, Function]


class ParseFailure(Exception):  # noqa: N818 # several errors, not one
    """A template that does not parse; ``errors`` begin with the one that Go reports."""

    def __init__(self, errors: list[ParseError]) -> None:
        super().__init__(str(errors[0]))
        self.errors = errors


def parse(name: str, text: str, grammar: Grammar) -> Parsed:
    """Parse the templates in ``text``; its own has the name ``name``.

    Raises ParseFailure, and LimitExceededError for more tokens than can be compiled in reasonable
    memory.
    """
    tokens = tokenize(text, *grammar.delims)
    check_tokens(len(tokens))
    parser = _Parser(text, tokens, grammar.functions)
    try:
        parser.parse_text(name)
    except ParseError as error:
        if error.position is None:
            error.position = parser.here
        parser.errors.append(error)
    except RecursionError:
        parser.errors.append(ParseError("the template is nested too deeply", parser.here))
    if parser.errors:
        raise ParseFailure(parser.errors)
    return Parsed(parser.trees, frozenset(parser.assigned), frozenset(parser.calls), len(tokens))


def check_tokens(count: int) -> None:
    """Raise LimitExceededError for too many tokens of a program."""
    if count > MAX_TOKENS:
        raise LimitExceededError(f"{count} tokens, the limit is {MAX_TOKENS}")


class _Parser:
    """Parses one text: its nodes and definitions, and the pipelines inside of actions.

    An unknown function and an undeclared variable do not stop it: they are added to ``errors``.
    The methods have the names of Go's parser.
    """

    def __init__(self, text: str, tokens: list[Token], functions: Container[str]) -> None:
        self.text = text
        self.tokens = tokens
        self.functions = functions
        self.trees: Trees = {}
        self.errors: list[ParseError] = []
        # Variables that some `=` changes, and functions that are called.
        self.assigned: set[str] = set()
        self.calls: set[str] = set()
        self.index = 0
        self.furthest = 0
        self.variables = ["$"]
        self.nesting = 0
        self.ranges = 0
        # Tokens of the open blocks, outermost first.
        self.open: list[Token] = []

    # Tokens

    @property
    def here(self) -> int:
        """The position of Go's messages: the last token that was looked at."""
        return self.tokens[self.furthest].position

    def next(self) -> Token:
        """Consume and return the next token; the last one is returned again and again."""
        token = self.peek()
        if self.index < len(self.tokens) - 1:
            self.index += 1
        return token

    def peek(self) -> Token:
        """Return the next token."""
        index = self.index
        self.furthest = max(self.furthest, index)
        return self.tokens[index]

    def expect(self, kinds: tuple[str, ...], context: str) -> Token:
        """Consume the next token, which must be one of ``kinds``."""
        token = self.next()
        if token.kind not in kinds:
            raise self.unexpected(token, context)
        return token

    def unexpected(self, token: Token, context: str) -> ParseError:
        """Return the error of an unexpected token."""
        if token.kind == "error":
            return ParseError(token.text)
        return ParseError(f"unexpected {token.format()} in {context}")

    # Nodes

    def parse_text(self, name: str) -> None:
        """Parse the whole text: nodes and definitions."""
        root: list[nodes.Node] = []
        while self.peek().kind != "eof":
            if self.peek().kind == "left" and self.tokens[self.index + 1].kind == "define":
                self.next()
                self.open.append(self.next())
                self.parse_definition()
                self.open.pop()
                continue
            node = self.text_or_action()
            if isinstance(node, End):
                raise ParseError(f"unexpected {{{{{node.keyword}}}}}", cause=node.position)
            root.append(node)
        self.add(name, root)

    def parse_definition(self) -> None:
        """Parse a named template, from behind ``define``."""
        context = "define clause"
        name = literals.read_string(self.expect(("string", "raw"), context).text)
        self.expect(("right",), context)
        self.add(name, self.named_body(context))

    def named_body(self, context: str) -> list[nodes.Node]:
        """Parse the body of a named template: outer variables and loops are invisible."""
        outer = self.variables, self.ranges
        self.variables, self.ranges = ["$"], 0
        body, end = self.item_list()
        if end.keyword != "end":
            text = f"unexpected {{{{{end.keyword}}}}} in {context}"
            raise ParseError(text, cause=end.position)
        self.variables, self.ranges = outer
        return body

    def add(self, name: str, root: list[nodes.Node]) -> None:
        """Add a definition; only an empty one may be replaced."""
        if name not in self.trees or _is_empty(self.trees[name]):
            self.trees[name] = root
        elif not _is_empty(root):
            raise ParseError(f"template: multiple definition of template {quote(name)}")

    def item_list(self) -> Closed:
        """Parse nodes up to the end or else that closes them."""
        self.nesting += 1
        if self.nesting > _MAX_NESTING:
            raise ParseError(f"blocks are nested more than {_MAX_NESTING} deep")
        body: list[nodes.Node] = []
        while self.peek().kind != "eof":
            node = self.text_or_action()
            if isinstance(node, End):
                self.nesting -= 1
                return body, node
            body.append(node)
        raise self.unclosed()

    def unclosed(self) -> ParseError:
        """Return the error of a text that ends inside of a block; its cause is the block."""
        if not self.open:
            return ParseError("unexpected EOF")
        token = self.open[-1]
        return ParseError(
            "unexpected EOF", hint=f"this {token.kind} has no end", cause=token.position
        )

    def text_or_action(self) -> nodes.Node | End:
        """Parse one node."""
        token = self.next()
        if token.kind == "text":
            return nodes.Text(token.position, token.text)
        if token.kind == "left":
            return self.action()
        raise self.unexpected(token, "input")

    def action(self) -> nodes.Node | End:
        """Parse an action, from behind the left delimiter."""
        token = self.peek()
        control = _CONTROLS.get(token.kind)
        if control is None:
            return nodes.Action(token.position, self.pipeline("command", "right"))
        self.next()
        return control(self, token)

    def loop_control(self, token: Token) -> nodes.Node:
        """Parse ``break`` or ``continue``."""
        action = f"{{{{{token.kind}}}}}"
        self.expect(("right",), action)
        if self.ranges == 0:
            raise ParseError(f"{action} outside {{{{range}}}}")
        make = nodes.Break if token.kind == "break" else nodes.Continue
        return make(token.position)

    def end_control(self, token: Token) -> End:
        """Parse ``end``."""
        self.expect(("right",), "end")
        return End("end", token.position)

    def else_control(self, token: Token) -> End:
        """Parse ``else``, perhaps with an if or with behind it."""
        if self.peek().kind in {"if", "with"}:
            return End("else", token.position, self.peek().kind)
        self.expect(("right",), "else")
        return End("else", token.position)

    def parse_control(self, token: Token) -> nodes.Node:
        """Parse all of an ``if``, ``with`` or ``range``; a chain of else-ifs is one loop here."""
        kind = token.kind
        outer_count = len(self.variables)
        self.open.append(token)
        links: list[tuple[nodes.Pipe, list[nodes.Node]]] = []
        rest: list[nodes.Node] | None = None
        while True:
            pipe = self.pipeline(kind, "right")
            self.ranges += kind == "range"
            body, end = self.item_list()
            self.ranges -= kind == "range"
            links.append((pipe, body))
            if end.then != kind:
                break
            self.next()
        if end.keyword == "else":
            rest, end = self.item_list()
            if end.keyword != "end":
                text = f"expected end; found {{{{{end.keyword}}}}}"
                raise ParseError(text, cause=end.position)
        del self.variables[outer_count:]
        self.open.pop()
        make = _BRANCHES[kind]
        while len(links) > 1:
            pipe, body = links.pop()
            rest = [make(pipe.position, pipe, body, rest)]
        pipe, body = links[0]
        return make(pipe.position, pipe, body, rest)

    def template_control(self, _: Token) -> nodes.Node:
        """Parse ``template "name" pipeline``."""
        context = "template clause"
        token = self.next()
        name = self.template_name(token, context)
        pipe = None
        if self.peek().kind == "right":
            self.next()
        else:
            pipe = self.pipeline(context, "right")
        return nodes.Template(token.position, name, pipe)

    def block_control(self, keyword: Token) -> nodes.Node:
        """Parse ``block "name" pipeline``: a definition and its use."""
        context = "block clause"
        token = self.next()
        name = self.template_name(token, context)
        pipe = self.pipeline(context, "right")
        self.open.append(keyword)
        self.add(name, self.named_body(context))
        self.open.pop()
        return nodes.Template(token.position, name, pipe)

    def template_name(self, token: Token, context: str) -> str:
        """Read a template's name: a string constant."""
        if token.kind not in {"string", "raw"}:
            raise self.unexpected(token, context)
        return literals.read_string(token.text)

    # Pipelines

    def pipeline(self, context: str, end: str) -> nodes.Pipe:
        """Parse declarations and commands up to ``end``, which is consumed."""
        start = self.peek().position
        declared, assigns = self.declarations(context)
        commands: list[nodes.Command] = []
        while True:
            token = self.peek()
            if token.kind == end:
                self.next()
                break
            if token.kind not in _OPERANDS:
                self.next()
                raise self.unexpected(token, context)
            commands.append(self.command())
        if not commands:
            raise ParseError(f"missing value for {context}")
        for stage, command in enumerate(commands[1:], 2):
            if isinstance(
                command.words[0], (nodes.Bool, nodes.Dot, nodes.Nil, nodes.Number, nodes.String)
            ):
                raise ParseError(f"non executable command in pipeline stage {stage}")
        return nodes.Pipe(start, tuple(declared), assigns, tuple(commands))

    def declarations(self, context: str) -> tuple[list[nodes.Variable], bool]:
        """Parse ``$x :=``, ``$i, $x :=``, ``$x =``, or nothing."""
        declared: list[nodes.Variable] = []
        while self.peek().kind == "variable":
            variable = self.next()
            following = self.peek()
            if following.kind in {"declare", "assign"}:
                self.next()
                declared.append(self.declare(variable))
                assigns = following.kind == "assign"
                if assigns:
                    self.assigned.update(variable.names[0] for variable in declared)
                return declared, assigns
            if following.text != "," or following.kind != "punctuation":
                self.index -= 1
                break
            self.next()
            declared.append(self.declare(variable))
            if context != "range" or len(declared) > 1:
                raise ParseError(f"too many declarations in {context}")
            if self.peek().kind not in {"variable", "right", "rparen"}:
                raise ParseError("range can only initialize variables")
        return declared, False

    def declare(self, token: Token) -> nodes.Variable:
        """Declare a variable from here on."""
        self.variables.append(token.text)
        return nodes.Variable(token.position, (token.text,))

    def command(self) -> nodes.Command:
        """Parse operands up to a pipe or the end of the pipeline."""
        start = self.peek().position
        words: list[nodes.Operand] = []
        while True:
            word = self.operand()
            if word is not None:
                words.append(word)
            token = self.peek()
            if token.kind in {"right", "rparen"} or (token.kind == "pipe" and words):
                if token.kind == "pipe":
                    self.next()
                break
            if word is None or not token.gap:
                self.next()
                raise self.unexpected(token, "operand")
        if not words:
            raise ParseError("empty command")
        return nodes.Command(start, tuple(words))

    def operand(self) -> nodes.Operand | None:
        """Parse a term and the fields that follow it; None if the next token begins no term."""
        term = self.term()
        following = self.peek()
        if term is None or following.kind != "field" or following.gap:
            return term
        names = []
        while self.peek().kind == "field" and not self.peek().gap:
            names.append(self.next().text[1:])
        if isinstance(term, (nodes.Field, nodes.Variable)):
            return type(term)(following.position, (*term.names, *names))
        if isinstance(term, (nodes.Bool, nodes.String, nodes.Number, nodes.Nil, nodes.Dot)):
            raise ParseError(f"unexpected . after term {quote(nodes.to_source(term))}")
        return nodes.Chain(following.position, term, tuple(names))

    def term(self) -> nodes.Operand | None:
        """Parse a constant, a name, or a pipeline in parentheses."""
        token = self.peek()
        make = _TERMS.get(token.kind)
        if make is None:
            return None
        self.next()
        return make(self, token)

    def identifier(self, token: Token) -> nodes.Operand:
        """Parse a function's name."""
        if token.text not in self.functions:
            self.report(f"function {quote(token.text)} not defined", token)
        self.calls.add(token.text)
        return nodes.Identifier(token.position, token.text)

    def variable(self, token: Token) -> nodes.Operand:
        """Parse the use of a variable."""
        if token.text not in self.variables:
            self.report(f"undefined variable {quote(token.text)}", token)
            self.variables.append(token.text)
        return nodes.Variable(token.position, (token.text,))

    def report(self, message: str, token: Token) -> None:
        """Add an error that does not stop the parser."""
        self.errors.append(ParseError(message, token.position))

    def group(self, token: Token) -> nodes.Operand:
        """Parse a pipeline in parentheses, from behind the left one."""
        del token
        self.nesting += 1
        if self.nesting > _MAX_NESTING:
            raise ParseError(f"parentheses are nested more than {_MAX_NESTING} deep")
        pipe = self.pipeline("parenthesized pipeline", "rparen")
        self.nesting -= 1
        return pipe

    def number(self, token: Token) -> nodes.Operand:
        """Parse a number constant."""
        return nodes.Number(token.position, token.text, *literals.read_number(token.text))

    def character(self, token: Token) -> nodes.Operand:
        """Parse a character constant: the number of the character."""
        code = literals.read_character(token.text)
        return nodes.Number(token.position, token.text, code, code, float(code))

    def string(self, token: Token) -> nodes.Operand:
        """Parse a string constant."""
        return nodes.String(token.position, token.text, literals.read_string(token.text))


_CONTROLS: Final = {
    "block": _Parser.block_control,
    "break": _Parser.loop_control,
    "continue": _Parser.loop_control,
    "else": _Parser.else_control,
    "end": _Parser.end_control,
    "if": _Parser.parse_control,
    "range": _Parser.parse_control,
    "template": _Parser.template_control,
    "with": _Parser.parse_control,
}
_TERMS: Final = {
    "identifier": _Parser.identifier,
    "dot": lambda _, token: nodes.Dot(token.position),
    "nil": lambda _, token: nodes.Nil(token.position),
    "variable": _Parser.variable,
    "field": lambda _, token: nodes.Field(token.position, (token.text[1:],)),
    "bool": lambda _, token: nodes.Bool(token.position, token.text == "true"),
    "character": _Parser.character,
    "number": _Parser.number,
    "lparen": _Parser.group,
    "string": _Parser.string,
    "raw": _Parser.string,
}
_OPERANDS: Final = frozenset(_TERMS)
_BRANCHES: Final[Mapping[str, type[nodes.If | nodes.Range | nodes.With]]] = {
    "if": nodes.If,
    "range": nodes.Range,
    "with": nodes.With,
}


def _is_empty(root: list[nodes.Node]) -> bool:
    return all(isinstance(node, nodes.Text) and not node.text.strip() for node in root)
