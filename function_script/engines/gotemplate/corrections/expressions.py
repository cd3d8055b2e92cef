"""Expressions of other languages as pipelines of Go: ``a == b`` is ``eq a b``.

This is a parser of operators by precedence, over the operands of Go, Python, JavaScript and Jinja.
It gives up, with Unreadable, where two meanings are possible.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from function_script.engines.gotemplate.corrections.tokens import RawToken, Unreadable
from function_script.engines.gotemplate.function import Function


class Names(NamedTuple):
    """What a name can mean: the functions, the declared variables, and the prefix of the root.

    ``root`` is "" where the root of the data is not certain to be at hand.
    """

    functions: Mapping[str, Function]
    variables: frozenset[str]
    root: str


class Term(NamedTuple):
    """A Go expression. ``is_call``: it needs parentheses as an argument."""

    text: str
    is_call: bool = False
    is_text: bool = False
    is_number: bool = False
    is_boolean: bool = False

    @property
    def argument(self) -> str:
        """The expression as an argument."""
        return f"({self.text})" if self.is_call else self.text

    @property
    def is_literal(self) -> bool:
        """Report whether it is a constant."""
        return not self.is_call and (self.is_text or self.is_number)


class Choice(NamedTuple):
    """``condition ? yes : no``, which has another form as a whole action."""

    condition: Term
    yes: Term
    no: Term


def call(function: str, *arguments: Term, is_boolean: bool = False, is_text: bool = False) -> Term:
    """Return the call of a function."""
    text = " ".join([function, *(argument.argument for argument in arguments)])
    return Term(text, is_call=bool(arguments), is_boolean=is_boolean, is_text=is_text)


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
        elif self.accept(":"):
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
        terms = [self.conjunction()]
        while self.accept("||", "or"):
            terms.append(self.conjunction())
        return terms[0] if len(terms) == 1 else call("or", *terms, is_boolean=_are_boolean(terms))

    def conjunction(self) -> Term:
        """Read ``a && b``."""
        terms = [self.negation()]
        while self.accept("&&", "and"):
            terms.append(self.negation())
        return terms[0] if len(terms) == 1 else call("and", *terms, is_boolean=_are_boolean(terms))

    def negation(self) -> Term:
        """Read ``not a`` and ``!a``."""
        if self.accept("not"):
            return call("not", self.negation(), is_boolean=True)
        return self.comparison()

    def comparison(self) -> Term:
        """Read one comparison, or a chain such as ``0 < a < 9``."""
        left = self.sum()
        terms: list[Term] = []
        while operator := self.comparison_operator():
            right = self.sum()
            terms.append(_compare(operator, left, right))
            left = right
        if not terms:
            return left
        return terms[0] if len(terms) == 1 else call("and", *terms, is_boolean=True)

    def comparison_operator(self) -> str:
        """Consume an operator of comparisons, and return it; "" if there is none."""
        if self.accept("not"):
            self.expect("in")
            return "not in"
        if self.accept("is"):
            return "is not" if self.accept("not") else "is"
        return self.accept(*_COMPARISONS, *_NAMED_COMPARISONS, "=~", "in")

    def sum(self) -> Term:
        """Read ``a + b``, ``a - b`` and ``a ~ b``."""
        value = self.product()
        while operator := self.accept("+", "-", "~"):
            right = self.product()
            if operator == "~" or (operator == "+" and (value.is_text or right.is_text)):
                value = _joined(value, right)
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
        while operator := self.accept("*", "/", "//", "%"):
            right = self.unary()
            if value.is_text:
                if operator != "%":
                    raise Unreadable
                if value.text.count("%") != 1:
                    raise Unreadable
                value = call("printf", value, right, is_text=True)
            else:
                value = call(_PRODUCTS[operator], value, right)._replace(is_number=True)
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
            if self.begins_operand() and self.token.text not in _NAMED_COMPARISONS:
                raise Unreadable
            return value
        name = self.function_name(self.take())
        arguments: list[Term] = []
        while self.begins_operand() and len(arguments) != most:
            arguments.append(self.argument())
        if name in {"and", "or", "not"} and self.token.text in _COMPARISONS:
            raise Unreadable
        return self.typed_call(name, arguments)

    def argument(self) -> Term:
        """Read an argument; a function that takes arguments takes all that follow."""
        token = self.token
        if token.kind == "word" and self.is_function(token.text) and not self.is_called():
            function = self.names.functions[self.function_name(token)]
            if token.text in _NAMED_COMPARISONS:
                return self.application(most=2)
            if function.parameters and not function.variadic:
                return self.application(most=len(function.parameter_types))
            if token.text in _VARIADIC:
                return self.application()
        return self.operand()

    def typed_call(self, name: str, arguments: Sequence[Term]) -> Term:
        """Return a call, with the type of its result where that is certain."""
        returns = self.names.functions[name].returns if name in self.names.functions else "any"
        return call(
            name,
            *arguments,
            is_boolean=returns == "bool" or (name in {"and", "or"} and _are_boolean(arguments)),
            is_text=returns == "string",
        )

    def is_function(self, word: str) -> bool:
        """Report whether a word is a function here, perhaps under another language's name."""
        return _ALIASES.get(word, word) in self.names.functions and word not in _CONSTANTS

    def is_called(self) -> bool:
        """Report whether the next token is a name with a parenthesis right behind it."""
        after = self.position + 1
        following = self.tokens[after] if after < len(self.tokens) else _END
        return following.text == "(" and following.kind == "operator" and not following.has_gap

    def function_name(self, token: RawToken) -> str:
        """Return Go's name of a function; raises Unreadable."""
        if token.kind != "word" or not self.is_function(token.text):
            raise Unreadable
        return _ALIASES.get(token.text, token.text)

    def begins_operand(self) -> bool:
        """Report whether the next token begins another argument."""
        token = self.token
        if token.kind == "operator":
            if token.text == "-" and token.has_gap:
                after = self.tokens[self.position + 1 : self.position + 2]
                return bool(after) and after[0].kind == "number" and not after[0].has_gap
            return token.text in {"(", ".", "[", "{"} and token.has_gap
        if token.kind == "word" and token.text in _INFIX:
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
                value, holder = self.subscript(value), None
            elif token.text == "." and token.kind == "operator":
                self.take()
                if self.token.kind != "number" or self.token.has_gap:
                    raise Unreadable
                value, holder = self.index(value, Term(self.take().text)), None
            elif token.text == "(" and token.kind == "operator":
                if holder is None:
                    raise Unreadable
                value, holder = self.method(holder, name), None
            else:
                return value

    def index(self, value: Term, key: Term) -> Term:
        """Return ``index value key``; indices of indices are one call."""
        # The list of the parts, for `split` makes a map.
        value = value._replace(text=re.sub(r"(^|\| )split ", r"\1splitList ", value.text))
        if value.is_call and value.text.startswith("index "):
            return Term(f"{value.text} {key.argument}", is_call=True)
        return call("index", value, key)

    def subscript(self, value: Term) -> Term:
        """Read ``[key]`` or ``[from:to]``."""
        self.expect("[")
        if self.accept(":"):
            end = self.disjunction()
            self.expect("]")
            return call("slice", value, Term("0"), end)
        key = self.disjunction()
        if self.accept(":"):
            arguments = [value, key]
            if self.token.text != "]":
                arguments.append(self.disjunction())
            self.expect("]")
            return call("slice", *arguments)
        self.expect("]")
        return self.index(value, key)

    def method(self, value: Term, name: str) -> Term:
        """Read the arguments of a method, and return the call of the function like it."""
        arguments = self.arguments()
        make = _METHODS.get((name, len(arguments)))
        if make is None:
            raise Unreadable
        return make(value, *arguments)

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
        if text in _CONSTANTS:
            return Term(_CONSTANTS[text], is_boolean=_CONSTANTS[text] != "nil")
        if following.text == "(" and following.kind == "operator" and not following.has_gap:
            if not self.is_function(text):
                raise Unreadable
            name = "splitList" if text == "split" else _ALIASES.get(text, text)
            return self.typed_call(name, _in_order(name, self.arguments()))
        if f"${text}" in self.names.variables:
            return Term(f"${text}")
        if self.is_function(text):
            return call(_ALIASES.get(text, text))
        if following.kind == "field" and not following.has_gap and self.names.root:
            if text in _REQUEST:
                return Term(f"{self.names.root.removesuffix('.')}.{text}")
            if text in _OF_XR:
                return Term(f"{self.names.root.removesuffix('.')}.{_XR}.{text}")
        raise Unreadable


