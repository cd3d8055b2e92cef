"""Pipelines to expressions: the compiler follows Go's evalPipeline and evalArg."""

from collections.abc import Mapping
from typing import Final, TypeGuard

from function_script.engines.gotemplate import printing, values
from function_script.engines.gotemplate.compiler.missing_values import MissingValues, Policy
from function_script.engines.gotemplate.compiler.values import (
    Constant,
    Value,
    certain,
    constant_value,
)
from function_script.engines.gotemplate.errors import Code, EvalError
from function_script.engines.gotemplate.function import Accepts, Function, Injects
from function_script.engines.gotemplate.operations import expressions
from function_script.engines.gotemplate.operations.expressions import Origin, Slot
from function_script.engines.gotemplate.run import DOT, FIRST_FREE, ROOT, Expression
from function_script.engines.gotemplate.runtime import MissingKey
from function_script.engines.gotemplate.syntax import nodes
from function_script.engines.gotemplate.syntax.nodes import Site


class Context:
    """The facts about all templates of a program.

    ``templates`` are their names, ``assigned`` those of variables that some ``=`` changes.
    ``missing`` is the value of an absent key, ``policy`` says what using it does.
    """

    def __init__(
        self,
        functions: Mapping[str, Function],
        templates: frozenset[str],
        assigned: frozenset[str],
        missing: MissingKey,
        policy: Policy,
    ) -> None:
        self.functions: Mapping[str, Function] = functions
        self.templates: frozenset[str] = templates
        self.assigned: frozenset[str] = assigned
        self.missing: MissingKey = missing
        self.policy: Policy = policy
        # A call that changes data was compiled.
        self.has_mutation: bool = False
        # Failures that are certain once their place is reached.
        self.failures: list[tuple[Site, EvalError]] = []


# Values of these Python types need no other check. Maps of other types are dicts, too.
_EXACT: Final[Mapping[str, type[object]]] = {
    "string": str,
    "int": values.Int,
    "float64": float,
    "bool": bool,
    "map": dict,
}
# Evaluating a pipeline takes stack for each stage and each pair of parentheses around others.
MAX_LEVELS: Final = 200


