"""The code generator: Jinja's own, with a check before every operation that can cost much.

Jinja writes ``a + b``; this writes ``add(budget, a, b)``. Every body of a loop, a macro or a block
charges the budget when it runs. The functions that generated code calls are in `runtime`.
"""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, cast

from jinja2 import nodes
from jinja2.compiler import CodeGenerator as JinjaCodeGenerator
from jinja2.compiler import Frame

from function_script.engines.jinja import runtime
from function_script.engines.jinja.policy import count_nodes
from function_script.engines.jinja.tokens import line_at

if TYPE_CHECKING:
    from function_script.engines.jinja.environment import Environment

# A body of so many nodes of the syntax tree costs one step each time it runs.
_NODES_PER_STEP = 32
# The operators of a call and of a filter.
CALL = "("
FILTER = "|"
COMPARISONS = {
    "eq": ("equal", "=="),
    "ne": ("unequal", "!="),
    "lt": ("less", "<"),
    "lteq": ("less_or_equal", "<="),
    "gt": ("greater", ">"),
    "gteq": ("greater_or_equal", ">="),
    "in": ("contains", "in"),
    "notin": ("contains", "in"),
}


def _steps(node: nodes.Node) -> int:
    """Return the cost of one iteration of a loop, or one call of a macro."""
    return 1 + count_nodes(node) // _NODES_PER_STEP


def _charge(body: nodes.Node) -> nodes.ExprStmt:
    return nodes.ExprStmt(nodes.Const(_steps(body)), lineno=body.lineno)


def _binary(function: str, operator: str) -> Callable[[CodeGenerator, nodes.BinExpr, Frame], None]:
    def visit(self: CodeGenerator, node: nodes.BinExpr, frame: Frame) -> None:
        self.begin(node.right, operator)
        self.apply(function, frame, node.left, node.right)

    return visit


def _unary(function: str) -> Callable[[CodeGenerator, nodes.UnaryExpr, Frame], None]:
    return lambda self, node, frame: self.apply(function, frame, node.node)


def _separate(parts: Iterable[str | nodes.Node]) -> Iterator[str | nodes.Node]:
    for part in parts:
        yield from (part, ", ")


class Operation(NamedTuple):
    """An operation, by offsets: its node's own, and its first and last word without a bracket.

    ``operator`` stands before the node, or is CALL or FILTER, or "" where the operation is on a
    value alone.
    """

    own: int
    first: int
    last: int
    operator: str


