"""The order of a call's arguments, which the parser accepts in any.

Most languages have the value first. Go's pipelines pass the value as the last argument. An order is
wrong for certain if a constant has a type that its parameter does not take, and right if all
constants fit behind the change.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Final

from function_script.engines.gotemplate import errors
from function_script.engines.gotemplate.syntax import nodes, parser

_NUMBERS: Final = frozenset({"int", "int64", "float64"})
_CONTAINERS: Final = frozenset({"map", "list"})
# Parameters that are of any type for Go, and of one type for their purpose.
_PURPOSES: Final = {
    "has": ("any", "list"),
    "join": ("string", "list"),
    "ternary": ("any", "any", "bool"),
}


def reorder(source: str, position: int, grammar: parser.Grammar) -> str | None:
    """Return the call that has an operand at a position, in Go's order; None if it has that."""
    try:
        trees = parser.parse("", source, grammar).trees
    except (parser.ParseFailure, errors.LimitExceededError):
        return None
    for node in nodes.walk_nodes([*chain.from_iterable(trees.values())]):
        match node:
            case nodes.Command(words=(nodes.Identifier(name=name), *arguments)) if (
                text := _reorder_call(name, arguments, grammar)
            ) is not None and any(
                getattr(part, "position", None) == position for part in nodes.walk_nodes([node])
            ):
                return text
            case _:
                pass
    return None


def _reorder_call(
    name: str, arguments: Sequence[nodes.Operand], grammar: parser.Grammar
) -> str | None:
    function = grammar.functions.get(name)
    if function is None or function.variadic:
        return None
    types = _PURPOSES.get(name, function.parameter_types)
    if len(types) != len(arguments) or len(types) < len(("value", "other")):
        return None
    if _fit(types, arguments, grammar) or any(map(_is_quoted_number, types, arguments)):
        return None
    first, *middle, last = arguments
    orders = ([*middle, last, first], [last, first, *middle])
    fitting = [order for order in orders if _fit(types, order, grammar)]
    if not fitting:
        return None
    return " ".join([name, *map(argument_source, fitting[0])])


def _is_quoted_number(type_: str, word: nodes.Operand) -> bool:
    """Report whether an argument is in its place, and in quotes by mistake."""
    return type_ in _NUMBERS and isinstance(word, nodes.String) and word.value.isdigit()


def _fit(types: Sequence[str], arguments: Sequence[nodes.Operand], grammar: parser.Grammar) -> bool:
    """Report whether parameters may take arguments; one of an unknown type may fit."""
    for parameter, word in zip(types, arguments, strict=True):
        argument = type_of(word, grammar)
        if not argument or parameter in {"any", "value"}:
            continue
        if parameter in _NUMBERS and argument != "int":
            return False
        if parameter not in _NUMBERS and (parameter != argument or parameter in _CONTAINERS):
            return False
    return True


def type_of(word: nodes.Operand, grammar: parser.Grammar) -> str:
    """Return the Go type of an operand; "" where the text does not tell it."""
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


def argument_source(word: nodes.Operand) -> str:
    """Return the source of an operand as an argument: a pipeline is in parentheses."""
    text = nodes.to_source(word)
    return f"({text})" if isinstance(word, nodes.Pipe) else text
