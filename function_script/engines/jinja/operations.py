"""The place of a failed operation in its template.

Compiled code has the lines of the template, but no columns. After a failure the code is generated
once more, of a tree that has offsets: the generator notes where the call of each operation begins.
"""

from bisect import bisect_right
from dataclasses import dataclass
from types import CodeType
from typing import NamedTuple, cast

from jinja2 import Template, nodes

from function_script.engines.jinja import tokens
from function_script.engines.jinja.compiler import CALL, CodeGenerator


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """An instruction of compiled code: the last one that a template's function executed."""

    code: CodeType
    offset: int
    template: Template


class Operation(NamedTuple):
    """The place of an operation, and the range of its operands; both are offsets in the text."""

    place: range
    operands: range


def find(source: str, instruction: Instruction) -> Operation | None:
    """Return the operation that an instruction executes; None if it is of another kind."""
    environment = instruction.template.environment
    tree = tokens.parse(environment, source)
    generator = cast(
        "CodeGenerator",
        environment.code_generator_class(environment, instruction.template.name, None),
    )
    generator.visit(tree)
    lines = generator.stream.getvalue().split("\n")  # type: ignore[attr-defined] # a StringIO
    # Two bytes of code are one unit, and Python counts the columns of its source in bytes.
    line, _, column, _ = list(instruction.code.co_positions())[instruction.offset // 2]
    if line is None or column is None:
        return None
    begin = sum(len(each) + 1 for each in lines[: line - 1])
    begin += len(lines[line - 1].encode()[:column].decode())
    words = _Words(tokens.read(environment, source))
    for offset, node, operator in generator.operations:
        if offset == begin and isinstance(node, nodes.Expr):
            return words.find(node, operator)
    return None


class _Words:
    """The words of a template, by their offsets."""

    def __init__(self, token_list: tokens.TokenList) -> None:
        self._tokens = token_list.tokens
        self._starts = [token.offset for token in token_list.tokens]

    def find(self, node: nodes.Expr, operator: str) -> Operation:
        """Return the operation on the value of a node, or with the operator before a node."""
        begin = tokens.first_offset(node)
        last = max(each.lineno for each in (node, *node.find_all(nodes.Node)) if each.lineno)
        operands = range(begin, self._end(last))
        if not operator:
            return Operation(operands, operands)
        if operator == CALL:
            return Operation(range(begin, node.lineno), operands)
        return Operation(self._before(begin, operator), operands)

    def _before(self, offset: int, operator: str) -> range:
        """Return the place of the operator before an operand."""
        index = bisect_right(self._starts, offset) - 1
        while index > 0 and self._tokens[index].text != operator:
            index -= 1
        return range(self._tokens[index].offset, self._tokens[index].end)

    def _end(self, offset: int) -> int:
        """Return the end of the lookup or the word that begins at an offset."""
        index = bisect_right(self._starts, offset) - 1
        if index < 0:
            return offset + 1
        closing = {".": 1, "[": 2}.get(self._tokens[index].text, 0)
        return self._tokens[min(index + closing, len(self._tokens) - 1)].end
