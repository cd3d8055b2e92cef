"""Code of templates of our own kind: using a value that does not exist is an error.

A missing value may be tested, take a default and be passed to a template; see missing.py.
"""

from typing import Final

from function_script.engines.gotemplate import missing
from function_script.engines.gotemplate.compiler import codegen
from function_script.engines.gotemplate.compiler.code import Origin, Value
from function_script.engines.gotemplate.function import Accepts
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


OPTIONS = codegen.CodegenOptions(CheckingGenerator, missing.code_globals())
