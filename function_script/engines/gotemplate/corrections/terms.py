"""Go's expressions, put together from the words, functions and methods of other languages."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from function_script.engines.gotemplate.corrections.tokens import Unreadable

XR: Final = "observed.composite.resource"
REQUEST: Final = frozenset({"observed", "desired", "context", "params"})
OF_XR: Final = frozenset({"spec", "metadata", "status"})
# Words that stand between operands in other languages.
INFIX: Final = frozenset({"and", "or", "in", "is", "not", "if", "else", "then"})
VARIADIC: Final = frozenset({"and", "or", "printf", "print", "list", "dict", "index"})
NAMED_COMPARISONS: Final = ("eq", "ge", "gt", "le", "lt", "ne")
CONSTANTS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("true", "True", "TRUE"), "true"),
    **dict.fromkeys(("false", "False", "FALSE"), "false"),
    **dict.fromkeys(("nil", "None", "null", "undefined"), "nil"),
}
COMPARISONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("=", "==", "==="), "eq"),
    **dict.fromkeys(("!=", "!==", "<>"), "ne"),
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
}
PRODUCTS: Final[Mapping[str, str]] = {"*": "mul", "/": "div", "%": "mod"}
# Functions of other languages that have another name here, and the same order of arguments.
ALIASES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("tojson", "to_json", "jsonencode"), "toJson"),
    **dict.fromkeys(("fromjson", "from_json", "jsondecode"), "fromJson"),
    **dict.fromkeys(("toyaml", "to_yaml", "to_nice_yaml", "yamlencode"), "toYaml"),
    **dict.fromkeys(("fromyaml", "from_yaml", "yamldecode"), "fromYaml"),
    **dict.fromkeys(("b64encode", "base64encode"), "b64enc"),
    **dict.fromkeys(("b64decode", "base64decode"), "b64dec"),
    **dict.fromkeys(("length", "size"), "len"),
    **dict.fromkeys(("downcase", "lowercase", "toLower", "ToLower", "toLowerCase"), "lower"),
    **dict.fromkeys(("upcase", "uppercase", "toUpper", "ToUpper", "toUpperCase"), "upper"),
    **dict.fromkeys(("tostring", "str", "string", "String", "itoa", "Itoa"), "toString"),
    **dict.fromkeys(("strip", "trimspace", "trimSpace", "TrimSpace"), "trim"),
    **dict.fromkeys(("startswith", "startsWith", "starts_with"), "hasPrefix"),
    **dict.fromkeys(("endswith", "endsWith", "ends_with"), "hasSuffix"),
    **dict.fromkeys(("toint", "to_int", "parseInt"), "int"),
    **dict.fromkeys(("unique", "distinct"), "uniq"),
    **dict.fromkeys(("to_nice_json", "pprint", "to_pretty_json"), "toPrettyJson"),
    "b64_encode": "b64enc",
    "b64_decode": "b64dec",
    "basename": "base",
    "float": "float64",
    **dict.fromkeys(("base64", "btoa"), "b64enc"),
    "atob": "b64dec",
    "d": "default",
    "json": "toJson",
    "mustToYaml": "toYaml",
    "sha256": "sha256sum",
    "yaml": "toYaml",
    "format": "printf",
}
# Methods, by how many arguments they take, and the function that takes those and then the value.
METHODS: Final[Mapping[tuple[str, int], str]] = {
    **dict.fromkeys((("startswith", 1), ("startsWith", 1)), "hasPrefix"),
    **dict.fromkeys((("endswith", 1), ("endsWith", 1)), "hasSuffix"),
    **dict.fromkeys((("upper", 0), ("toUpperCase", 0)), "upper"),
    **dict.fromkeys((("lower", 0), ("toLowerCase", 0)), "lower"),
    **dict.fromkeys((("strip", 0), ("trim", 0)), "trim"),
    ("get", 2): "dig",
    ("replace", 2): "replace",
    ("split", 1): "splitList",
}
# The types of their results.
_BOOLEAN: Final = frozenset({"hasPrefix", "hasSuffix"})
_TEXT: Final = frozenset({"upper", "lower", "trim", "replace"})
# Functions that take the text they work on last, where other languages have it first.
SUBJECT_LAST: Final = frozenset(
    {
        *("contains", "default", "hasPrefix", "hasSuffix", "join", "nindent", "indent", "repeat"),
        *("replace", "split", "splitList", "trimPrefix", "trimSuffix", "trunc", "regexMatch"),
    }
)


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


def in_order(name: str, arguments: list[Term]) -> list[Term]:
    """Return arguments in Go's order: the one that is no constant comes last."""
    is_reversed = (
        name in SUBJECT_LAST
        and len(arguments) > 1
        and not arguments[0].is_literal
        and all(argument.is_literal for argument in arguments[1:])
    )
    return [*arguments[1:], arguments[0]] if is_reversed else arguments


def are_boolean(terms: Sequence[Term]) -> bool:
    """Report whether all are booleans."""
    return bool(terms) and all(term.is_boolean for term in terms)


def join_texts(left: Term, right: Term) -> Term:
    """Return the text of two values behind each other; a third one joins the same call."""
    if left.is_call and left.text.startswith("print "):
        return Term(f"{left.text} {right.argument}", is_call=True, is_text=True)
    return call("print", left, right, is_text=True)


def compare(operator: str, left: Term, right: Term) -> Term:
    """Return a comparison; raises Unreadable for one of two meanings."""
    if right.text == "nil":
        # A null or missing value is false.
        if operator in {"=", "==", "==="}:
            return call("not", left, is_boolean=True)
        if operator in {"!=", "!==", "<>"}:
            return left
        raise Unreadable
    if operator in {"in", "not in"}:
        if not right.text.startswith("list "):
            # A list, a map and a text have a function each.
            raise Unreadable
        value = call("has", left, right, is_boolean=True)
        return value if operator == "in" else call("not", value, is_boolean=True)
    return call(COMPARISONS.get(operator, operator), left, right, is_boolean=True)


def call_method(value: Term, name: str, arguments: Sequence[Term]) -> Term:
    """Return the call of the function that is like a method of Python or JavaScript.

    Raises Unreadable if there is none with this number of arguments.
    """
    if (name, len(arguments)) == ("join", 1):
        # `",".join(xs)` and `xs.join(",")`.
        words = (value, *arguments) if value.is_literal else (*arguments, value)
        return call("join", *words, is_text=True)
    function = METHODS.get((name, len(arguments)))
    if function is None:
        raise Unreadable
    is_boolean, is_text = function in _BOOLEAN, function in _TEXT
    return call(function, *arguments, value, is_boolean=is_boolean, is_text=is_text)
