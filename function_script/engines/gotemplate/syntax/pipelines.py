"""Pipelines: the part of Go's template grammar that stands inside of actions; for the parser.

A function nobody knows and a variable nobody declared do not stop it: they are noted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.engines.gotemplate.errors import ParseError
from function_script.engines.gotemplate.printing import quote
from function_script.engines.gotemplate.syntax import literals
from function_script.engines.gotemplate.syntax.nodes import (
    Bool,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    Nil,
    Number,
    Operand,
    Pipe,
    String,
    Variable,
    to_source,
)

if TYPE_CHECKING:
    from collections.abc import Container

    from function_script.engines.gotemplate.syntax.lexer import Token

# Python cannot follow much deeper nesting; real templates stay below 10.
MAX_NESTING: Final = 45


class PipelineParser:
    """The tokens of a text, and the part of the grammar that stands inside of actions."""

    def __init__(self, tokens: list[Token], functions: Container[str]) -> None:
        self.tokens = tokens
        self.functions = functions
        self.errors: list[ParseError] = []
        self.index = 0
        self.furthest = 0
        self.variables = ["$"]
        # Every variable that some `=` changes.
        self.assigned: set[str] = set()
        self.called: set[str] = set()
        self.nesting = 0

    @property
    def here(self) -> int:
        """Where Go's messages point: the last token that was looked at."""
        return self.tokens[self.furthest].position

    def next(self) -> Token:
        """The next token, consumed; the last one is given again and again."""
        token = self.peek()
        if self.index < len(self.tokens) - 1:
            self.index += 1
        return token

    def peek(self) -> Token:
        """The next token."""
        index = self.index
        self.furthest = max(self.furthest, index)
        return self.tokens[index]

    def expect(self, kinds: tuple[str, ...], context: str) -> Token:
        """The next token, which must be one of ``kinds``."""
        token = self.next()
        if token.kind not in kinds:
            raise self.unexpected(token, context)
        return token

    def unexpected(self, token: Token, context: str) -> ParseError:
        """The complaint about a token that cannot stand here."""
        if token.kind == "error":
            return ParseError(token.text)
        return ParseError(f"unexpected {token.shown()} in {context}")

    def pipeline(self, context: str, end: str) -> Pipe:
        """Declarations and commands up to ``end``, which is consumed."""
        start = self.peek().position
        declared, assigns = self.declarations(context)
        commands: list[Command] = []
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
            if isinstance(command.words[0], (Bool, Dot, Nil, Number, String)):
                raise ParseError(f"non executable command in pipeline stage {stage}")
        return Pipe(start, tuple(declared), assigns, tuple(commands))

    def declarations(self, context: str) -> tuple[list[Variable], bool]:
        """``$x :=``, ``$i, $x :=``, ``$x =``, or nothing."""
        declared: list[Variable] = []
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

    def declare(self, token: Token) -> Variable:
        """A variable that is known from here on."""
        self.variables.append(token.text)
        return Variable(token.position, (token.text,))

    def command(self) -> Command:
        """Operands up to a pipe or the end of the pipeline."""
        start = self.peek().position
        words: list[Operand] = []
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
        return Command(start, tuple(words))

    def operand(self) -> Operand | None:
        """A term and the fields that follow it; None when the next token begins no term."""
        term = self.term()
        following = self.peek()
        if term is None or following.kind != "field" or following.gap:
            return term
        names = []
        while self.peek().kind == "field" and not self.peek().gap:
            names.append(self.next().text[1:])
        if isinstance(term, (Field, Variable)):
            return type(term)(following.position, (*term.names, *names))
        if isinstance(term, (Bool, String, Number, Nil, Dot)):
            raise ParseError(f"unexpected . after term {quote(to_source(term))}")
        return Chain(following.position, term, tuple(names))

    def term(self) -> Operand | None:
        """A constant, a name, or a pipeline in parentheses."""
        token = self.peek()
        make = _TERMS.get(token.kind)
        if make is None:
            return None
        self.next()
        return make(self, token)

    def identifier(self, token: Token) -> Operand:
        """A function's name."""
        if token.text not in self.functions:
            self.report(f"function {quote(token.text)} not defined", token)
        self.called.add(token.text)
        return Identifier(token.position, token.text)

    def variable(self, token: Token) -> Operand:
        """The use of a variable."""
        if token.text not in self.variables:
            self.report(f"undefined variable {quote(token.text)}", token)
            self.variables.append(token.text)
        return Variable(token.position, (token.text,))

    def report(self, message: str, token: Token) -> None:
        """Note an error that does not keep the parser from going on."""
        self.errors.append(ParseError(message, token.position))

    def group(self, token: Token) -> Operand:
        """A pipeline in parentheses, from behind the left one."""
        del token
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise ParseError(f"parentheses are nested more than {MAX_NESTING} deep")
        pipe = self.pipeline("parenthesized pipeline", "rparen")
        self.nesting -= 1
        return pipe

    def number(self, token: Token) -> Operand:
        """A number constant."""
        return Number(token.position, token.text, *literals.read_number(token.text))

    def character(self, token: Token) -> Operand:
        """A character constant: the number of the character."""
        code = literals.read_character(token.text)
        return Number(token.position, token.text, code, code, float(code))

    def string(self, token: Token) -> Operand:
        """A string constant."""
        return String(token.position, token.text, literals.read_string(token.text))


_TERMS: Final = {
    "identifier": PipelineParser.identifier,
    "dot": lambda _, token: Dot(token.position),
    "nil": lambda _, token: Nil(token.position),
    "variable": PipelineParser.variable,
    "field": lambda _, token: Field(token.position, (token.text[1:],)),
    "bool": lambda _, token: Bool(token.position, token.text == "true"),
    "character": PipelineParser.character,
    "number": PipelineParser.number,
    "lparen": PipelineParser.group,
    "string": PipelineParser.string,
    "raw": PipelineParser.string,
}
_OPERANDS: Final = frozenset(_TERMS)
