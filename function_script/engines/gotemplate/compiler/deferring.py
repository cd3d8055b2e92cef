"""Templates of steps with ``missing: Defer``: each action fails on its own, and leaves a gap."""

import re
from typing import Final

from function_script.engines.gotemplate import missing
from function_script.engines.gotemplate.compiler.builder import Context
from function_script.engines.gotemplate.compiler.checking import ACCEPTS_MISSING, CheckingCompiler
from function_script.engines.gotemplate.compiler.values import Value, slot_of
from function_script.engines.gotemplate.operations import expressions
from function_script.engines.gotemplate.operations.frame import FIRST_FREE, Expression
from function_script.engines.gotemplate.operations.gaps import DeferringBody, Handler
from function_script.engines.gotemplate.run import MAIN, Template
from function_script.engines.gotemplate.syntax import nodes

_SEPARATOR: Final = re.compile(r"^---", re.MULTILINE)


class DeferringCompiler(CheckingCompiler):
    """Leaves a gap where a missing value is used; ``mutates``: the action changes data."""

    def __init__(self, context: Context, template: str) -> None:
        super().__init__(context, template)
        self.handlers: list[Handler] = []
        self.mutates: bool = False

    def compile_template(self, root: list[nodes.Node]) -> Template:
        """Return the compiled template; one of several documents has no gaps."""
        is_whole = self.template != MAIN and _writes_separators(root)
        self.compile_nodes(root)
        return DeferringBody(self.body, self.slots - FIRST_FREE, self.handlers, is_whole=is_whole)

    def compile_action(self, node: nodes.Action) -> None:
        """Compile an action; without its value it leaves a gap, or a variable that is poison."""
        self.mutates = False
        start = len(self.body)
        block = self.enter_block()
        super().compile_action(node)
        self.leave_block(block)
        poisoned: list[int] | None = [] if node.pipe.declared else None
        for variable in node.pipe.declared:
            value = self.scope.find(variable.names[0])
            if value is not None and poisoned is not None:
                poisoned.append(slot_of(value))
                # The type is unknown from here on.
                self.scope.declare(variable.names[0], Value(value.expression))
        ways = 1 if poisoned is None else len(poisoned)
        self.operations += 1 + max(1, self.mutates + ways)
        self.handlers.append(Handler(start, len(self.body), poisoned, mutates=self.mutates))

    def compile_call(
        self,
        name: nodes.Identifier,
        node: nodes.Placed,
        words: tuple[nodes.Operand, ...],
        final: Value | None,
    ) -> Value:
        """Compile a call; note whether it changes data."""
        self.mutates = self.mutates or self.context.callees.find(name.name).mutates
        return super().compile_call(name, node, words, final)

    def check_value(self, value: Value, type_name: str) -> Value:
        """Check an argument; a few functions have a substitute for poison."""
        if value.nil and self.callee in missing.ACCEPTS_POISON:
            value = value.copy(self.place(expressions.WithoutPoison(value.expression)))
        elif value.nil and self.accepts in ACCEPTS_MISSING:
            value = value.copy(self.refuse_poison(value, refuses_null=False))
        return super().check_value(value, type_name)

    def refuse_missing(self, value: Value) -> Value:
        """Return a value that exists, is not null and is not poison.

        A null may still become a value, so its users wait.
        """
        value = super().refuse_missing(value)
        return value.copy(self.refuse_poison(value, refuses_null=True)) if value.nil else value

    def refuse_poison(self, value: Value, *, refuses_null: bool) -> Expression:
        """Return the expression of a value that fails for poison."""
        check = expressions.RequiredOrPoison(
            value.expression, self.site(), refuses_null=refuses_null
        )
        return self.place(check)


def _writes_separators(body: list[nodes.Node]) -> bool:
    """Report whether a text in this body has a line that begins with ``---``."""
    for node in body:
        if isinstance(node, nodes.Text) and _SEPARATOR.search(node.text):
            return True
        if isinstance(node, (nodes.If, nodes.With, nodes.Range)) and _writes_separators(
            [*node.body, *(node.otherwise or ())]
        ):
            return True
    return False
