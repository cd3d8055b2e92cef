"""Templates of our own kind to Python functions: what does not exist is refused where it is used.

It may be tested, take a default and be passed to a template; see missing.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.engines.gotemplate.compiler.code import Origin, Value
from function_script.engines.gotemplate.compiler.codegen import (
    CodeGenerator,
    CodegenOptions,
)
from function_script.engines.gotemplate.missing import (
    ACCEPTS_MISSING,
    ACCEPTS_NULL,
    PASSES_MISSING,
    code_globals,
)
from function_script.engines.gotemplate.syntax.nodes import (
    Chain,
    Field,
    Identifier,
    String,
    Variable,
    to_source,
)

if TYPE_CHECKING:
    from function_script.engines.gotemplate.syntax.nodes import (
        Action,
        Command,
        Operand,
        Pipe,
        Placed,
    )


class CheckingGenerator(CodeGenerator):
    """Compiles one template."""

    # The function whose arguments are being compiled, and the stage before the current one.
    callee = ""
    before: Placed | None = None

    def write(self, value: Value, node: Action) -> None:
        """Print a value that exists; a null is ``null``."""
        outer, self.at = self.at, _last_stage(node.pipe)
        self.refuse_missing(value)
        self.at = outer
        super().write(value, node)

    def ranged(self, pipe: Pipe) -> Value:
        """What a range goes over: nothing that does not exist, for an empty loop loses objects."""
        value = super().ranged(pipe)
        outer, self.at = self.at, _last_stage(pipe)
        self.refuse_missing(value)
        self.at = outer
        return value

    def refuse_missing(self, value: Value) -> None:
        """A line that fails if the value does not exist."""
        if value.nil:
            self.code.line(f"if {value.code} is MISSING: {_missing_code(value)}", self.site())

    # Pipelines and fields

    def pipeline(self, pipe: Pipe) -> Value:
        """The value of a pipeline, whose fields are no function's arguments."""
        outer, self.callee = self.callee, ""
        value = super().pipeline(pipe)
        self.callee = outer
        return value

    def command(self, command: Command, final: Value | None) -> Value:
        """One stage of a pipeline; what is missing is the stage before it, and told there."""
        first = command.words[0]
        if (
            final is not None
            and isinstance(first, Identifier)
            and first.name not in ACCEPTS_MISSING
        ):
            here, self.at = self.at, self.before or self.at
            self.refuse_missing(final)
            final, self.at = final._replace(nil=False), here
        value = super().command(command, final)
        self.before = _stage(command)
        return value

    def chain_start(self, node: Field | Chain | Variable) -> tuple[Value, tuple[str, ...]]:
        """Where a chain of fields begins; how the template writes that goes with it."""
        start, names = super().chain_start(node)
        if start.origin is None and not isinstance(node, Field):
            prefix = to_source(node).removesuffix("".join(f".{name}" for name in names))
            start = start._replace(origin=Origin(start.code, prefix, ()))
        return start, names

    def fields(self, start: Value, names: tuple[str, ...]) -> Value:
        """The value at the end of a chain, which knows where it was read."""
        before = start.origin or Origin(start.code, "", ())
        origin = before._replace(names=(*before.names, *names))
        return super().fields(start, names)._replace(origin=origin)

    def missing_for_nil(self, value: Value) -> str:
        """A null stays what it is, but where a map or nothing is wanted."""
        if self.callee in ACCEPTS_MISSING - PASSES_MISSING:
            return super().missing_for_nil(value)
        return value.code

    # Calls

    def call(
        self, name: Identifier, node: Placed, words: tuple[Operand, ...], final: Value | None
    ) -> Value:
        """A function's result; one that gives back its arguments may give nothing."""
        origin = self.looked_up(words) if name.name in {"get", "index"} else None
        outer, self.callee = self.callee, name.name
        value = super().call(name, node, words, final)._replace(origin=origin)
        self.callee = outer
        return value._replace(nil=True, null=True) if name.name in _RETURNS_MISSING else value

    def looked_up(self, words: tuple[Operand, ...]) -> Origin | None:
        """Where a call reads that is given a chain of fields and constant keys."""
        match words:
            case [Field() | Variable() as chain, *keys] if keys and all(
                isinstance(key, String) for key in keys
            ):
                start, names = self.chain_start(chain)
                before = start.origin or Origin(start.code, "", ())
                read = (key.value for key in keys if isinstance(key, String))
                return before._replace(names=(*before.names, *names, *read))
            case _:
                return None

    def check(self, value: Value, type_name: str) -> Value:
        """A value as an argument: it has to exist, unless the function is made for what may not."""
        if self.callee in PASSES_MISSING:
            value = value._replace(nil=False)
        elif self.callee in ACCEPTS_MISSING:
            # Also a null that is no pipeline's value is no map.
            value = value._replace(from_pipeline=True)
        else:
            self.refuse_missing(value)
            value = value._replace(nil=False)
            if value.null and self.callee not in ACCEPTS_NULL:
                self.code.line(f"if {value.code} is None: fail('it is null')", self.site())
        return super().check(value, type_name)


# Of `include` the result is a text.
_RETURNS_MISSING = PASSES_MISSING - {"include"}


def _missing_code(value: Value) -> str:
    if value.origin is None:
        return "raise_missing()"
    start, prefix, names = value.origin
    return f"raise_missing({start}, {', '.join(map(repr, (prefix, *names)))})"


def _last_stage(pipe: Pipe) -> Placed:
    return _stage(pipe.commands[-1])


def _stage(command: Command) -> Placed:
    return command if len(command.words) > 1 else command.words[0]


OPTIONS = CodegenOptions(CheckingGenerator, code_globals())