class PipelineCompiler:
    """Compiles the pipelines of one template, with their slots and sites.

    ``at`` is the node that Go would name in an error at this moment: the text of an error depends
    on it. ``steps`` counts what a turn of a loop has to pay for.
    """

    def __init__(self, context: Context, template: str) -> None:
        self.context: Context = context
        self.template: str = template
        self.missing: MissingValues = MissingValues(context.policy, template)
        self.slots: int = FIRST_FREE
        self.steps: int = 0
        root = Slot(ROOT)
        # A variable that is assigned anywhere may hold anything.
        root.changes = "$" in context.assigned
        # The variables that are visible; the expression of each is its slot.
        self.scope: dict[str, Value] = {"$": Value(root)}
        self.dot: Value = Value(Slot(DOT))
        self.at: nodes.Placed = nodes.Dot(0)
        # The depth of the pipeline that is being compiled.
        self.levels: int = 0
        # The action that is being compiled changes data.
        self.mutates: bool = False

    def site(self) -> Site:
        """Return the site of the next operation: the current node."""
        return Site(self.at, self.template)

    def new_slot(self) -> Slot:
        """Return a slot that nothing else uses."""
        self.slots += 1
        return Slot(self.slots - 1)

    def fail(self, text: str, code: Code | None = None, subject: str = "") -> Value:
        """Return an expression that fails when it is reached: Go, too, fails only then."""
        site = self.site()
        error = EvalError(text, code, subject)
        self.context.failures.append((site, error))
        return Value(expressions.Fail(error, site), null=False)

    def fail_after(
        self, final: Value | None, text: str, code: Code | None = None, subject: str = ""
    ) -> Value:
        """Return a failure that is reached when the stage before has a value."""
        failure = self.fail(text, code, subject)
        if final is None:
            return failure
        return failure.copy(expressions.Sequence(final.expression, failure.expression))

    def fail_count(self, final: Value | None, function: str, counts: str) -> Value:
        """Return the failure of a call with too few or too many arguments."""
        text = f"wrong number of args for {function}: {counts}"
        return self.fail_after(final, text, Code.WRONG_COUNT, function)

    def compile_whole_pipeline(self, pipe: nodes.Pipe, *, binds: bool = True) -> Value:
        """Compile the pipeline of an action."""
        self.levels = _count_levels(pipe)
        if self.levels > MAX_LEVELS:
            self.at = pipe
            return self.fail(f"it is nested {self.levels} deep, the limit is {MAX_LEVELS}")
        return self.compile_pipeline(pipe, binds=binds)

    def compile_pipeline(self, pipe: nodes.Pipe, *, binds: bool = True) -> Value:
        """Compile a pipeline; its variables are declared or assigned."""
        self.at = pipe
        value: Value | None = None
        # An error about the value of a stage has its place, and not that of the call behind it.
        before: nodes.Placed = pipe
        for command in pipe.commands:
            value = self.compile_command(command, value, before)
            # Dots and variables are shared values, so a stage changes a copy. Go unpacks an
            # interface {} behind each stage: nil is no value then.
            if not value.from_pipeline:
                value = value.copy()
                value.from_pipeline = True
            before = command
        result = value or Value(expressions.Constant(values.MISSING), null=False)
        if binds:
            for variable in pipe.declared:
                result = self.bind(variable, result, assigns=pipe.assigns)
        return result

    def bind(self, declared: nodes.Variable, value: Value, *, assigns: bool) -> Value:
        """Assign a variable: a new one, or with ``assigns`` an existing one; return the value."""
        name = declared.names[0]
        converted = self.missing.convert_nil(value)
        if assigns:
            variable = self.compile_variable(declared)
            if not isinstance(variable.expression, Slot):
                failure = expressions.Sequence(value.expression, variable.expression)
                return value.copy(failure)
            slot = variable.expression.index
        else:
            new = self.new_slot()
            self.scope[name] = self.describe_variable(name, new, value, converted)
            slot = new.index
        return value.copy(expressions.Store(converted, slot))

    def describe_variable(
        self, name: str, slot: Slot, value: Value, converted: Expression
    ) -> Value:
        """Return what is certain about a variable that has a value from here on."""
        # An assignment that stands behind a loop's body runs before it in the next turn.
        if name in self.context.assigned:
            slot.changes = True
            return Value(slot)
        is_null = value.null and converted is value.expression
        return Value(slot, value.type, nil=value.nil, null=is_null, origin=value.lasting_origin())

    def compile_command(
        self, command: nodes.Command, final: Value | None, before: nodes.Placed
    ) -> Value:
        """Compile one stage of a pipeline; ``final`` is the value of the stage before it."""
        words = command.words
        first = words[0]
        has_arguments = len(words) > 1 or final is not None
        if isinstance(first, nodes.Identifier):
            if final is not None:
                callee = self.context.functions[first.name]
                final = self.missing.require_stage(final, callee, before)
            self.at = first
            return self.compile_call(first, command, words[1:], final)
        if not has_arguments and not isinstance(first, nodes.Nil):
            return self.compile_operand(first)
        if _is_chain(first):
            start, names = self.compile_chain_start(first)
            return self.compile_method(command, start, names, final)
        # Go's evalCommand refuses the arguments of a pipeline before it notes the place.
        if not isinstance(first, nodes.Pipe):
            self.at = first
        if has_arguments:
            return self.fail_after(
                final, f"can't give argument to non-function {nodes.to_source(first)}"
            )
        return self.fail("nil is not a command")

    def compile_variable(self, node: nodes.Variable) -> Value:
        """Compile a variable, without the fields behind it."""
        name = node.names[0]
        variable = self.scope.get(name)
        if variable is None:
            self.at = nodes.Variable(node.position, (name,))
            return self.fail(f"undefined variable: {name}", Code.VARIABLE_UNDEFINED, name)
        return variable

    def compile_constant(self, word: Constant, type_name: str = "any") -> Value:
        """Compile a constant for a parameter of a type."""
        try:
            return constant_value(word, type_name)
        except EvalError as error:
            return self.fail(error.text, error.code, error.subject)

    # Fields

    def compile_chain_start(
        self, node: nodes.Field | nodes.Chain | nodes.Variable
    ) -> tuple[Value, tuple[str, ...]]:
        """Compile the start of a chain of fields; return it and the names.

        Where an error names the path that is missing, the start can be read once more.
        """
        self.at = node
        if isinstance(node, nodes.Field):
            return self.dot, node.names
        if isinstance(node, nodes.Variable):
            start, names = self.compile_variable(node), node.names[1:]
            prefix = node.names[0]
        else:
            start, names = self.compile_operand(node.start), node.names
            prefix = nodes.to_source(nodes.Chain(node.position, node.start, ()))
            # Go's place is in the parentheses, where nothing is wrong.
            self.at = node
            if start.from_pipeline:
                start = self.leave_pipeline(start, Accepts.VALUES)
        if start.origin is None:
            operand = start.expression
            # A call or a chain is not computed twice: its value stays in a slot for the error.
            if not isinstance(operand, (Slot, expressions.Constant, expressions.Store)):
                operand = expressions.Store(operand, self.new_slot().index)
            start = start.copy(operand)
            source = Slot(operand.slot) if isinstance(operand, expressions.Store) else operand
            start.origin = Origin(source, prefix, ())
        return start, names

    def compile_fields(self, start: Value, names: tuple[str, ...]) -> Value:
        """Compile a chain of fields."""
        fields = expressions.Fields(start.expression, names, self.context.missing, self.site())
        return Value(fields, origin=self.origin_below(start, names))

    def origin_below(self, start: Value, names: tuple[str, ...]) -> Origin:
        """Return the origin of a value below another one."""
        origin = start.origin or Origin(start.expression, "", ())
        return Origin(origin.start, origin.prefix, origin.names + names)

    def compile_method(
        self, command: nodes.Command, receiver: Value, names: tuple[str, ...], final: Value | None
    ) -> Value:
        """Compile a field with arguments: only methods have them."""
        self.steps += 1
        origin = self.origin_below(receiver, names)
        if len(names) > 1:
            receiver = self.compile_fields(receiver, names[:-1])
        start = self.site()
        first: Expression | None = None
        arguments = [self.compile_argument(word, "value").expression for word in command.words[1:]]
        if final is not None:
            slot = self.new_slot()
            first = expressions.Store(final.expression, slot.index)
            arguments.append(self.check_value(final.copy(slot), "value", None, command).expression)
        site = Site(command.words[0], self.template, names[-1])
        call: Expression = expressions.CallMethod(
            receiver.expression, names, arguments, self.context.missing, start, site
        )
        return Value(call if first is None else expressions.Sequence(first, call), origin=origin)

    # Calls

    def compile_call(
        self,
        name: nodes.Identifier,
        node: nodes.Placed,
        words: tuple[nodes.Operand, ...],
        final: Value | None,
    ) -> Value:
        """Compile a call."""
        self.steps += 1
        callee = self.context.functions[name.name]
        if callee.mutates:
            self.mutates = self.context.has_mutation = True
        value = self.compile_any_call(callee, node, words, final)
        origin = self.find_lookup_origin(words) if callee.name in {"get", "index"} else None
        self.missing.describe_result(value, callee, origin)
        return value

    def find_lookup_origin(self, words: tuple[nodes.Operand, ...]) -> Origin | None:
        """Return the origin of a call's value: a chain of fields, then constant keys."""
        if len(words) < 2 or not isinstance(words[0], (nodes.Field, nodes.Variable)):  # noqa: PLR2004 # the chain and a key
            return None
        keys: list[str] = []
        for word in words[1:]:
            # An error reads the path once more, and a computed key may differ by then.
            if not isinstance(word, nodes.String):
                return None
            keys.append(word.value)
        at = self.at
        start, names = self.compile_chain_start(words[0])
        self.at = at
        return self.origin_below(start, (*names, *keys))

    def compile_any_call(
        self,
        callee: Function,
        node: nodes.Placed,
        words: tuple[nodes.Operand, ...],
        final: Value | None,
    ) -> Value:
        """Compile a call; an include must name a template that is defined."""
        function = callee.name
        site = Site(node, self.template, function)
        if function == "include" and words:
            self.check_include(words[0], site)
        # As in Go, a wrong count is the error even where an argument would fail.
        count, parameters = len(words) + (final is not None), len(callee.parameter_types)
        if callee.variadic:
            if count < parameters - 1:
                # For a variadic function, Go's message leaves out the piped value.
                counts = f"want at least {parameters - 1} got {len(words)}"
                return self.fail_count(final, function, counts)
        elif count != parameters:
            return self.fail_count(final, function, f"want {parameters} got {count}")
        arguments = [
            self.compile_argument(word, callee.parameter_type(index), callee)
            for index, word in enumerate(words)
        ]
        if final is None:
            return self.compile_result(callee, node, arguments, site)
        type_name = callee.parameter_type(len(words))
        # The value of a pipeline is computed first, also where `and` or `or` never gets to it.
        is_lazy = function in {"and", "or"}
        are_constant = all(isinstance(each.expression, expressions.Constant) for each in arguments)
        if not is_lazy and are_constant:
            arguments.append(self.check_value(final, type_name, callee, node))
            return self.compile_result(callee, node, arguments, site)
        slot = self.new_slot()
        arguments.append(self.check_value(final.copy(slot), type_name, callee, node))
        value = self.compile_result(callee, node, arguments, site)
        first = expressions.Store(final.expression, slot.index)
        return value.copy(expressions.Sequence(first, value.expression))

    def check_include(self, word: nodes.Operand, site: Site) -> None:
        """Note an include of a template that is not defined."""
        if isinstance(word, nodes.String) and word.value not in self.context.templates:
            text = f"template {printing.quote(word.value)} not defined"
            error = EvalError(text, Code.TEMPLATE_UNKNOWN, word.value)
            self.context.failures.append((site, error))

    def compile_result(
        self,
        callee: Function,
        node: nodes.Placed,
        arguments: list[Value],
        site: Site,
    ) -> Value:
        """Compile the call itself."""
        if callee.name in {"and", "or"}:
            operands = [value.expression for value in arguments]
            return Value(expressions.FirstOf(operands, truth=callee.name == "or"))
        if callee.name == "include":
            name, data = [value.expression for value in arguments]
            if callee.parameter_type(1) == "any":
                data = expressions.Replace(data, None, values.MISSING)
            return certain(expressions.Include(name, data, self.levels, site), "string")
        # The text of the call and no position: an edit elsewhere in the template leaves its
        # numbers.
        is_random = callee.injects is Injects.RANDOM
        key = f"{self.template}: {nodes.to_source(node)}" if is_random else ""
        codes = [
            # Functions never see MISSING: for `any`, no value is nil.
            expressions.Replace(value.expression, values.MISSING, None)
            if value.nil and callee.parameter_type(index) == "any"
            else value.expression
            for index, value in enumerate(arguments)
        ]
        is_any = callee.returns == "any"
        call = expressions.Call(callee, codes, site, key)
        return Value(call, callee.returns, nil=is_any, null=is_any)

    # Arguments

    def compile_operand(self, word: nodes.Operand) -> Value:
        """Compile a word other than nil."""
        self.at = word
        if isinstance(word, nodes.Pipe):
            return self.compile_pipeline(word)
        if isinstance(word, nodes.Identifier):
            return self.compile_call(word, word, (), None)
        if _is_chain(word):
            start, names = self.compile_chain_start(word)
            return self.compile_fields(start, names)
        if isinstance(word, nodes.Variable):
            return self.compile_variable(word)
        if isinstance(word, (nodes.Bool, nodes.Number, nodes.String)):
            return self.compile_constant(word)
        return self.dot

    def compile_argument(
        self, word: nodes.Operand, type_name: str, callee: Function | None = None
    ) -> Value:
        """Compile a word as an argument for a parameter of a type, checked."""
        self.at = word
        if isinstance(word, (nodes.Nil, nodes.Bool, nodes.Number, nodes.String)):
            return self.compile_constant(word, type_name)
        value = self.compile_operand(word)
        return self.check_value(value, type_name, callee, word)

    def check_value(
        self,
        value: Value,
        type_name: str,
        callee: Function | None,
        place: nodes.Placed,
    ) -> Value:
        """Check a value for a parameter of a type; without a callee it is a method's.

        ``place`` is that of an error about the value; Go's is the last word that was compiled.
        """
        value = self.missing.check_argument(value, callee, place)
        if type_name in ("any", value.type):
            return value
        accepts = Accepts.VALUES if callee is None else callee.accepts
        final = self.leave_pipeline(value, accepts) if value.from_pipeline else value
        if type_name == "value":
            return final
        kind = _EXACT.get(type_name)
        site = Site(nodes.stage_of(place), self.template)
        argument = expressions.Argument(final.expression, kind, type_name, site)
        return certain(argument, type_name)

    def leave_pipeline(self, value: Value, accepts: Accepts) -> Value:
        """Return the value as it leaves a pipeline: MISSING for nil."""
        result = value.copy(self.missing.convert_nil(value, accepts))
        result.null = False
        return result


def _is_chain(word: nodes.Operand) -> TypeGuard[nodes.Field | nodes.Chain | nodes.Variable]:
    """Report whether a word reads fields."""
    return isinstance(word, (nodes.Field, nodes.Chain)) or (
        isinstance(word, nodes.Variable) and len(word.names) > 1
    )


def _count_levels(pipe: nodes.Pipe) -> int:
    """Return the depth of the expression of a pipeline."""
    deepest = 0
    for command in pipe.commands:
        for word in command.words:
            operand = word.start if isinstance(word, nodes.Chain) else word
            if isinstance(operand, nodes.Pipe):
                deepest = max(deepest, _count_levels(operand))
    return len(pipe.commands) + deepest
