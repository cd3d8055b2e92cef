"""The place of a failed operation in its template.

Compiled code has the lines of the template, but no columns. The operations of a statement are
written into code in the order of the syntax tree, so the failing call is counted in the code, and
the operation of that number is found in the tree.
"""

import dis
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Final, NamedTuple

from jinja2 import Environment, Template, nodes

from function_script.engines.jinja import tokens
from function_script.engines.jinja.compiler import COMPARISONS
from function_script.source import Source, Span

_MAX_CODE: Final = 64 * 1024
_BINARY: Final = {
    nodes.Add: ("add", "+"),
    nodes.Sub: ("subtract", "-"),
    nodes.Mul: ("multiply", "*"),
    nodes.Div: ("divide", "/"),
    nodes.FloorDiv: ("floor_divide", "//"),
    nodes.Mod: ("modulo", "%"),
    nodes.Pow: ("power", "**"),
}
_SYMBOLS: Final = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "lteq": "<=",
    "gt": ">",
    "gteq": ">=",
    "in": "in",
    "notin": "in",
}
_SCOPES: Final = (nodes.Macro, nodes.Block)
_STATEMENTS: Final = (nodes.If, nodes.For, nodes.Assign, nodes.CallBlock, nodes.FilterBlock)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """An instruction of compiled code: the last one that a template's function executed."""

    code: CodeType
    offset: int
    template: Template


class Operation(NamedTuple):
    """An operation: the function that compiled code calls for it, its line and its place."""

    function: str
    line: int
    offset: int
    width: int
    scope: int


def find(
    source: Source, line: int, instruction: Instruction, environment: Environment
) -> Span | None:
    """Return the place of the operation that an instruction executes; None if it is unclear."""
    name, number, count = _call(instruction, line)
    if not name:
        return None
    token_list = tokens.read(environment, source.text)
    tree = tokens.parse(environment, source.text)
    scopes: dict[int, list[Operation]] = {}
    for each in _Finder(token_list).operations(tree):
        if each.function == name and each.line == line:
            scopes.setdefault(each.scope, []).append(each)
    # Each macro and block has code of its own; the template's is called root.
    is_root = instruction.code.co_name == "root"
    candidates = [
        operations
        for scope, operations in scopes.items()
        if len(operations) == count and (scope == 0) is is_root
    ]
    if len(candidates) != 1:
        return None
    operation = candidates[0][number]
    return tokens.span(source, operation.offset, operation.width)


def _call(instruction: Instruction, line: int) -> tuple[str, int, int]:
    """Return the function that an instruction calls, the number of this call, and of all calls.

    Calls are counted in the code of one line of the template.
    """
    if len(instruction.code.co_code) > _MAX_CODE:
        return "", 0, 0
    template_lines = _TemplateLines(instruction.template)
    calls: dict[str, set[tuple[int, int]]] = {}
    place: tuple[int, int] | None = None
    unpacks = False
    for each in dis.get_instructions(instruction.code):
        positions = each.positions
        if positions is None or positions.lineno is None or positions.col_offset is None:
            continue
        start = (positions.lineno, positions.col_offset)
        if each.offset <= instruction.offset:
            # Behind the failing instruction itself may be entries of its cache.
            place, unpacks = start, each.opname.startswith("UNPACK")
        if each.opname.startswith("LOAD_") and template_lines.of(positions.lineno) == line:
            calls.setdefault(str(each.argval), set()).add(start)
    if unpacks:
        return "unpack", 0, 1
    for name, starts in calls.items():
        if place in starts and name in _FUNCTIONS:
            return name, sorted(starts).index(place), len(starts)
    return "", 0, 0


class _TemplateLines:
    """The lines of a template by lines of its code; it reads the template's table once."""

    def __init__(self, template: Template) -> None:
        self._table = template.debug_info
        self._starts = [code_line for _, code_line in self._table]

    def of(self, line: int) -> int:
        """Return the line of the template for a line of code."""
        index = bisect_right(self._starts, line) - 1
        return self._table[index][0] if index >= 0 else 1


