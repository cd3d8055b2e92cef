"""Words and functions of other languages, and what they are in Go."""

from collections.abc import Mapping
from typing import Final

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