_END: Final = RawToken("end", "", has_gap=True)
_XR: Final = "observed.composite.resource"
_REQUEST: Final = frozenset({"observed", "desired", "context", "params"})
_OF_XR: Final = frozenset({"spec", "metadata", "status"})
# Words that stand between operands in other languages.
_INFIX: Final = frozenset({"and", "or", "in", "is", "not", "if", "else", "then"})
_VARIADIC: Final = frozenset({"and", "or", "printf", "print", "list", "dict", "index"})
_NAMED_COMPARISONS: Final = ("eq", "ge", "gt", "le", "lt", "ne")
_CONSTANTS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("true", "True", "TRUE"), "true"),
    **dict.fromkeys(("false", "False", "FALSE"), "false"),
    **dict.fromkeys(("nil", "None", "null", "undefined"), "nil"),
}
_COMPARISONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("=", "==", "==="), "eq"),
    **dict.fromkeys(("!=", "!==", "<>"), "ne"),
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
}
_PRODUCTS: Final[Mapping[str, str]] = {"*": "mul", "/": "div", "//": "div", "%": "mod"}
# Functions of other languages that have another name here, and the same order of arguments.
_ALIASES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("tojson", "to_json", "jsonencode"), "toJson"),
    **dict.fromkeys(("fromjson", "from_json", "jsondecode"), "fromJson"),
    **dict.fromkeys(("toyaml", "to_yaml", "to_nice_yaml", "yamlencode"), "toYaml"),
    **dict.fromkeys(("fromyaml", "from_yaml", "yamldecode"), "fromYaml"),
    **dict.fromkeys(("b64encode", "base64encode"), "b64enc"),
    **dict.fromkeys(("b64decode", "base64decode"), "b64dec"),
    **dict.fromkeys(("length", "size"), "len"),
    **dict.fromkeys(("downcase", "lowercase"), "lower"),
    **dict.fromkeys(("upcase", "uppercase"), "upper"),
    **dict.fromkeys(("tostring", "str", "string"), "toString"),
    **dict.fromkeys(("strip", "trimspace"), "trim"),
    **dict.fromkeys(("startswith", "startsWith"), "hasPrefix"),
    **dict.fromkeys(("endswith", "endsWith"), "hasSuffix"),
    "format": "printf",
    "d": "default",
    "tonumber": "float64",
}
# Functions that take the text they work on last, where other languages have it first.
_SUBJECT_LAST: Final = frozenset(
    {
        *("contains", "default", "hasPrefix", "hasSuffix", "join", "nindent", "indent", "repeat"),
        *("replace", "split", "splitList", "trimPrefix", "trimSuffix", "trunc", "regexMatch"),
    }
)