class _Finder:
    """Finds operations in a tree whose ``lineno`` are offsets, in the order of compiled code."""

    def __init__(self, token_list: tokens.TokenList) -> None:
        self._text = token_list.text
        self._tokens = token_list.tokens
        self._starts = [token.offset for token in token_list.tokens]
        self._line = 1
        self._scope = 0
        self._scopes = 0

    def operations(self, tree: nodes.Template) -> Iterator[Operation]:
        """Yield the operations of all statements."""
        yield from self._visit(tree)

    def _visit(self, node: nodes.Node) -> Iterator[Operation]:
        if isinstance(node, _SCOPES):
            outer = self._scope
            self._scopes += 1
            self._scope = self._scopes
            yield from self._other(node)
            self._scope = outer
        elif isinstance(node, nodes.Output):
            yield from self._output(node)
        elif isinstance(node, nodes.Compare):
            yield from self._compare(node)
        else:
            yield from self._other(node)

    def _output(self, node: nodes.Output) -> Iterator[Operation]:
        for value in node.nodes:
            if not isinstance(value, nodes.TemplateData):
                self._line = self._line_of(value)
                yield self._whole("to_text", value)
                yield from self._visit(value)

    def _other(self, node: nodes.Node) -> Iterator[Operation]:
        match node:
            case nodes.BinExpr() if type(node) in _BINARY:
                function, symbol = _BINARY[type(node)]
                yield self._operator(function, symbol, node.right)
            case nodes.Call(node=callee):
                yield self._whole("call", callee, end=node.lineno)
            case _:
                pass
        if isinstance(node, _STATEMENTS):
            self._line = self._line_of(node)
        if isinstance(node, nodes.For):
            if isinstance(node.target, nodes.Tuple):
                yield self._whole("unpack", node.target)
            yield self._whole("iterate", node.iter)
        for child in node.iter_child_nodes():
            line = self._line
            yield from self._visit(child)
            self._line = line

    def _compare(self, node: nodes.Compare) -> Iterator[Operation]:
        for position, operand in enumerate(node.ops):
            function = COMPARISONS[operand.op].rpartition(" ")[2]
            yield self._operator(function, _SYMBOLS[operand.op], operand.expr)
            if not position:
                yield from self._visit(node.expr)
            yield from self._visit(operand.expr)

    def _operator(self, function: str, symbol: str, right: nodes.Node) -> Operation:
        """Return the operation whose operator stands before its right operand."""
        index = bisect_right(self._starts, tokens.first_offset(right)) - 1
        while index > 0 and self._tokens[index].text != symbol:
            index -= 1
        token = self._tokens[index]
        return Operation(function, self._line, token.offset, len(token.text), self._scope)

    def _whole(self, function: str, node: nodes.Node, end: int | None = None) -> Operation:
        """Return the operation on the value of a whole expression, up to its last word."""
        begin = tokens.first_offset(node)
        if end is None:
            last = max([each.lineno for each in (node, *node.find_all(nodes.Node)) if each.lineno])
            end = self._end(last)
        return Operation(function, self._line, begin, max(1, end - begin), self._scope)

    def _end(self, offset: int) -> int:
        """Return the end of the lookup or the word that begins at an offset."""
        index = bisect_right(self._starts, offset) - 1
        if index < 0:
            return offset + 1
        closing = {".": 1, "[": 2}.get(self._tokens[index].text, 0)
        return self._tokens[min(index + closing, len(self._tokens) - 1)].end

    def _line_of(self, node: nodes.Node) -> int:
        return tokens.line_at(self._text, node.lineno)


_FUNCTIONS: Final = frozenset(
    {
        *(function for function, _ in _BINARY.values()),
        *(function.rpartition(" ")[2] for function in COMPARISONS.values()),
        *("to_text", "call", "iterate"),
    }
)
