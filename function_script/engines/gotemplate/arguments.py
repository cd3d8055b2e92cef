"""Calls that fail in every run, by the types that are certain: those that no compiler finds.

The compiler judges constants by Go's types. A result has a type for its purpose, too, and functions
of our own take less than ``any``.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from function_script.engines.gotemplate.corrections import order
from function_script.engines.gotemplate.function import Function
from function_script.engines.gotemplate.positions import Finding
from function_script.engines.gotemplate.syntax import nodes, parser
from function_script.engines.signatures import (
    Parameter,
    Signature,
    find_wrong_names,
    find_wrong_types,
)

_TYPES: Final = {
    "bool": ("boolean",),
    "float64": ("number",),
    "int": ("integer",),
    "int64": ("integer",),
    "list": ("list",),
    "map": ("object", "null"),
    "name": ("string",),
    "request": ("object",),
    "resource": ("object", "null"),
    "string": ("string",),
}
_LITERALS: Final = {"dict": "object", "list": "list", "tuple": "list"}


def find(
    roots: Sequence[nodes.SyntaxNode], source: str, grammar: parser.Grammar
) -> Iterator[Finding]:
    """Yield the wrong calls below some nodes, one problem each."""
    for pipe in nodes.walk_nodes(roots):
        piped: list[nodes.Operand] = []
        for command in pipe.commands if isinstance(pipe, nodes.Pipe) else ():
            first, *words = command.words
            name = first.name if isinstance(first, nodes.Identifier) else ""
            if function := grammar.functions.get(name):
                wrong = _find_problem(command, function, [*words, *piped], source, grammar)
                if wrong is not None:
                    yield wrong
            piped = [nodes.Pipe(command.position, (), assigns=False, commands=(command,))]


def _find_problem(
    command: nodes.Command,
    function: Function,
    arguments: Sequence[nodes.Operand],
    source: str,
    grammar: parser.Grammar,
) -> Finding | None:
    signature = _signature(function, len(arguments))
    types = [_type_of(argument, grammar) for argument in arguments]
    for wrong in find_wrong_types(signature, types, {}):
        argument = arguments[int(wrong.at)]
        text = nodes.to_source(argument)
        reordered = order.reorder(source, command.position, grammar)
        hint = f"write {reordered}" if reordered is not None else f"write {signature.usage}"
        if wrong.type == "string" and wrong.parameter.name == "request":
            hint = f"write {function.name} {text}"
        elif wrong.type == "string" and wrong.parameter.name == "resource":
            hint = f"write {function.name} (getComposedResource {text})"
        elif wrong.type == "integer" and wrong.parameter.types == ("string",):
            hint = f'write "{text}"' if isinstance(argument, nodes.Number) else hint
        message = f"cannot call {function.name}: {wrong.problem}"
        return Finding(argument.position, len(text.partition("\n")[0]), message, hint)
    problem = find_wrong_names(
        signature.parameters, len(arguments), (), is_variadic=signature.is_variadic
    )
    if problem is None:
        return None
    message, hint = f"cannot call {function.name}: {problem}", f"write {signature.usage}"
    return Finding(command.position, len(function.name), message, hint)


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


def _type_of(word: nodes.Operand, grammar: parser.Grammar) -> str:
    """Return the type of an argument; "" where the text does not tell it."""
    match word:
        case nodes.Nil():
            return "null"
        case nodes.Pipe(commands=[*_, nodes.Command(words=(nodes.Identifier(name=name), *_))]) if (
            name in _LITERALS
        ):
            return _LITERALS[name]
        case _:
            (type_,) = _TYPES.get(order.type_of(word, grammar), ("",))[:1]
            return type_
