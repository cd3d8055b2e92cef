"""Templates of our own kind: using a value that does not exist is an error.

A missing value may be tested, take a default and be passed to a template; see missing.py.
"""

from typing import Final

from function_script.engines.gotemplate.compiler.builder import Context
from function_script.engines.gotemplate.compiler.templates import TemplateCompiler
from function_script.engines.gotemplate.compiler.values import Origin, Value
from function_script.engines.gotemplate.function import Accepts
from function_script.engines.gotemplate.operations import expressions, statements
from function_script.engines.gotemplate.operations.frame import Expression
from function_script.engines.gotemplate.syntax import nodes
from function_script.engines.gotemplate.values import MISSING

ACCEPTS_MISSING: Final = (Accepts.MISSING, Accepts.MISSING_AND_RETURNS_IT)
_NOWHERE: Final = Origin(expressions.Constant(MISSING), "", ())


class CheckingCompiler(TemplateCompiler):
    """Refuses missing values where they are used.

    ``callee`` is the function whose arguments are being compiled, ``accepts`` are the arguments
    that it takes. ``before`` is the stage before the current one.
    """

    def __init__(self, context: Context, template: str) -> None:
        super().__init__(context, template, refuses_null=True)
        self.callee: str = ""
        self.accepts: Accepts = Accepts.VALUES
        self.before: nodes.Placed | None = None

    def write_value(self, value: Value, node: nodes.Action) -> None:
        """Print a value, which must exist; a null is ``null``."""
        outer, self.at = self.at, _last_stage(node.pipe)
        value = self.refuse_missing(value)
        self.at = outer
        self.operations += 1
        self.body.append(statements.PrintWithNull(value.expression, self.site()))

    def compile_range_value(self, pipe: nodes.Pipe) -> Value:
        """Compile the value of a range, which must exist: an empty loop would lose objects."""
        value = super().compile_range_value(pipe)
        outer, self.at = self.at, _last_stage(pipe)
        value = self.refuse_missing(value)
        self.at = outer
        return value

    def refuse_missing(self, value: Value) -> Value:
        """Return a value whose expression fails if the value does not exist."""
        if not value.nil:
            return value
        origin = value.origin or _NOWHERE
        required = expressions.RequiredValue(
            value.expression, origin.start, origin.prefix, origin.names, self.site()
        )
        return value.copy(self.place(required))

    # Pipelines and fields

    def compile_pipeline(self, pipe: nodes.Pipe, *, binds: bool = True) -> Value:
        """Compile a pipeline; its fields are no function's arguments."""
        outer, outer_accepts = self.callee, self.accepts
        self.callee, self.accepts = "", Accepts.VALUES
        value = super().compile_pipeline(pipe, binds=binds)
        self.callee, self.accepts = outer, outer_accepts
        return value

    def compile_command(self, command: nodes.Command, final: Value | None) -> Value:
        """Compile one stage of a pipeline; a missing value is reported at the stage before."""
        first = command.words[0]
        if (
            final is not None
            and isinstance(first, nodes.Identifier)
            and self.context.callees.find(first.name).accepts not in ACCEPTS_MISSING
        ):
            here, self.at = self.at, self.before or self.at
            final = self.refuse_missing(final).copy()
            final.nil = False
            self.at = here
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
            start = self.make_readable(start)
            start.origin = Origin(self.reader_of(start.expression), prefix, ())
        return start, names

    def make_readable(self, start: Value) -> Value:
        """Return a copy of a value that can be read once more."""
        expression = start.expression
        if isinstance(expression, (expressions.Slot, expressions.Constant, expressions.Store)):
            return start.copy()
        return start.copy(expressions.Store(expression, self.new_slot().index))

    def reader_of(self, expression: Expression) -> Expression:
        """Return the expression that reads a value once more."""
        if isinstance(expression, expressions.Store):
            return expressions.Slot(expression.slot)
        return expression

    def compile_fields(self, start: Value, names: tuple[str, ...]) -> Value:
        """Compile a chain of fields; the value has its origin."""
        value = super().compile_fields(start, names).copy()
        before = start.origin or Origin(start.expression, "", ())
        value.origin = before.extend(names)
        return value

    def missing_for_nil(self, value: Value) -> Expression:
        """Return the expression of a value; a null stays a null unless MISSING is required."""
        if self.accepts is Accepts.MISSING:
            return super().missing_for_nil(value)
        return value.expression

    # Calls

    def compile_call(
        self,
        name: nodes.Identifier,
        node: nodes.Placed,
        words: tuple[nodes.Operand, ...],
        final: Value | None,
    ) -> Value:
        """Compile a call; a function that returns its arguments may return a missing value."""
        function = name.name
        origin = self.find_lookup_origin(words) if function in {"get", "index"} else None
        outer, outer_accepts = self.callee, self.accepts
        self.callee = function
        self.accepts = self.context.callees.find(function).accepts
        value = super().compile_call(name, node, words, final).copy()
        value.origin = origin
        # The result of `include` is a text.
        if self.accepts is Accepts.MISSING_AND_RETURNS_IT and function != "include":
            value.nil = value.null = True
        self.callee, self.accepts = outer, outer_accepts
        return value

    def find_lookup_origin(self, words: tuple[nodes.Operand, ...]) -> Origin | None:
        """Return the origin of a call's value: a chain of fields, then constant keys."""
        if len(words) < 2 or not isinstance(words[0], (nodes.Field, nodes.Variable)):  # noqa: PLR2004 # the chain and a key
            return None
        keys: list[str] = []
        for word in words[1:]:
            if not isinstance(word, nodes.String):
                return None
            keys.append(word.value)
        start, names = self.compile_chain_start(words[0])
        before = start.origin or Origin(start.expression, "", ())
        return before.extend((*names, *keys))

    def check_value(self, value: Value, type_name: str) -> Value:
        """Check an argument: it must exist, unless the function accepts missing values."""
        accepts = self.accepts
        if accepts is Accepts.MISSING:
            value = value.copy()
            # A null is not a map, also when it is not a pipeline's value.
            value.from_pipeline = True
        elif accepts is Accepts.MISSING_AND_RETURNS_IT:
            value = value.copy()
            value.nil = False
        else:
            value = self.refuse_missing(value).copy()
            value.nil = False
            if value.null and accepts is not Accepts.NULL:
                value.expression = self.place(expressions.NotNull(value.expression, self.site()))
        return super().check_value(value, type_name)


def _last_stage(pipe: nodes.Pipe) -> nodes.Placed:
    return _stage(pipe.commands[-1])


def _stage(command: nodes.Command) -> nodes.Placed:
    return command if len(command.words) > 1 else command.words[0]
