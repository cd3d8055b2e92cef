"""Templates of steps with ``missing: Defer`` to Python functions: each action stands alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from function_script.engines.gotemplate.compiler.checking import CheckingGenerator
from function_script.engines.gotemplate.compiler.code import Value
from function_script.engines.gotemplate.compiler.codegen import (
    MAX_LOOPS,
    CodegenOptions,
)
from function_script.engines.gotemplate.deferral import ACCEPTS_POISON, code_globals
from function_script.engines.gotemplate.missing import ACCEPTS_MISSING
from function_script.engines.gotemplate.run import MAIN
from function_script.engines.gotemplate.syntax.nodes import If, Range, Text, With

if TYPE_CHECKING:
    from function_script.engines.gotemplate.compiler.code import Code
    from function_script.engines.gotemplate.compiler.codegen import CompileContext
    from function_script.engines.gotemplate.syntax.nodes import (
        Action,
        Identifier,
        Node,
        Operand,
        Placed,
    )

_SEPARATOR = re.compile(r"^---", re.MULTILINE)
# What an action and a template of several documents need of CPython's nested blocks.
_BLOCKS = 3


class DeferringGenerator(CheckingGenerator):
    """Compiles one template."""

    def __init__(
        self, code: Code, template: str, context: CompileContext, templates: frozenset[str]
    ) -> None:
        super().__init__(code, template, context, templates)
        # Each action is a block of its own, and CPython nests only so many.
        self.max_loops = MAX_LOOPS - _BLOCKS
        self.changes = False

    def template_body(self, local: str, root: list[Node]) -> None:
        """The function that renders the template; one of several documents leaves no gap."""
        self.root = root if self.template != MAIN and _writes_separators(root) else []
        super().template_body(local, root)

    def nodes(self, nodes: list[Node]) -> None:
        """Nodes one after the other."""
        if not nodes or nodes is not self.root:
            super().nodes(nodes)
            return
        with self.code.block("try:"):
            super().nodes(nodes)
        with self.code.block("except FAILURES as error:"):
            self.code.line("fail_without_gap(error)")

    def action(self, node: Action) -> None:
        """An action whose value does not exist leaves a gap, or a variable that is poison.

        What it was to change would be used as it is, so then it stops the run.
        """
        self.changes = False
        with self.code.block("try:"):
            super().action(node)
        with self.code.block("except FAILURES as error:"):
            if self.changes:
                self.code.line("fail_without_gap(error)")
            if not node.pipe.declared:
                self.code.line("leave_gap(run, error)")
            for variable in node.pipe.declared:
                value = self.scope.find(variable.names[0])
                if value is not None:
                    self.code.line(f"{value.code} = poison(error)")
                    # Nothing is known of its type any more.
                    self.scope.declare(variable.names[0], Value(value.code))

    def call(
        self, name: Identifier, node: Placed, words: tuple[Operand, ...], final: Value | None
    ) -> Value:
        """A function's result."""
        self.changes = self.changes or self.functions[name.name].mutates
        return super().call(name, node, words, final)

    def check(self, value: Value, type_name: str) -> Value:
        """A value as an argument; a few functions have something for one that is poison."""
        if value.nil and self.callee in ACCEPTS_POISON:
            value = value._replace(code=self.compute(f"absent({value.code})"))
        elif value.nil and self.callee in ACCEPTS_MISSING:
            self.code.line(f"if {value.code} is POISON: raise_missing()", self.site())
        return super().check(value, type_name)

    def refuse_missing(self, value: Value) -> None:
        """A line that fails if the value does not exist, is null or could not be computed.

        A null may still become a value, so what needs it waits.
        """
        super().refuse_missing(value)
        if value.nil:
            code = value.code
            self.code.line(f"if {code} is None or {code} is POISON: raise_missing()", self.site())


def _writes_separators(nodes: list[Node]) -> bool:
    """Whether a text in these nodes has a line that begins with ``---``."""
    for node in nodes:
        if isinstance(node, Text) and _SEPARATOR.search(node.text):
            return True
        if isinstance(node, (If, With, Range)):
            below = [*node.body, *(node.otherwise or ())]
            if _writes_separators(below):
                return True
    return False


OPTIONS = CodegenOptions(DeferringGenerator, code_globals())
