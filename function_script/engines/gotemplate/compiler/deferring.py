"""Templates of steps with ``missing: Defer`` to Python functions: each action stands alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.engines.gotemplate.compiler.code import Value
from function_script.engines.gotemplate.compiler.statements import Manner, Statements
from function_script.engines.gotemplate.deferral import TOLERANT, helpers

if TYPE_CHECKING:
    from function_script.engines.gotemplate.syntax.nodes import (
        Action,
        Identifier,
        Operand,
        Placed,
    )


class DeferringStatements(Statements):
    """Compiles one template."""

    # The function whose arguments are being compiled.
    callee = ""

    def action(self, node: Action) -> None:
        """An action whose value does not exist leaves a gap, or a variable that is poison."""
        with self.code.block("try:"):
            super().action(node)
        with self.code.block("except FAILURES as error:"):
            if not node.pipe.declared:
                self.code.line("defer(run, error)")
            for variable in node.pipe.declared:
                known = self.scope.find(variable.names[0])
                if known is not None:
                    self.code.line(f"{known.code} = poison(error)")
                    # Nothing is known of its type any more.
                    self.scope.declare(variable.names[0], Value(known.code))

    def call(
        self, name: Identifier, node: Placed, words: tuple[Operand, ...], final: Value | None
    ) -> Value:
        """A function's result."""
        outer, self.callee = self.callee, name.name
        try:
            return super().call(name, node, words, final)
        finally:
            self.callee = outer

    def check(self, value: Value, type_name: str) -> Value:
        """A value as an argument: it has to exist, unless the function is made for what may not."""
        if value.nil and self.callee not in TOLERANT:
            self.code.line(f"need({value.code})", self.site())
        return super().check(value, type_name)


MANNER = Manner(DeferringStatements, helpers())
