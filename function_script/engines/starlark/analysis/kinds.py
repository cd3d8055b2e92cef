"""The types of expressions that are certain without a run.

Names are followed to the one value that they are bound to. What only a run knows has no type.
"""

import ast
from collections.abc import Mapping
from typing import Final

from function_script.engines.starlark.analysis.names import Value

_MAX_HOPS: Final = 10
_CONSTANTS: Final[dict[type, str]] = {
    bool: "bool",
    int: "int",
    float: "float",
    str: "string",
    type(None): "NoneType",
}
_NODES: Final[dict[type, str]] = {
    ast.Compare: "bool",
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.JoinedStr: "string",
    ast.List: "list",
    ast.ListComp: "list",
    ast.Tuple: "tuple",
}
_CALLS: Final = {
    "bool": "bool",
    "dict": "dict",
    "float": "float",
    "hasattr": "bool",
    "int": "int",
    "len": "int",
    "list": "list",
    "repr": "string",
    "sorted": "list",
    "str": "string",
    "tuple": "tuple",
    "type": "string",
}
_STRING_METHODS: Final = {
    **dict.fromkeys(
        (
            *("capitalize", "format", "join", "lower", "lstrip", "replace", "removeprefix"),
            *("removesuffix", "rstrip", "strip", "title", "upper"),
        ),
        "string",
    ),
    **dict.fromkeys(("split", "rsplit", "splitlines"), "list"),
    **dict.fromkeys(("endswith", "startswith", "isdigit", "isalpha", "isalnum"), "bool"),
    **dict.fromkeys(("count", "find", "index", "rfind", "rindex"), "int"),
}
_NUMBERS: Final = frozenset({"int", "float"})


def kind_of(
    node: ast.expr | None, values: Mapping[str, Value], hops: int = _MAX_HOPS
) -> str | None:
    """Return the type of an expression; None if it is not certain.

    ``values`` are those of names.
    """
    match node:
        case ast.Constant(value=value):
            return _CONSTANTS.get(type(value))
        case ast.Name(id=name) if name in values and not values[name].is_item and hops:
            return kind_of(values[name].expression, values, hops - 1)
        case ast.Call() | ast.BinOp():
            return _kind_of_result(node, values, hops)
        case _:
            return _NODES.get(type(node))


def _kind_of_result(
    node: ast.Call | ast.BinOp, values: Mapping[str, Value], hops: int
) -> str | None:
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in _CALLS and name not in values:
            return _CALLS[name]
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _STRING_METHODS:
            return _STRING_METHODS[attr] if kind_of(value, values, hops) == "string" else None
        case ast.BinOp(left=left, op=ast.Mod()) if kind_of(left, values, hops) == "string":
            return "string"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, two = kind_of(left, values, hops), kind_of(right, values, hops)
            return one if one == two else None
        case _:
            return None


def can_be_equal(one: str, two: str) -> bool:
    """Report whether values of two types may be equal: numbers are, and a value of one type."""
    return one == two or {one, two} <= _NUMBERS
