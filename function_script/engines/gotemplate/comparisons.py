"""Comparisons that fail in every run that reaches them, for their operands have other types."""

from collections.abc import Iterator
from typing import Final

from function_script.diagnostics import Diagnostic
from function_script.engines.gotemplate import programs, registry
from function_script.engines.gotemplate.positions import find_span, read_source_parts
from function_script.engines.gotemplate.run import MAIN
from function_script.engines.gotemplate.syntax import nodes
from function_script.program import Program

_COMPARISONS: Final = frozenset({"eq", "ge", "gt", "le", "lt", "ne"})
_TYPES: Final = {
    "bool": "a boolean",
    "float64": "a number",
    "int": "a number",
    "int64": "a number",
    "string": "a text",
}


def find_failures(program: Program) -> Iterator[Diagnostic]:
    """Find comparisons of a text, a number or a boolean with one of the others."""
    own_parts = read_source_parts(program.options)
    for name, source, trees in programs.parse_texts(program):
        for part in nodes.walk_nodes(list(trees.values())):
            match part:
                case nodes.Command(words=(nodes.Identifier(name=function), *words)) if (
                    function in _COMPARISONS
                ):
                    types = [_type_of(word) for word in words]
                case _:
                    continue
            first = types[0] if types else ""
            other = next((each for each in types if each and each != first), "")
            if not first or not other:
                continue
            parts = own_parts if name == MAIN else ()
            place = find_span(source, part.position, len(function), parts)
            yield Diagnostic(
                message=f"{function} cannot compare {first} with {other}",
                span=place.span,
                excerpt=place.excerpt,
                hint=_hint(words),
            )


def _hint(words: list[nodes.Operand]) -> str:
    for word in words:
        if isinstance(word, nodes.String) and word.value.isdigit():
            return f"write {word.value} without quotes"
    return "convert one of the two: int, float64 or toString"


def _type_of(word: nodes.Operand) -> str:
    match word:
        case nodes.String():
            return _TYPES["string"]
        case nodes.Number():
            return _TYPES["int"]
        case nodes.Bool():
            return _TYPES["bool"]
        case nodes.Pipe(commands=[*_, nodes.Command(words=(nodes.Identifier(name=name), *_))]):
            function = registry.FUNCTIONS.get(name) or registry.OWN_FUNCTIONS.get(name)
            return _TYPES.get(function.returns, "") if function is not None else ""
        case _:
            return ""
