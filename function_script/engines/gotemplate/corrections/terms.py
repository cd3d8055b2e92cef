"""Go's expressions, put together from the words, functions and methods of other languages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

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
PRODUCTS: Final[Mapping[str, str]] = {"*": "mul", "/": "div", "//": "div", "%": "mod"}
# Functions of other languages that have another name here, and the same order of arguments.
ALIASES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("tojson", "to_json", "jsonencode"), "toJson"),
    **dict.fromkeys(("fromjson", "from_json", "jsondecode"), "fromJson"),
    **dict.fromkeys(("toyaml", "to_yaml", "to_nice_yaml", "yamlencode"), "toYaml"),
    **dict.fromkeys(("fromyaml", "from_yaml", "yamldecode"), "fromYaml"),
    **dict.fromkeys(("b64encode", "base64encode"), "b64enc"),
    **dict.fromkeys(("b64decode", "base64decode"), "b64dec"),
    **dict.fromkeys(("length", "size", "count"), "len"),
    **dict.fromkeys(("downcase", "lowercase", "toLower", "ToLower", "toLowerCase"), "lower"),
    **dict.fromkeys(("upcase", "uppercase", "toUpper", "ToUpper", "toUpperCase"), "upper"),
    **dict.fromkeys(("tostring", "str", "string", "String", "itoa", "Itoa"), "toString"),
    **dict.fromkeys(("strip", "trimspace", "trimSpace", "TrimSpace"), "trim"),
    **dict.fromkeys(("startswith", "startsWith", "starts_with"), "hasPrefix"),
    **dict.fromkeys(("endswith", "endsWith", "ends_with"), "hasSuffix"),
    **dict.fromkeys(("unique", "distinct"), "uniq"),
    **dict.fromkeys(("to_nice_json", "pprint", "to_pretty_json"), "toPrettyJson"),
    **dict.fromkeys(("type", "typeof", "type_debug"), "kindOf"),
    **dict.fromkeys(("toint", "to_int", "parseInt"), "int"),
    **dict.fromkeys(("e", "escape"), "html"),
    "b64_encode": "b64enc",
    "b64_decode": "b64dec",
    "basename": "base",
    "copy": "deepCopy",
    "dirname": "dir",
    "mustToYaml": "toYaml",
    "float": "float64",
    "parseFloat": "float64",
    "truncate": "trunc",
    "wordwrap": "wrap",
    **dict.fromkeys(("sha256", "hash"), "sha256sum"),
    **dict.fromkeys(("base64", "btoa"), "b64enc"),
    "sha1": "sha1sum",
    "sha512": "sha512sum",
    "yaml": "toYaml",
    "json": "toJson",
    "atob": "b64dec",
    "format": "printf",
    "d": "default",
    "tonumber": "float64",
}
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
    if operator in {"is", "is not"} and right.text != "nil":
        raise Unreadable
    if right.text == "nil":
        # A null or missing value is false.
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
    return call(COMPARISONS.get(operator, operator), left, right, is_boolean=True)


# Methods of Python and JavaScript

# Makes the call of a value and the arguments of its method.
_Method: TypeAlias = Callable[[Term, Sequence[Term]], Term]


def find_method(name: str, count: int) -> _Method:
    """Return the method with a number of arguments; raises Unreadable if there is none."""
    method = _METHODS.get((name, count))
    if method is None:
        raise Unreadable
    return method


def _format(value: Term, arguments: Sequence[Term]) -> Term:
    text = value.text
    if not value.is_text or value.is_call or text.count("{}") != len(arguments) or "%" in text:
        raise Unreadable
    return call("printf", Term(text.replace("{}", "%v"), is_text=True), *arguments, is_text=True)


def _join(value: Term, arguments: Sequence[Term]) -> Term:
    """Return the call for ``",".join(xs)`` and for ``xs.join(",")``."""
    separator, items = (value, arguments[0]) if value.is_literal else (arguments[0], value)
    return call("join", separator, items, is_text=True)


def _get(value: Term, arguments: Sequence[Term]) -> Term:
    key, *default = arguments
    return call("dig", key, *default, value) if default else call("get", value, key)


def _subject_last(function: str, *, is_text: bool = False, is_boolean: bool = False) -> _Method:
    def make(value: Term, arguments: Sequence[Term]) -> Term:
        return call(function, *arguments, value, is_text=is_text, is_boolean=is_boolean)

    return make


_METHODS: Final[Mapping[tuple[str, int], _Method]] = {
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
    ("get", 1): _get,
    ("get", 2): _get,
    ("join", 1): _join,
    ("keys", 0): _subject_last("keys"),
    ("split", 1): _subject_last("splitList"),
    ("title", 0): _subject_last("title", is_text=True),
    ("toString", 0): _subject_last("toString", is_text=True),
    ("values", 0): _subject_last("values"),
}
