"""Calls whose arguments are in the order of another language: the value first, as in most.

Go's pipelines pass the value as the last argument. An order is wrong for certain if a constant has
a type that its parameter does not take, and right if all constants fit behind the change.
"""

from collections.abc import Sequence
from typing import Final

from function_script.engines.gotemplate.errors import LimitExceededError
from function_script.engines.gotemplate.syntax import nodes, parser
from function_script.engines.gotemplate.syntax.parser import Grammar, ParseFailure

_NUMBERS: Final = frozenset({"int", "int64", "float64"})
_CONTAINERS: Final = frozenset({"map", "list"})
# Parameters that are of any type for Go, and of one type for their purpose.
_PURPOSES: Final = {
    "has": ("any", "list"),
    "join": ("string", "list"),
    "ternary": ("any", "any", "bool"),
}


def correct(source: str, position: int, grammar: Grammar) -> str | None:
    """Return the call that has an operand at a position, in Go's order; None if it has that."""
    try:
        trees = parser.parse("", source, grammar).trees
    except (ParseFailure, LimitExceededError):
        return None
    for node in nodes.walk_nodes(list(trees.values())):
        match node:
            case nodes.Command(words=(nodes.Identifier(name=name), *arguments)) if (
                text := _corrected(name, arguments, grammar)
            ) is not None and any(
                getattr(part, "position", None) == position for part in nodes.walk_nodes([node])
            ):
                return text
            case _:
                pass
    return None


def _corrected(name: str, arguments: Sequence[nodes.Operand], grammar: Grammar) -> str | None:
    function = grammar.functions.get(name)
    if function is None or function.variadic:
        return None
    types = _PURPOSES.get(name, function.parameter_types)
    if len(types) != len(arguments) or len(types) < len(("value", "other")):
        return None
    if _fit(types, arguments, grammar):
        return None
    first, *middle, last = arguments
    orders = ([*middle, last, first], [last, first, *middle])
    fitting = [order for order in orders if _fit(types, order, grammar)]
    if not fitting:
        return None
    return " ".join([name, *map(_source, fitting[0])])


def _fit(types: Sequence[str], arguments: Sequence[nodes.Operand], grammar: Grammar) -> bool:
    return all(
        _fits(type_, _type(word, grammar)) for type_, word in zip(types, arguments, strict=True)
    )


def _fits(parameter: str, argument: str) -> bool:
    """Report whether a parameter may take an argument; "" is an argument of an unknown type."""
    if not argument or parameter in {"any", "value"}:
        return True
    if parameter in _NUMBERS:
        return argument == "int"
    return parameter == argument and parameter not in _CONTAINERS


def _type(word: nodes.Operand, grammar: Grammar) -> str:
    match word:
        case nodes.String():
            return "string"
        case nodes.Number():
            return "int"
        case nodes.Bool():
            return "bool"
        case nodes.Pipe(commands=[*_, nodes.Command(words=(nodes.Identifier(name=name), *_))]):
            function = grammar.functions.get(name)
            returns = function.returns if function is not None else "any"
            return "" if returns == "any" else returns
        case _:
            return ""


def _source(word: nodes.Operand) -> str:
    text = nodes.to_source(word)
    return f"({text})" if isinstance(word, nodes.Pipe) else text