def _in_order(name: str, arguments: list[Term]) -> list[Term]:
    """Return arguments in Go's order: the one that is no constant comes last."""
    is_reversed = (
        name in _SUBJECT_LAST
        and len(arguments) > 1
        and not arguments[0].is_literal
        and all(argument.is_literal for argument in arguments[1:])
    )
    return [*arguments[1:], arguments[0]] if is_reversed else arguments


def _are_boolean(terms: Sequence[Term]) -> bool:
    return bool(terms) and all(term.is_boolean for term in terms)


def _joined(left: Term, right: Term) -> Term:
    """Return the text of two values behind each other; a third one joins the same call."""
    if left.is_call and left.text.startswith("print "):
        return Term(f"{left.text} {right.argument}", is_call=True, is_text=True)
    return call("print", left, right, is_text=True)


def _compare(operator: str, left: Term, right: Term) -> Term:
    if operator in {"is", "is not"} and right.text != "nil":
        raise Unreadable
    if right.text == "nil":
        # What is null or missing is false.
        if operator in {"=", "==", "===", "is"}:
            return call("not", left, is_boolean=True)
        if operator in {"!=", "!==", "<>", "is not"}:
            return left
        raise Unreadable
    if operator in {"in", "not in"}:
        if not right.text.startswith("list "):
            # A list, a map and a text have a function each.
            raise Unreadable
        value = call("has", left, right, is_boolean=True)
        return value if operator == "in" else call("not", value, is_boolean=True)
    if operator == "=~":
        return call("regexMatch", right, left, is_boolean=True)
    return call(_COMPARISONS.get(operator, operator), left, right, is_boolean=True)


def _format(value: Term, *arguments: Term) -> Term:
    text = value.text
    if not value.is_text or value.is_call or text.count("{}") != len(arguments) or "%" in text:
        raise Unreadable
    return call("printf", Term(text.replace("{}", "%v"), is_text=True), *arguments, is_text=True)


def _join(value: Term, other: Term) -> Term:
    separator, items = (value, other) if value.is_literal else (other, value)
    return call("join", separator, items, is_text=True)


def _subject_last(function: str, **types: bool) -> Callable[..., Term]:
    return lambda value, *arguments: call(function, *arguments, value, **types)


_METHODS: Final[Mapping[tuple[str, int], Callable[..., Term]]] = {
    **{
        (name, 1): _subject_last("hasPrefix", is_boolean=True)
        for name in ("startswith", "startsWith")
    },
    **{(name, 1): _subject_last("hasSuffix", is_boolean=True) for name in ("endswith", "endsWith")},
    **{(name, 0): _subject_last("upper", is_text=True) for name in ("upper", "toUpperCase")},
    **{(name, 0): _subject_last("lower", is_text=True) for name in ("lower", "toLowerCase")},
    **{(name, 0): _subject_last("trim", is_text=True) for name in ("strip", "trim")},
    **{(name, 2): _subject_last("replace", is_text=True) for name in ("replace", "replaceAll")},
    **{("format", count): _format for count in range(1, 5)},
    ("get", 1): lambda value, key: call("get", value, key),
    ("get", 2): lambda value, key, other: call("dig", key, other, value),
    ("join", 1): _join,
    ("keys", 0): _subject_last("keys"),
    ("split", 1): _subject_last("splitList"),
    ("title", 0): _subject_last("title", is_text=True),
    ("toString", 0): _subject_last("toString", is_text=True),
    ("values", 0): _subject_last("values"),
}
