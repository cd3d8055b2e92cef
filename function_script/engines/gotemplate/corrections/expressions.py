"""Expressions of other languages as pipelines of Go: ``a == b`` is ``eq a b``.

This is a parser of operators by precedence, over the operands of Go, Python, JavaScript and Jinja.
It gives up, with Unreadable, where two meanings are possible.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from function_script.engines.gotemplate.corrections import terms
from function_script.engines.gotemplate.corrections.terms import Choice, Term, call
from function_script.engines.gotemplate.corrections.tokens import RawToken, Unreadable
from function_script.engines.gotemplate.function import Function


class Names(NamedTuple):
    """The meanings of names: the functions, the declared variables, and the prefix of the root.

    ``root`` is "" where the root of the data is not certain to be at hand.
    """

    functions: Mapping[str, Function]
    variables: frozenset[str]
    root: str


class ExpressionParser:
    """Reads expressions from tokens; ``position`` is the next one."""

    def __init__(self, tokens: Sequence[RawToken], names: Names) -> None:
        self.tokens = tokens
        self.names = names
        self.position = 0

    # Tokens

    @property
    def token(self) -> RawToken:
        """The next token; at the end one of kind ``end``."""
        return self.tokens[self.position] if self.position < len(self.tokens) else _END

    def take(self) -> RawToken:
        """Consume the next token."""
        token = self.token
        self.position += 1
        return token

    def accept(self, *texts: str) -> str:
        """Consume the next token if it is one of these operators or words, and return it."""
        token = self.token
        if token.kind in {"operator", "word"} and token.text in texts:
            self.position += 1
            return token.text
        return ""

    def expect(self, text: str) -> None:
        """Consume an operator; raises Unreadable for anything else."""
        if not self.accept(text):
            raise Unreadable

    def finish(self) -> None:
        """Raise Unreadable unless all is read."""
        if self.token is not _END:
            raise Unreadable

    # Pipelines

    def pipeline(self) -> Term:
        """Read stages with ``|`` between them."""
        value = self.choice()
        if isinstance(value, Choice):
            if not value.condition.is_boolean:
                raise Unreadable
            value = call("ternary", value.yes, value.no, value.condition)
        while self.accept("|"):
            stage = self.stage()
            value = Term(f"{value.text} | {stage}", is_call=True)
        return value

    def stage(self) -> str:
        """Read a function behind ``|``, with arguments as in Go, Jinja or Liquid."""
        name = self.function_name(self.take())
        arguments: list[Term] = []
        if self.token.text == "(" and not self.token.has_gap:
            arguments = self.arguments()
            if not arguments and len(self.names.functions[name].parameter_types) > 1:
                raise Unreadable
        elif self.accept(":", "="):
            arguments = [self.disjunction()]
            while self.accept(","):
                arguments.append(self.disjunction())
        else:
            while self.begins_operand():
                arguments.append(self.operand())
        return call(name, *arguments).text

    # Operators

    def choice(self) -> Term | Choice:
        """Read ``c ? a : b``, ``a if c else b``, or an expression without them."""
        value = self.alternative()
        if self.accept("?"):
            yes = self.alternative()
            self.expect(":")
            return Choice(value, yes, self.alternative())
        if self.accept("if"):
            condition = self.alternative()
            self.expect("else")
            return Choice(condition, value, self.alternative())
        return value

    def alternative(self) -> Term:
        """Read ``a ?? b``."""
        value = self.disjunction()
        while self.accept("??"):
            value = call("default", self.disjunction(), value)
        return value

    def disjunction(self) -> Term:
        """Read ``a || b``."""
        parts = [self.conjunction()]
        while self.accept("||", "or"):
            parts.append(self.conjunction())
        return (
            parts[0] if len(parts) == 1 else call("or", *parts, is_boolean=terms.are_boolean(parts))
        )

    def conjunction(self) -> Term:
        """Read ``a && b``."""
        parts = [self.negation()]
        while self.accept("&&", "and"):
            parts.append(self.negation())
        return (
            parts[0]
            if len(parts) == 1
            else call("and", *parts, is_boolean=terms.are_boolean(parts))
        )

    def negation(self) -> Term:
        """Read ``not a`` and ``!a``."""
        if self.accept("not"):
            return call("not", self.negation(), is_boolean=True)
        return self.comparison()

    def comparison(self) -> Term:
        """Read an operand, or one comparison."""
        left = self.sum()
        operator = self.accept(*terms.COMPARISONS, *terms.NAMED_COMPARISONS, "in", "not")
        if operator == "not":
            self.expect("in")
            operator = "not in"
        return terms.compare(operator, left, self.sum()) if operator else left

    def sum(self) -> Term:
        """Read ``a + b``, ``a - b`` and ``a ~ b``."""
        value = self.product()
        while operator := self.accept("+", "-", "~"):
            right = self.product()
            if operator == "~" or (operator == "+" and (value.is_text or right.is_text)):
                value = terms.join_texts(value, right)
            elif operator == "-" or value.is_number or right.is_number:
                value = call("add" if operator == "+" else "sub", value, right)
                value = value._replace(is_number=True)
            else:
                # Two numbers, two texts or two lists.
                raise Unreadable
        return value

    def product(self) -> Term:
        """Read ``a * b``, ``a / b`` and ``a % b``."""
        value = self.unary()
        while operator := self.accept("*", "/", "%"):
            right = self.unary()
            if value.is_text:
                raise Unreadable
            value = call(terms.PRODUCTS[operator], value, right)._replace(is_number=True)
        return value

    def unary(self) -> Term:
        """Read ``!a``, ``-1``, or a call."""
        if self.accept("!"):
            return call("not", self.unary(), is_boolean=True)
        if self.token.text == "-" and self.token.kind == "operator":
            return self.operand()
        return self.application()

    # Calls and operands

    def application(self, most: int | None = None) -> Term:
        """Read ``function argument …``, or a single operand; ``most`` is a number of arguments."""
        token = self.token
        if token.kind != "word" or not self.is_function(token.text) or self.is_called():
            value = self.operand()
            if self.begins_operand() and self.token.text not in terms.NAMED_COMPARISONS:
                raise Unreadable
            return value
        name = self.function_name(self.take())
        arguments: list[Term] = []
        while self.begins_operand() and len(arguments) != most:
            arguments.append(self.argument())
        if name in {"and", "or", "not"} and self.token.text in terms.COMPARISONS:
            raise Unreadable
        return self.typed_call(name, arguments)

    def argument(self) -> Term:
        """Read an argument; a function that takes arguments takes all that follow."""
        token = self.token
        if token.kind == "word" and self.is_function(token.text) and not self.is_called():
            function = self.names.functions[self.function_name(token)]
            if token.text in terms.NAMED_COMPARISONS:
                return self.application(most=2)
            if function.parameters and not function.variadic:
                return self.application(most=len(function.parameter_types))
            if token.text in terms.VARIADIC:
                return self.application()
        return self.operand()

    def typed_call(self, name: str, arguments: Sequence[Term]) -> Term:
        """Return a call, with the type of its result where that is certain."""
        returns = self.names.functions[name].returns if name in self.names.functions else "any"
        return call(
            name,
            *arguments,
            is_boolean=returns == "bool"
            or (name in {"and", "or"} and terms.are_boolean(arguments)),
            is_text=returns == "string",
        )

    def is_function(self, word: str) -> bool:
        """Report whether a word is a function here, perhaps under another language's name."""
        return terms.ALIASES.get(word, word) in self.names.functions and word not in terms.CONSTANTS

    def is_called(self) -> bool:
        """Report whether the next token is a name with a parenthesis right behind it."""
        after = self.position + 1
        following = self.tokens[after] if after < len(self.tokens) else _END
        return following.text == "(" and following.kind == "operator" and not following.has_gap

    def function_name(self, token: RawToken) -> str:
        """Return Go's name of a function; raises Unreadable."""
        if token.kind != "word" or not self.is_function(token.text):
            raise Unreadable
        return terms.ALIASES.get(token.text, token.text)

    def begins_operand(self) -> bool:
        """Report whether the next token begins another argument."""
        token = self.token
        if token.kind == "operator":
            if token.text == "-" and token.has_gap:
                after = self.tokens[self.position + 1 : self.position + 2]
                return bool(after) and after[0].kind == "number" and not after[0].has_gap
            return token.text in {"(", ".", "[", "{"} and token.has_gap
        if token.kind == "word" and token.text in terms.INFIX:
            return False
        return token.kind != "end" and token.has_gap

    def arguments(self) -> list[Term]:
        """Read ``(a, b)``."""
        self.expect("(")
        values: list[Term] = []
        while not self.accept(")"):
            values.append(self.pipeline())
            if not self.accept(",") and self.token.text != ")":
                raise Unreadable
        return values

    def operand(self) -> Term:
        """Read an operand with the fields, indices and methods behind it."""
        value, holder, name = self.primary(), None, ""
        while True:
            token = self.token
            if token.has_gap or token.kind == "end":
                return value
            if token.kind == "field":
                self.take()
                holder, name = value, token.text[1:]
                base = "" if value.text == "." else value.argument
                value = Term(f"{base}{token.text}")
            elif token.kind in {"key", "dashed"}:
                self.take()
                key = Term(json.dumps(token.text[1:]), is_text=True)
                value, holder = self.index(value, key), None
            elif token.text == "[" and token.kind == "operator":
                self.take()
                value, holder = self.index(value, self.disjunction()), None
                self.expect("]")
            elif token.text == "." and token.kind == "operator":
                self.take()
                if self.token.kind != "number" or self.token.has_gap:
                    raise Unreadable
                value, holder = self.index(value, Term(self.take().text)), None
            elif token.text == "(" and token.kind == "operator":
                if holder is None:
                    raise Unreadable
                # The function that is like the method.
                value, holder = terms.call_method(holder, name, self.arguments()), None
            else:
                return value

    def index(self, value: Term, key: Term) -> Term:
        """Return ``index value key``; indices of indices are one call."""
        # The list of the parts, for `split` makes a map.
        value = value._replace(text=re.sub(r"(^|\| )split ", r"\1splitList ", value.text))
        if value.is_call and value.text.startswith("index "):
            return Term(f"{value.text} {key.argument}", is_call=True)
        return call("index", value, key)

    def primary(self) -> Term:
        """Read an operand without anything behind it."""
        token = self.take()
        match token.kind:
            case "string" | "raw":
                return Term(token.text, is_text=True)
            case "quoted":
                body = token.text[1:-1].replace("\\'", "'")
                return Term('"' + body.replace('"', '\\"') + '"', is_text=True)
            case "number":
                return Term(token.text, is_number=True)
            case "quantity":
                return Term(f'"{token.text}"', is_text=True)
            case "variable" | "field":
                return Term(token.text)
            case "dashed" | "key":
                return call("index", Term("."), Term(json.dumps(token.text[1:]), is_text=True))
            case "word":
                return self.word(token)
            case "operator":
                return self.bracket(token)
            case _:
                raise Unreadable

    def bracket(self, token: RawToken) -> Term:
        """Read a parenthesis, a list, a dict, a dot or a negative number."""
        match token.text:
            case "(":
                value = self.pipeline()
                self.expect(")")
                return value
            case "[":
                return call("list", *self.items("]"))
            case "{":
                return call("dict", *self.items("}"))
            case ".":
                return Term(".")
            case "-" if self.token.kind == "number" and not self.token.has_gap:
                return Term(f"-{self.take().text}", is_number=True)
            case _:
                raise Unreadable

    def items(self, end: str) -> list[Term]:
        """Read the items of a list, or keys and values, up to a bracket."""
        values: list[Term] = []
        while not self.accept(end):
            token = self.token
            if end == "}" and len(values) % 2 == 0 and token.kind == "word":
                values.append(Term(json.dumps(self.take().text), is_text=True))
            else:
                values.append(self.disjunction())
            is_key = end == "}" and len(values) % 2 == 1
            if not self.accept(*((":", "=", "=>") if is_key else (",",))) and (
                is_key or self.token.text != end
            ):
                raise Unreadable
        return values

    def word(self, token: RawToken) -> Term:
        """Read a name: a constant, a function, a variable, or a part of the request."""
        text = token.text
        following = self.token
        if text in terms.CONSTANTS:
            return Term(terms.CONSTANTS[text], is_boolean=terms.CONSTANTS[text] != "nil")
        if following.text == "(" and following.kind == "operator" and not following.has_gap:
            if not self.is_function(text):
                raise Unreadable
            name = "splitList" if text == "split" else terms.ALIASES.get(text, text)
            return self.typed_call(name, terms.in_order(name, self.arguments()))
        if f"${text}" in self.names.variables:
            return Term(f"${text}")
        if self.is_function(text):
            return call(terms.ALIASES.get(text, text))
        if following.kind == "field" and not following.has_gap and self.names.root:
            if text in terms.REQUEST:
                return Term(f"{self.names.root.removesuffix('.')}.{text}")
            if text in terms.OF_XR:
                return Term(f"{self.names.root.removesuffix('.')}.{terms.XR}.{text}")
        raise Unreadable


_END: Final = RawToken("end", "", has_gap=True)
