"""Code of templates of our own kind: using a value that does not exist is an error.

A missing value may be tested, take a default and be passed to a template; see missing.py. In steps
with ``missing: Defer``, each action fails on its own.
"""

import re
from typing import Final

from function_script.engines.gotemplate import missing
from function_script.engines.gotemplate.compiler import codegen
from function_script.engines.gotemplate.compiler.code import Code, Origin, Value
from function_script.engines.gotemplate.function import Accepts
from function_script.engines.gotemplate.run import MAIN
from function_script.engines.gotemplate.syntax import nodes

ACCEPTS_MISSING: Final = (Accepts.MISSING, Accepts.MISSING_AND_RETURNS_IT)


class CheckingGenerator(codegen.CodeGenerator):
    """Generates code that refuses missing values where they are used."""

    # The function whose arguments are being compiled, and the stage before the current one.
    callee = ""
    before: nodes.Placed | None = None

    def write_value(self, value: Value, node: nodes.Action) -> None:
        """Print a value, which must exist; a null is ``null``."""
        outer, self.at = self.at, _last_stage(node.pipe)
        self.refuse_missing(value)
        self.at = outer
        super().write_value(value, node)

    def compile_range_value(self, pipe: nodes.Pipe) -> Value:
        """Compile the value of a range, which must exist: an empty loop would lose objects."""
        value = super().compile_range_value(pipe)
        outer, self.at = self.at, _last_stage(pipe)
        self.refuse_missing(value)
        self.at = outer
        return value

    def refuse_missing(self, value: Value) -> None:
        """Add a line that fails if the value does not exist."""
        if not value.nil:
            return
        arguments = ""
        if value.origin is not None:
            start, prefix, names = value.origin
            arguments = f"{start}, {', '.join(map(repr, (prefix, *names)))}"
        self.code.line(f"if {value.code} is MISSING: raise_missing({arguments})", self.site())

    @property
    def accepts(self) -> Accepts:
        """The arguments that the called function takes."""
        return self.functions[self.callee].accepts if self.callee else Accepts.VALUES

    # Pipelines and fields

    def compile_pipeline(self, pipe: nodes.Pipe) -> Value:
        """Compile a pipeline; its fields are no function's arguments."""
        outer, self.callee = self.callee, ""
        value = super().compile_pipeline(pipe)
        self.callee = outer
        return value

    def compile_command(self, command: nodes.Command, final: Value | None) -> Value:
        """Compile one stage of a pipeline; a missing value is reported at the stage before."""
        first = command.words[0]
        if (
            final is not None
            and isinstance(first, nodes.Identifier)
            and self.functions[first.name].accepts not in ACCEPTS_MISSING
        ):
            here, self.at = self.at, self.before or self.at
            self.refuse_missing(final)
            final, self.at = final._replace(nil=False), here
        value = super().compile_command(command, final)
        self.before = _stage(command)
        return value

    def compile_chain_start(
        self, node: nodes.Field | nodes.Chain | nodes.Variable
    ) -> tuple[Value, tuple[str, ...]]:
        """Compile the start of a chain of fields, with the template's text of it as prefix."""
        start, names = super().compile_chain_start(node)
        if start.origin is None and not isinstance(node, nodes.Field):
            prefix = nodes.to_source(node).removesuffix("".join(f".{name}" for name in names))
            start = start._replace(origin=Origin(start.code, prefix, ()))
        return start, names

    def compile_fields(self, start: Value, names: tuple[str, ...]) -> Value:
        """Compile a chain of fields; the value has its origin."""
        before = start.origin or Origin(start.code, "", ())
        origin = before._replace(names=(*before.names, *names))
        return super().compile_fields(start, names)._replace(origin=origin)

    def missing_for_nil(self, value: Value) -> str:
        """Return the code of a value; a null stays a null unless MISSING is required."""
        if self.accepts is Accepts.MISSING:
            return super().missing_for_nil(value)
        return value.code

    # Calls

    def compile_call(
        self,
        name: nodes.Identifier,
        node: nodes.Placed,
        words: tuple[nodes.Operand, ...],
        final: Value | None,
    ) -> Value:
        """Compile a call; a function that returns its arguments may return a missing value."""
        origin = self.find_lookup_origin(words) if name.name in {"get", "index"} else None
        outer, self.callee = self.callee, name.name
        returns_missing = self.accepts is Accepts.MISSING_AND_RETURNS_IT
        value = super().compile_call(name, node, words, final)._replace(origin=origin)
        self.callee = outer
        # The result of `include` is a text.
        is_text = name.name == "include"
        return value._replace(nil=True, null=True) if returns_missing and not is_text else value

    def find_lookup_origin(self, words: tuple[nodes.Operand, ...]) -> Origin | None:
        """Return the origin of a call's value: a chain of fields, then constant keys."""
        match words:
            case [nodes.Field() | nodes.Variable() as chain, *keys] if keys and all(
                isinstance(key, nodes.String) for key in keys
            ):
                start, names = self.compile_chain_start(chain)
                before = start.origin or Origin(start.code, "", ())
                read = (key.value for key in keys if isinstance(key, nodes.String))
                return before._replace(names=(*before.names, *names, *read))
            case _:
                return None

    def check_value(self, value: Value, type_name: str) -> Value:
        """Check an argument: it must exist, unless the function accepts missing values."""
        if self.accepts is Accepts.MISSING_AND_RETURNS_IT:
            value = value._replace(nil=False)
        elif self.accepts is Accepts.MISSING:
            # A null is not a map, also when it is not a pipeline's value.
            value = value._replace(from_pipeline=True)
        else:
            self.refuse_missing(value)
            value = value._replace(nil=False)
            if value.null and self.accepts is not Accepts.NULL:
                self.code.line(f"if {value.code} is None: fail('it is null')", self.site())
        return super().check_value(value, type_name)


def _last_stage(pipe: nodes.Pipe) -> nodes.Placed:
    return _stage(pipe.commands[-1])


def _stage(command: nodes.Command) -> nodes.Placed:
    return command if len(command.words) > 1 else command.words[0]


# Gaps

_SEPARATOR: Final = re.compile(r"^---", re.MULTILINE)
# Nested blocks of CPython that an action and a template of several documents take.
_EXTRA_BLOCKS: Final = 3


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
        if value.nil and self.callee in missing.ACCEPTS_POISON:
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


CHECKING: Final = codegen.CodegenOptions(CheckingGenerator, missing.checking_globals())
DEFERRING: Final = codegen.CodegenOptions(DeferringGenerator, missing.deferring_globals())
