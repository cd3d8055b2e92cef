"""Calls that fail in every run, by the types that are certain: those that no compiler finds.

The compiler judges constants by Go's types. A result has a type for its purpose, too, and functions
of our own take less than ``any``.

Most languages have the value first. Go's pipelines pass the value as the last argument. An order is
wrong for certain if a constant has a type that its parameter does not take, and right if all
constants fit behind the change.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from function_script.engines.gotemplate import corrections, registry
from function_script.engines.gotemplate.function import Function
from function_script.engines.gotemplate.positions import Finding
from function_script.engines.gotemplate.syntax import nodes, parser
from function_script.engines.signatures import (
    Parameter,
    Signature,
    explain_names,
    find_wrong_types,
)

_TYPES: Final = {
    "bool": ("boolean",),
    "float64": ("number",),
    "int": ("integer",),
    "int64": ("integer",),
    "holder": ("list", "object", "null"),
    "item": ("boolean", "integer", "null", "number", "object", "string"),
    "list": ("list",),
    "map": ("object", "null"),
    "name": ("string",),
    "request": ("object",),
    "resource": ("object", "null"),
    "slice": ("list",),
    "string": ("string",),
    "type": ("string",),
}
_LITERALS: Final = {"dict": "object", "list": "list", "tuple": "list"}


def find_failures(trees: parser.Trees, grammar: parser.Grammar) -> Iterator[Finding]:
    """Yield the wrong calls of some templates, one problem each."""
    for pipe in nodes.walk_trees(trees):
        piped: list[nodes.Operand] = []
        for command in pipe.commands if isinstance(pipe, nodes.Pipe) else ():
            if function := grammar.functions.get(command.function):
                wrong = _find_problem(command, function, [*command.words[1:], *piped], grammar)
                if wrong is not None:
                    yield wrong
            piped = [nodes.Pipe(command.position, (), assigns=False, commands=(command,))]


def _find_problem(
    command: nodes.Command,
    function: Function,
    arguments: Sequence[nodes.Operand],
    grammar: parser.Grammar,
) -> Finding | None:
    signature = _signature(function, len(arguments))
    types = [type_of(argument, grammar) for argument in arguments]
    for wrong in find_wrong_types(signature, types, {}):
        argument = arguments[int(wrong.at)]
        text = nodes.to_source(argument)
        reordered = _reorder_call(function.name, command.words[1:], grammar)
        hint = f"write {reordered}" if reordered is not None else f"write {signature.usage}"
        if wrong.type == "string" and wrong.parameter.name == "request":
            hint = f"write {function.name} {text}"
        message = f"cannot call {function.name}: {wrong.problem}"
        return Finding(argument.position, len(text.partition("\n")[0]), message, hint)
    problem = explain_names(signature, len(arguments), ())
    if problem is None:
        return None
    return Finding(command.position, len(function.name), *problem)


def _signature(function: Function, count: int) -> Signature:
    """Return the signature of a function; a first parameter that is optional may be left out."""
    words = (function.takes or function.parameters).split()
    if words and words[0].endswith("?") and count < len(words):
        del words[0]
    parameters = [
        Parameter(
            word if function.takes else f"argument {number}",
            _TYPES.get(word, ()),
            is_required=not written.endswith("..."),
        )
        for number, written in enumerate(words, 1)
        for word in (written.rstrip(".?"),)
    ]
    usage = " ".join([function.name, *(word for word in words if not word.endswith("?"))])
    is_variadic = usage.endswith("...")
    return Signature(function.name, usage, tuple(parameters), is_variadic=is_variadic)


def type_of(word: nodes.Operand, grammar: parser.Grammar) -> str:
    """Return the type of an operand; "" where the text does not tell it."""
    match word:
        case nodes.Nil():
            return "null"
        case nodes.String():
            return "string"
        case nodes.Number():
            return "integer"
        case nodes.Bool():
            return "boolean"
        case nodes.Pipe(commands=[*_, nodes.Command(words=(nodes.Identifier(name=name), *_))]):
            function = grammar.functions.get(name)
            returns = function.returns if function is not None else "any"
            return _LITERALS.get(name) or next(iter(_TYPES.get(returns, ())), "")
        case _:
            return ""


def unquote_number(node: nodes.SyntaxNode) -> str | None:
    """Return the hint for a comparison with a number that is in quotes."""
    for word in node.words if isinstance(node, nodes.Command) else ():
        if isinstance(word, nodes.String) and word.value.isdigit():
            return f"write {word.value} without quotes"
    return None


# The order of a call's arguments

CONSTANTS: Final = (nodes.Bool, nodes.Number, nodes.String)
# Functions that take the text they work on last, which may also be a constant.
_OF_CONSTANTS: Final = frozenset({"contains", "indent", "nindent", "regexMatch", "repeat", "trunc"})
_NUMBERS: Final = frozenset({"int", "float64"})
# Parameters that are of any type for Go, and of one type for their purpose.
_PURPOSES: Final = {
    **dict.fromkeys(("append", "prepend"), ("list", "any")),
    "has": ("item", "list"),
    "index": ("holder", "any"),
    "join": ("string", "list"),
    "ternary": ("any", "any", "bool"),
}


def reorder(source: str, position: int, grammar: parser.Grammar, actual: str = "") -> str | None:
    """Return the call that has an operand at a position, in Go's order; None if it has that.

    ``actual`` is Go's kind of the operand, whose parameter refused it; "" if none did.
    """
    # The source was compiled: it parses.
    for node in nodes.walk_trees(parser.parse("", source, grammar).trees):
        match node:
            case nodes.Command(words=(nodes.Identifier(name=name), *arguments)):
                places = [nodes.stage_of(argument).position for argument in arguments]
                refused = places.index(position) if actual and position in places else None
                text = _reorder_call(name, arguments, grammar, refused, actual)
                if text is None and refused is not None:
                    text = move_subject(name, arguments)
                if text is not None and any(
                    part.position == position for part in nodes.walk_nodes([node])
                ):
                    return text
            case _:
                pass
    return None


def move_subject(name: str, arguments: Sequence[nodes.Operand]) -> str | None:
    """Return a call with its first argument last, if a constant is where its value belongs."""
    if name not in corrections.SUBJECT_LAST - _OF_CONSTANTS:
        return None
    if len(arguments) != len(registry.FUNCTIONS[name].parameter_types) or isinstance(
        arguments[0], CONSTANTS
    ):
        return None
    last, is_default = arguments[-1], name == "default"
    # An empty constant is never taken.
    is_empty = isinstance(last, nodes.String) and not last.value
    if not isinstance(last, CONSTANTS if is_default else nodes.String) or (is_default and is_empty):
        return None
    return " ".join([name, *map(nodes.argument_source, (*arguments[1:], arguments[0]))])


def _reorder_call(
    name: str,
    arguments: Sequence[nodes.Operand],
    grammar: parser.Grammar,
    refused: int | None = None,
    actual: str = "",
) -> str | None:
    function = grammar.functions.get(name)
    if function is None or (function.variadic and name not in _PURPOSES):
        return None
    parameters = _PURPOSES.get(name, function.parameter_types)
    if len(parameters) != len(arguments) or len(parameters) < len(("value", "other")):
        return None
    types = [type_of(argument, grammar) for argument in arguments]
    if refused is not None:
        # Those before it were accepted.
        kinds = (*function.parameter_types[:refused], actual)
        types[: refused + 1] = [next(iter(_TYPES.get(each, ())), "") for each in kinds]
    # An argument may be in its place, and in quotes by mistake.
    if _fit(parameters, types) or any(
        type_ in _NUMBERS and isinstance(word, nodes.String) and word.value.isdigit()
        for type_, word in zip(parameters, arguments, strict=True)
    ):
        return None
    if "map" in parameters and function.is_lookup:
        # Getters take the request, which `$` is inside of `range` and `with`, too.
        root = nodes.Variable(0, ("$",))
        arguments = [root if isinstance(word, nodes.Dot) else word for word in arguments]
    first, *middle, last = range(len(arguments))
    # The value moves from the front to the end, or from the end to the front, or by one place.
    orders = ([*middle, last, first], [last, first, *middle], [1, 0, *range(2, len(arguments))])
    texts = {
        " ".join([name, *(nodes.argument_source(arguments[index]) for index in order)])
        for order in orders
        if _fit(parameters, [types[index] for index in order])
    }
    # Of several orders that fit none is certain. Outside of `range` and `with` the dot is no map of
    # theirs, but the request.
    is_request = "map" in parameters and any(isinstance(word, nodes.Dot) for word in arguments)
    is_certain = len(texts) == 1 and not is_request and (refused is None or all(types))
    usage = _signature(function, len(arguments)).usage
    return next(iter(texts), None) if is_certain else usage if texts else None


def _fit(parameters: Sequence[str], types: Sequence[str]) -> bool:
    """Report whether parameters may take arguments; one of an unknown type may fit."""
    return all(
        Parameter(parameter, _TYPES.get(parameter, ())).takes(type_)
        for parameter, type_ in zip(parameters, types, strict=True)
    )
