"""Tokens to nodes, with Go's grammar and the texts of Go's errors.

Unknown functions and undeclared variables are all reported; any other error stops the parser.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from function_script.engines.gotemplate.errors import Code, LimitExceededError, ParseError
from function_script.engines.gotemplate.function import Function
from function_script.engines.gotemplate.printing import quote
from function_script.engines.gotemplate.syntax import lexer, nodes
from function_script.engines.gotemplate.syntax.lexer import KEYWORDS, Tokens, tokenize

# The largest template seen in public has 1,600; each takes about 5 kB while it is compiled.
MAX_TOKENS: Final = 20_000
# Python cannot follow much deeper nesting; real templates stay below 10.
_MAX_NESTING: Final = 45


class End:
    """The end of a list of nodes: ``{{end}}`` or ``{{else}}``."""

    def __init__(self, keyword: str, position: int, then: str = "") -> None:
        self.keyword = keyword
        self.position = position
        # The keyword ``if`` or ``with`` right behind an else.
        self.then = then


Closed: TypeAlias = tuple[list[nodes.Node], End]
Trees: TypeAlias = dict[str, list[nodes.Node]]


class Parsed(NamedTuple):
    """The templates of a text, its assigned variables and its count of tokens."""

    trees: Trees
    assigned: frozenset[str]
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
    count = len(tokens.kinds)
    check_tokens(count)
    parser = _Parser(tokens, grammar.functions)
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
    return Parsed(parser.trees, frozenset(parser.assigned), count)


def check_tokens(count: int) -> None:
    """Raise LimitExceededError for too many tokens of a program."""
    if count > MAX_TOKENS:
        raise LimitExceededError(f"{count} tokens, the limit is {MAX_TOKENS}")


class _Parser:
    """Parses one text: its nodes and definitions, and the pipelines inside of actions.

    An unknown function and an undeclared variable do not stop it: they are added to ``errors``.
    The methods have the names of Go's parser. Go's messages have the position of the last token
    that was looked at, which is ``here`` or ``ahead``.
    """

    def __init__(self, tokens: Tokens, functions: Mapping[str, Function]) -> None:
        self.tokens = tokens
        self.kinds = tokens.kinds
        self.texts = tokens.texts
        self.positions = tokens.positions
        self.gaps = tokens.gaps
        self.functions = functions
        self.trees: Trees = {}
        self.errors: list[ParseError] = []
        # Variables that some `=` changes.
        self.assigned: set[str] = set()
        # The next token. The last one, `eof` or `error`, is never consumed.
        self.index = 0
        self.variables = [nodes.Variable(0, ("$",))]
        # Go accepts variables that no use can refer to: those of a body, in the else behind it;
        # those of a pipeline, in their own value; and those that are only assigned.
        self.hidden: set[nodes.Variable] = set()
        # The number of variables that the open block has from those around it.
        self.outer_count = 0
        self.nesting = 0
        self.ranges = 0
        # Tokens of the open blocks, outermost first.
        self.open: list[int] = []

    # Tokens

    @property
    def here(self) -> int:
        """The position of the last token that was consumed."""
        return self.positions[max(self.index - 1, 0)]

    @property
    def ahead(self) -> int:
        """The position of the next token."""
        return self.positions[self.index]

    def expect(self, kind: str, context: str) -> None:
        """Consume the next token, which must be of a kind."""
        if self.kinds[self.index] != kind:
            raise self.unexpected(context)
        self.index += 1

    def expect_string(self, context: str) -> str:
        """Consume a string constant and return its value."""
        index = self.index
        if self.kinds[index] not in _STRINGS:
            raise self.unexpected(context)
        self.index = index + 1
        return lexer.read_string(self.texts[index])

    def unexpected(self, context: str) -> ParseError:
        """Return the error of the next token."""
        index, tokens = self.index, self.tokens
        text = tokens.format(index)
        if self.kinds[index] == "error":
            return ParseError(text, self.ahead, code=tokens.code, subject=tokens.subject)
        return ParseError(
            f"unexpected {text} in {context}",
            self.ahead,
            code=Code.TOKEN_UNEXPECTED,
            subject=self.texts[index],
            context=context,
        )

    def misplaced(self, end: End, text: str, code: Code) -> ParseError:
        """Return the error of an end or else; its cause is the keyword."""
        position = self.ahead if end.then else self.here
        return ParseError(text, position, cause=end.position, code=code)

    # Nodes

    def parse_text(self, name: str) -> None:
        """Parse the whole text: nodes and definitions."""
        root: list[nodes.Node] = []
        while self.kinds[self.index] != "eof":
            if self.kinds[self.index] == "left" and self.kinds[self.index + 1] == "define":
                self.index += 1
                self.parse_definition()
                continue
            node = self.text_or_action()
            if isinstance(node, End):
                is_end = node.keyword == "end"
                code = Code.END_MISPLACED if is_end else Code.ELSE_MISPLACED
                raise self.misplaced(node, f"unexpected {{{{{node.keyword}}}}}", code)
            root.append(node)
        self.add(name, root, self.ahead)

    def parse_definition(self) -> None:
        """Parse a named template, from its keyword on."""
        keyword, context = self.index, "define clause"
        self.index += 1
        name = self.expect_string(context)
        self.expect("right", context)
        self.parse_named_body(keyword, name)

    def parse_named_body(self, keyword: int, name: str) -> None:
        """Parse the body of a named template: outer variables and loops are invisible."""
        self.open.append(keyword)
        variables, ranges = self.variables, self.ranges
        self.variables, self.ranges = self.variables[:1], 0
        body, end = self.item_list()
        if end.keyword != "end":
            text = f"unexpected {{{{{end.keyword}}}}} in {self.kinds[keyword]} clause"
            raise self.misplaced(end, text, Code.ELSE_MISPLACED)
        self.variables, self.ranges = variables, ranges
        self.add(name, body, self.here)
        self.open.pop()

    def add(self, name: str, root: list[nodes.Node], position: int) -> None:
        """Add a definition that ends at a position; only an empty one may be replaced."""
        if name not in self.trees or _is_empty(self.trees[name]):
            self.trees[name] = root
        elif not _is_empty(root):
            text = f"template: multiple definition of template {quote(name)}"
            cause = self.positions[self.open[-1]] if self.open else None
            raise ParseError(text, position, cause=cause, code=Code.TEMPLATE_REPEATED)

    def item_list(self) -> Closed:
        """Parse nodes up to the end or else that closes them."""
        self.nesting += 1
        if self.nesting > _MAX_NESTING:
            raise ParseError(f"blocks are nested more than {_MAX_NESTING} deep")
        body: list[nodes.Node] = []
        start, before = len(self.variables), self.outer_count
        self.outer_count = start
        while self.kinds[self.index] != "eof":
            node = self.text_or_action()
            if isinstance(node, End):
                self.nesting -= 1
                self.outer_count = before
                self.hidden.update(self.variables[start:])
                return body, node
            body.append(node)
        raise self.unclosed()

    def unclosed(self) -> ParseError:
        """Return the error of a text that ends inside of a block; its cause is the block."""
        block = self.open[-1]
        return ParseError(
            "unexpected EOF",
            self.ahead,
            cause=self.positions[block],
            code=Code.BLOCK_UNCLOSED,
            subject=self.kinds[block],
        )

    def text_or_action(self) -> nodes.Node | End:
        """Parse one node."""
        index = self.index
        kind = self.kinds[index]
        if kind == "text":
            self.index = index + 1
            return nodes.Text(self.positions[index], self.texts[index])
        if kind == "left":
            self.index = index + 1
            return self.action()
        raise self.unexpected("input")

    def action(self) -> nodes.Node | End:
        """Parse an action, from behind the left delimiter."""
        kind = self.kinds[self.index]
        if kind in _CONTROLS:
            return self.control(kind)
        position, left = self.ahead, self.here
        pipe = self.pipeline("command", "right")
        return nodes.Action(position, pipe, left, self.here)

    def control(self, kind: str) -> nodes.Node | End:
        """Parse an action that begins with a keyword."""
        keyword = self.index
        self.index += 1
        match kind:
            case "else" if self.kinds[self.index] in _ELSE_BRANCHES:
                return End(kind, self.positions[keyword], self.kinds[self.index])
            case "end" | "else":
                self.expect("right", kind)
                return End(kind, self.positions[keyword])
            case "template" | "block":
                return self.template_control(keyword)
            case "break" | "continue":
                return self.loop_control(keyword)
            case _:
                return self.parse_control(keyword)

    def loop_control(self, keyword: int) -> nodes.Node:
        """Parse ``break`` or ``continue``, from behind the keyword."""
        kind = self.kinds[keyword]
        action = f"{{{{{kind}}}}}"
        self.expect("right", action)
        if self.ranges == 0:
            text = f"{action} outside {{{{range}}}}"
            raise ParseError(text, code=Code.OUTSIDE_RANGE, subject=kind)
        position = self.positions[keyword]
        return nodes.Break(position) if kind == "break" else nodes.Continue(position)

    def parse_control(self, keyword: int) -> nodes.Node:
        """Parse all of an ``if``, ``with`` or ``range``; a chain of else-ifs is one loop here."""
        kind = self.kinds[keyword]
        outer_count = len(self.variables)
        self.open.append(keyword)
        links: list[tuple[nodes.Pipe, list[nodes.Node]]] = []
        rest: list[nodes.Node] | None = None
        while True:
            pipe = self.pipeline(kind, "right")
            # A break in the else of a range is outside of it.
            self.ranges += kind == "range"
            body, end = self.item_list()
            self.ranges -= kind == "range"
            links.append((pipe, body))
            if end.then != kind:
                break
            self.index += 1
        if end.keyword == "else":
            rest, end = self.item_list()
            if end.keyword != "end":
                text = f"expected end; found {{{{{end.keyword}}}}}"
                raise self.misplaced(end, text, Code.ELSE_REPEATED)
        del self.variables[outer_count:]
        self.open.pop()
        make = _BRANCHES[kind]
        # From the last link to the first: each is the else of the one before.
        while len(links) > 1:
            pipe, body = links.pop()
            rest = [make(pipe.position, pipe, body, rest)]
        pipe, body = links[0]
        return make(pipe.position, pipe, body, rest)

    def template_control(self, keyword: int) -> nodes.Node:
        """Parse ``template "name" pipeline``, or a ``block``, which is a definition and its use."""
        kind = self.kinds[keyword]
        context, position = f"{kind} clause", self.ahead
        name = self.expect_string(context)
        if kind == "template" and self.kinds[self.index] == "right":
            self.index += 1
            return nodes.Template(position, name, None)
        pipe = self.pipeline(context, "right")
        if kind == "block":
            self.parse_named_body(keyword, name)
        return nodes.Template(position, name, pipe)

    # Pipelines

    def pipeline(self, context: str, end: str) -> nodes.Pipe:
        """Parse declarations and commands up to ``end``, which is consumed."""
        start = self.ahead
        declared: list[nodes.Variable] = []
        assigns = False
        if self.kinds[self.index] == "variable":
            declared, assigns = self.declarations(context)
        self.hidden.update(declared)
        commands: list[nodes.Command] = []
        while True:
            kind = self.kinds[self.index]
            if kind == end:
                break
            if kind not in _OPERANDS:
                raise self.unexpected(context)
            commands.append(self.command())
        # An assignment declares nothing.
        if not assigns:
            self.hidden.difference_update(declared)
        self.index += 1
        if not commands:
            raise ParseError(f"missing value for {context}", code=Code.VALUE_MISSING)
        for stage, command in enumerate(commands[1:], 2):
            if isinstance(command.words[0], _VALUES):
                text = f"non executable command in pipeline stage {stage}"
                raise ParseError(text, code=Code.NOT_A_COMMAND)
        return nodes.Pipe(start, tuple(declared), assigns, tuple(commands))

    def declarations(self, context: str) -> tuple[list[nodes.Variable], bool]:
        """Parse ``$x :=``, ``$i, $x :=``, ``$x =``, or nothing."""
        declared: list[nodes.Variable] = []
        while self.kinds[self.index] == "variable":
            index = self.index
            following = self.kinds[index + 1]
            is_comma = following == "punctuation" and self.texts[index + 1] == ","
            if not is_comma and following not in {"declare", "assign"}:
                break
            self.index = index + 2
            name = self.texts[index]
            hidden = self.find_declaration(name, self.outer_count)
            variable = nodes.Variable(self.positions[index], (name,), hidden)
            declared.append(variable)
            self.variables.append(variable)
            if not is_comma:
                assigns = following == "assign"
                if assigns:
                    self.assigned.update(variable.names[0] for variable in declared)
                return declared, assigns
            if context != "range" or len(declared) > 1:
                raise ParseError(f"too many declarations in {context}")
            if self.kinds[self.index] not in {"variable", "right", "rparen"}:
                raise ParseError("range can only initialize variables", self.ahead)
        return declared, False

    def command(self) -> nodes.Command:
        """Parse operands up to a pipe or the end of the pipeline."""
        start = self.ahead
        words = [self.operand()]
        while True:
            kind = self.kinds[self.index]
            if kind in {"right", "rparen"}:
                break
            if kind == "pipe":
                self.index += 1
                break
            if not self.gaps[self.index] or kind not in _OPERANDS:
                raise self.unexpected("operand")
            words.append(self.operand())
        return nodes.Command(start, tuple(words))

    def operand(self) -> nodes.Operand:
        """Parse a term and the fields that follow it."""
        index = self.index
        kind = self.kinds[index]
        if kind == "variable":
            return self.variable()
        if kind == "field":
            return nodes.Field(self.positions[index], tuple(self.field_names()))
        self.index = index + 1
        term = self.term(kind, index)
        if not self.is_followed_by_field():
            return term
        position = self.ahead
        names = self.field_names()
        if isinstance(term, _VALUES):
            text = f"unexpected . after term {quote(nodes.to_source(term))}"
            raise ParseError(text, position)
        return nodes.Chain(position, term, tuple(names))

    def variable(self) -> nodes.Variable:
        """Parse the use of a variable, and its fields."""
        index = self.index
        self.index = index + 1
        name = self.texts[index]
        if all(variable.names[0] != name for variable in self.variables):
            self.report(f"undefined variable {quote(name)}", index, Code.VARIABLE_UNDEFINED)
            # Each variable is reported once.
            self.variables.append(nodes.Variable(self.positions[index], (name,)))
        declaration = self.find_declaration(name, len(self.variables))
        fields = self.field_names() if self.is_followed_by_field() else ()
        return nodes.Variable(self.positions[index], (name, *fields), declaration)

    def find_declaration(self, name: str, count: int) -> nodes.Variable | None:
        """Return the last declaration of a variable among the first ``count`` ones."""
        for variable in reversed(self.variables[:count]):
            if variable.names[0] == name and variable not in self.hidden:
                return variable
        return None

    def is_followed_by_field(self) -> bool:
        """Report whether the next token is a field of what is in front of it."""
        return self.kinds[self.index] == "field" and not self.gaps[self.index]

    def field_names(self) -> list[str]:
        """Consume a field and those right behind it; return their names."""
        names = []
        while True:
            names.append(self.texts[self.index][1:])
            self.index += 1
            if not self.is_followed_by_field():
                return names

    def term(self, kind: str, index: int) -> nodes.Operand:
        """Parse a constant, a function's name, or a pipeline in parentheses."""
        position, text = self.positions[index], self.texts[index]
        match kind:
            case "identifier":
                if text not in self.functions:
                    self.report(f"function {quote(text)} not defined", index, Code.FUNCTION_UNKNOWN)
                return nodes.Identifier(position, text)
            case "string" | "raw":
                return nodes.String(position, text, lexer.read_string(text))
            case "number":
                return nodes.Number(position, text, *lexer.read_number(text))
            case "lparen":
                return self.group()
            case "dot":
                return nodes.Dot(position)
            case "bool":
                return nodes.Bool(position, text == "true")
            case "character":
                code = lexer.read_character(text)
                return nodes.Number(position, text, code, float(code))
            case _:
                return nodes.Nil(position)

    def group(self) -> nodes.Pipe:
        """Parse a pipeline in parentheses, from behind the left one."""
        self.nesting += 1
        if self.nesting > _MAX_NESTING:
            raise ParseError(f"parentheses are nested more than {_MAX_NESTING} deep")
        pipe = self.pipeline("parenthesized pipeline", "rparen")
        self.nesting -= 1
        return pipe

    def report(self, message: str, index: int, code: Code) -> None:
        """Add the error of a token that does not stop the parser; its subject is the token."""
        subject = self.texts[index]
        self.errors.append(ParseError(message, self.positions[index], code=code, subject=subject))


_STRINGS: Final = frozenset({"string", "raw"})
_OPERANDS: Final = frozenset(
    {"identifier", "variable", "field", "dot", "nil", "bool", "number", "character", "lparen"}
    | _STRINGS
)
_CONTROLS: Final = KEYWORDS - {"nil", "define"}
_BRANCHES: Final[Mapping[str, type[nodes.If | nodes.Range | nodes.With]]] = {
    "if": nodes.If,
    "range": nodes.Range,
    "with": nodes.With,
}
_ELSE_BRANCHES: Final = frozenset({"if", "with"})
# Constants and the cursor, which are no commands and have no fields.
_VALUES: Final = (nodes.Bool, nodes.Dot, nodes.Nil, nodes.Number, nodes.String)


def _is_empty(root: list[nodes.Node]) -> bool:
    return all(isinstance(node, nodes.Text) and not node.text.strip() for node in root)