class CodeGenerator(JinjaCodeGenerator):
    """Writes calls of checked functions where Jinja writes operators.

    Lines of the template are offsets in its text.
    """

    environment: Environment

    # The cost of one iteration, by the identity of the loop's iterable.
    _iteration_costs: dict[int, int] = {}  # noqa: RUF012 - replaced before it is written to
    # The operations, by the offset in the code at which the call of each begins.
    _operations: dict[int, Operation]
    # The offsets of the first and last word of each expression, by its identity.
    _bounds: dict[int, tuple[int, int]]
    # The lines of the code that write a value into the main text.
    _writing_lines: set[int]

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        """Write the whole module; bodies that are called, not iterated, begin with a charge."""
        self._iteration_costs, self._operations, self._bounds = {}, {}, {}
        self._writing_lines = set()
        # No offset: a statement at the beginning of the text has one of 0.
        self._last_line = -1
        self.writeline(f"from {runtime.__name__} import {', '.join(runtime.__all__)}")
        for callee in node.find_all((nodes.Macro, nodes.CallBlock, nodes.Block)):
            cast("nodes.Macro", callee).body.insert(0, _charge(callee))
        for loop in node.find_all(nodes.For):
            # A recursive loop is a function that calls itself, so that paying once is not enough.
            if loop.recursive:
                loop.body.insert(0, _charge(loop))
        node.body.insert(0, _charge(node))
        super().visit_Template(node, frame)
        code = cast("io.StringIO", self.stream).getvalue()
        lines = [0, *(at + 1 for at, character in enumerate(code) if character == "\n")]
        # A frame's position is a line and a column of the code.
        noted: dict[tuple[int, int], Operation] = {}
        for begin, operation in self._operations.items():
            line = bisect_right(lines, begin)
            # Python counts the columns of its source in bytes.
            noted[line, len(code[lines[line - 1] : begin].encode())] = operation
        self.environment.operations[str(self.name)] = noted
        self.environment.writing_lines[str(self.name)] = self._writing_lines

    def bounds(self, node: nodes.Node) -> tuple[int, int]:
        """Return the offsets of the first and the last word of an expression."""
        if (bounds := self._bounds.get(id(node))) is None:
            own = [(node.lineno, node.lineno)] if node.lineno else []
            below = [*own, *map(self.bounds, node.iter_child_nodes())]
            bounds = min(each for each, _ in below), max(each for _, each in below)
            self._bounds[id(node)] = bounds
        return bounds

    def position(self, node: nodes.Node) -> str:
        """Return the line of a node, for messages of Jinja."""
        text = self.environment.sources[str(self.name)].text
        return f"line {line_at(text, node.lineno)} in {self.name!r}"

    def begin(self, node: nodes.Node, operator: str = "") -> None:
        """Note that the call of an operation begins here, for the place of a failure."""
        if isinstance(node, nodes.Expr):
            # Jinja writes pending line breaks with the next text: only then is the offset right.
            self.write("")
            operation = Operation(node.lineno, *self.bounds(node), operator)
            self._operations.setdefault(cast("io.StringIO", self.stream).tell(), operation)

    def write_commons(self) -> None:
        """Write the beginning of every function: short names for what it calls most."""
        super().write_commons()
        self.writeline("run = context.run")
        self.writeline("budget = run.budget")
        # Jinja's code joins the texts of macros and blocks by this name.
        self.writeline("concat = budget.concat")
        self.writeline("attribute = environment.getattr")
        self.writeline("item = environment.getitem")
        self.writeline("call = environment.call")
        # Behind Jinja's own line: its code calls this name for an inline if without else.
        self.writeline("cond_expr_undefined = Absent")

    def visit_ExprStmt(self, node: nodes.ExprStmt, frame: Frame) -> None:
        """Write a charge: templates have no such statement, because there is no `do`."""
        self.writeline("budget.spend(", node)
        self.visit(node.node, frame)
        self.write(")")

    # -- Output

    def visit_Output(self, node: nodes.Output, frame: Frame) -> None:
        """Write text and values, one statement each, so that each has its own line."""
        if frame.require_output_check:
            if self.has_known_extends:
                return
            self.writeline("if parent_template is None:")
            self.indent()
            self.writeline("pass")
        for child in node.nodes:
            if isinstance(child, nodes.TemplateData):
                self.start_write(frame, child)
                self.write_data(child)
                self.end_write(frame)
            else:
                self.start_value(frame, child)
                self.visit(child, frame)
                self.end_value(frame, child)
        if frame.require_output_check:
            self.outdent()

    def write_data(self, node: nodes.TemplateData) -> None:
        """Write text of the template itself."""
        self.write(repr(node.data))

    def start_value(self, frame: Frame, node: nodes.Node) -> None:
        """Begin a value that is written into the text."""
        self.start_write(frame, node)
        self.begin(node)
        if frame.buffer is None:
            self._writing_lines.add(self.code_lineno)
        self.write("to_text(budget, ")

    def end_value(self, frame: Frame, node: nodes.Node) -> None:  # noqa: ARG002 - source_map writes it
        """End a value that is written into the text."""
        self.write(")")
        self.end_write(frame)

    def visit_CallBlock(self, node: nodes.CallBlock, frame: Frame) -> None:
        """Write ``{% call %}``; its result is an ordinary value."""
        call_frame, macro = self.macro_body(node, frame)
        self.writeline("caller = ")
        self.macro_def(macro, call_frame)
        self.start_value(frame, node)
        self.visit_Call(node.call, frame, forward_caller=True)
        self.end_value(frame, node)

    def visit_FilterBlock(self, node: nodes.FilterBlock, frame: Frame) -> None:
        """Write ``{% filter %}``; its result is an ordinary value."""
        inner = frame.inner()
        inner.symbols.analyze_node(node)
        self.enter_frame(inner)
        self.buffer(inner)
        self.blockvisit(node.body, inner)
        self.start_value(frame, node)
        self.visit_Filter(node.filter, inner)
        self.end_value(frame, node)
        self.leave_frame(inner)

    def visit_Assign(self, node: nodes.Assign, frame: Frame) -> None:
        """Write ``{% set a = b %}``."""
        self.push_assign_tracking()
        self.write_assignment(node, frame)
        self.pop_assign_tracking(frame)

    def write_assignment(self, node: nodes.Assign, frame: Frame) -> None:
        """Write the statement of an assignment."""
        self.newline(node)
        self.visit(node.target, frame)
        self.write(" = ")
        self.visit(node.node, frame)

    def visit_NSRef(self, node: nodes.NSRef, frame: Frame) -> None:
        """Write ``{% set ns.x %}``, checked for set blocks too, where Jinja does not check."""
        self.write(f"check_settable({frame.symbols.ref(node.name)})[{node.attr!r}]")

    # -- Loops

    def visit_For(self, node: nodes.For, frame: Frame) -> None:
        """Write a loop, which pays for all its iterations before the first one."""
        self._iteration_costs[id(node.iter)] = _steps(node)
        super().visit_For(node, frame)

    def visit(self, node: nodes.Node, *args: object, **kwargs: object) -> object:
        """Write a node; the iterable of a loop is wrapped in the charge for the loop."""
        if isinstance(node, nodes.Tuple) and node.ctx == "store":
            # To unpack a value is no call: the place of its failure begins with the first name.
            self.begin(node)
        cost = self._iteration_costs.get(id(node))
        if cost is None:
            return super().visit(node, *args, **kwargs)
        self.begin(node)
        self.write("iterate(budget, ")
        result: object = super().visit(node, *args, **kwargs)
        self.write(f", {cost})")
        return result

    # -- Expressions

    def compose(self, frame: Frame, *parts: str | nodes.Node) -> None:
        """Write an expression of parts: code as it is, and nodes."""
        for part in parts:
            if isinstance(part, str):
                self.write(part)
            else:
                self.visit(part, frame)

    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:
        """Write ``a.b``."""
        self.compose(frame, "attribute(", node.node, f", {node.attr!r})")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        """Write ``a[b]`` and ``a[b:c]``."""
        if isinstance(node.arg, nodes.Slice):
            self.apply("take_slice", frame, node.node, node.arg)
        else:
            self.compose(frame, "item(", node.node, ", ", node.arg, ")")

    def visit_Slice(self, node: nodes.Slice, frame: Frame) -> None:
        """Write the bounds of a slice, as a value."""
        bounds = (bound or "None" for bound in (node.start, node.stop, node.step))
        self.compose(frame, "slice(", *_separate(bounds), ")")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        """Write ``{…}``; keys are checked, because hashing some values never ends."""
        self.write("{")
        for pair in node.items:
            self.compose(frame, "check_key(", pair.key, "): ", pair.value, ", ")
        self.write("}")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        """Write ``a ~ b``."""
        self.compose(frame, "concatenate(budget, (", *_separate(node.nodes), "))")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:
        """Write ``a < b <= c`` pairwise; every operand is evaluated once."""
        self.write("(")
        first: str | nodes.Expr = node.expr
        for position, operand in enumerate(node.ops, 1):
            function, operator = COMPARISONS[operand.op]
            self.write(" and " if position > 1 else "")
            self.write("not " if operand.op == "notin" else "")
            self.begin(operand.expr, operator)
            self.compose(frame, f"{function}(budget, ", first, ", ")
            if position == len(node.ops):
                self.compose(frame, operand.expr, ")")
            else:
                first = self.temporary_identifier()
                self.compose(frame, f"({first} := ", operand.expr, "))")
        self.write(")")

    def visit_Filter(self, node: nodes.Filter, frame: Frame) -> None:
        """Write ``value | filter``; in a filter block the value is the block's text."""
        value = node.node or f"concat({frame.buffer})"
        self.begin(node, FILTER)
        self.compose(frame, f"{self.filters[node.name]}(run, ", value)
        self.signature(node, frame)
        self.write(")")

    def visit_Test(self, node: nodes.Test, frame: Frame) -> None:
        """Write ``value is test``."""
        self.compose(frame, f"{self.tests[node.name]}(run, ", node.node)
        self.signature(node, frame)
        self.write(")")

    def visit_Call(self, node: nodes.Call, frame: Frame, forward_caller: bool = False) -> None:  # noqa: FBT001, FBT002 - Jinja's signature
        """Write ``f(…)``."""
        self.begin(node, CALL)
        self.compose(frame, "call(context, ", node.node)
        self.signature(node, frame, {"caller": "caller"} if forward_caller else None)
        self.write(")")

    visit_Add = _binary("add", "+")
    visit_Sub = _binary("subtract", "-")
    visit_Mul = _binary("multiply", "*")
    visit_Div = _binary("divide", "/")
    visit_FloorDiv = _binary("floor_divide", "//")
    visit_Mod = _binary("modulo", "%")
    visit_Pow = _binary("power", "**")
    visit_Neg = _unary("negate")
    visit_Pos = _unary("affirm")

    def apply(self, function: str, frame: Frame, *operands: nodes.Node) -> None:
        """Write the call of a function that takes the budget and operands."""
        self.compose(frame, f"{function}(budget, ", *_separate(operands), ")")
