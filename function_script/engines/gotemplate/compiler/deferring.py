"""Templates of steps with ``missing: Defer`` to Python functions: each action stands alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.engines.gotemplate.compiler.code import Value
from function_script.engines.gotemplate.compiler.statements import Manner, Statements
from function_script.engines.gotemplate.deferral import FORGIVING, TOLERANT, helpers
from function_script.engines.gotemplate.syntax.nodes import Identifier

if TYPE_CHECKING:
    from function_script.engines.gotemplate.syntax.nodes import Action, Command, Operand, Placed


class DeferringStatements(Statements):
    """Compiles one template."""

    # The function whose arguments are being compiled, and the stage before that one.
    callee = ""
    before: Placed | None = None

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

    def command(self, command: Command, final: Value | None) -> Value:
        """One stage of a pipeline; what is missing is the stage before it, and told there."""
        first = command.words[0]
        if final is not None and isinstance(first, Identifier) and first.name not in TOLERANT:
            here, self.at = self.at, self.before or self.at
            self.code.line(f"need({final.code})", self.site())
            final, self.at = final._replace(nil=False, null=False), here
        value = super().command(command, final)
        self.before = command
        return value

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
        elif value.nil and self.callee in FORGIVING:
            value = value._replace(code=self.compute(f"absent({value.code})"))
        return super().check(value, type_name)


MANNER = Manner(DeferringStatements, helpers())
