"""Code of templates of steps with ``missing: Defer``: each action fails on its own."""

import re

from function_script.engines.gotemplate.compiler import codegen
from function_script.engines.gotemplate.compiler.checking import ACCEPTS_MISSING, CheckingGenerator
from function_script.engines.gotemplate.compiler.code import Code, Value
from function_script.engines.gotemplate.deferral import ACCEPTS_POISON, code_globals
from function_script.engines.gotemplate.run import MAIN
from function_script.engines.gotemplate.syntax import nodes

_SEPARATOR = re.compile(r"^---", re.MULTILINE)
# Nested blocks of CPython that an action and a template of several documents take.
_EXTRA_BLOCKS = 3


class DeferringGenerator(CheckingGenerator):
    """Generates code that leaves a gap where a missing value is used."""

    def __init__(
        self, code: Code, template: str, context: codegen.CompileContext, templates: frozenset[str]
    ) -> None:
        super().__init__(code, template, context, templates)
        # Each action is a block of its own, and CPython nests only so many.
        self.max_loops = codegen.MAX_LOOPS - _EXTRA_BLOCKS
        self.mutates_data = False

    def compile_template(self, local: str, root: list[nodes.Node]) -> None:
        """Add the function that renders the template; one of several documents has no gaps."""
        self.root = root if self.template != MAIN and _writes_separators(root) else []
        super().compile_template(local, root)

    def compile_nodes(self, body: list[nodes.Node]) -> None:
        """Compile the nodes of a body in order."""
        if not body or body is not self.root:
            super().compile_nodes(body)
            return
        with self.code.block("try:"):
            super().compile_nodes(body)
        with self.code.block("except FAILURES as error:"):
            self.code.line("fail_without_gap(error)")

    def compile_action(self, node: nodes.Action) -> None:
        """Compile an action; without its value it leaves a gap, or a variable that is poison.

        An action that changes data stops the run instead: the data would be used unchanged.
        """
        self.mutates_data = False
        with self.code.block("try:"):
            super().compile_action(node)
        with self.code.block("except FAILURES as error:"):
            if self.mutates_data:
                self.code.line("fail_without_gap(error)")
            if not node.pipe.declared:
                self.code.line("leave_gap(run, error)")
            for variable in node.pipe.declared:
                value = self.scope.find(variable.names[0])
                if value is not None:
                    self.code.line(f"{value.code} = poison(error)")
                    # The type is unknown from here on.
                    self.scope.declare(variable.names[0], Value(value.code))

    def compile_call(
        self,
        name: nodes.Identifier,
        node: nodes.Placed,
        words: tuple[nodes.Operand, ...],
        final: Value | None,
    ) -> Value:
        """Compile a call; note whether it changes data."""
        self.mutates_data = self.mutates_data or self.functions[name.name].mutates
        return super().compile_call(name, node, words, final)

    def check_value(self, value: Value, type_name: str) -> Value:
        """Check an argument; a few functions have a substitute for poison."""
        if value.nil and self.callee in ACCEPTS_POISON:
            value = value._replace(code=self.assign(f"absent({value.code})"))
        elif value.nil and self.accepts in ACCEPTS_MISSING:
            self.code.line(f"if {value.code} is POISON: raise_missing()", self.site())
        return super().check_value(value, type_name)

    def refuse_missing(self, value: Value) -> None:
        """Add a line that fails if the value does not exist, is null or is poison.

        A null may still become a value, so its users wait.
        """
        super().refuse_missing(value)
        if value.nil:
            code = value.code
            self.code.line(f"if {code} is None or {code} is POISON: raise_missing()", self.site())


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


OPTIONS = codegen.CodegenOptions(DeferringGenerator, code_globals())
