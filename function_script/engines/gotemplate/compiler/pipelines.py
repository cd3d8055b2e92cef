"""Pipelines to expressions: the compiler follows Go's evalPipeline and evalArg."""

from collections.abc import Mapping
from typing import Final

from function_script.engines.gotemplate import printing, values
from function_script.engines.gotemplate.compiler import constants, shortcuts
from function_script.engines.gotemplate.compiler.builder import BodyBuilder
from function_script.engines.gotemplate.compiler.values import Value, certain, slot_of
from function_script.engines.gotemplate.operations import calls, expressions, statements
from function_script.engines.gotemplate.operations.calls import Callee
from function_script.engines.gotemplate.operations.expressions import Slot
from function_script.engines.gotemplate.operations.frame import Expression
from function_script.engines.gotemplate.sites import Site
from function_script.engines.gotemplate.syntax import nodes

_EXACT: Final[Mapping[str, type[object]]] = {
    "string": str,
    "int": values.Int,
    "int64": int,
    "float64": float,
    "bool": bool,
}
_MISSING: Final = values.MISSING
# A pipeline that is deeper becomes a list of statements: evaluating expressions takes stack.
_MAX_WEIGHT: Final = 12


class Circuit:
    """A short circuit that is being compiled, and the jumps behind it with their places."""

    def __init__(self, result: Slot, *, is_and: bool) -> None:
        self.result: Slot = result
        self.is_and: bool = is_and
        self.operands: list[Expression] = []
        self.jumps: list[tuple[statements.Jump, int]] = []


class PipelineCompiler(BodyBuilder):
    """Compiles the pipelines of one template."""

    def compile_whole_pipeline(self, pipe: nodes.Pipe, *, binds: bool = True) -> Value:
        """Compile the pipeline of an action."""
        self.is_flat = _weigh(pipe) > _MAX_WEIGHT
        self.first_slot = self.slots
        value = self.compile_pipeline(pipe, binds=binds)
        self.is_flat = False
        return value

    def compile_pipeline(self, pipe: nodes.Pipe, *, binds: bool = True) -> Value:
        """Compile a pipeline; its variables are declared or assigned."""
        self.at = pipe
        value: Value | None = None
        for command in pipe.commands:
            value = self.compile_command(command, value)
            if value.element or not value.from_pipeline:
                value = value.copy()
                value.from_pipeline, value.element = True, False
        result = value or Value(expressions.Constant(_MISSING), null=False)
        if binds:
            for variable in pipe.declared:
                result = self.bind(variable.names[0], result, assigns=pipe.assigns)
        return result

    def bind(self, name: str, value: Value, *, assigns: bool) -> Value:
        """Assign a variable: a new one, or with ``assigns`` an existing one; return the value."""
        converted = self.missing_for_nil(value)
        nil_is_missing = converted is not value.expression
        if assigns:
            variable = self.scope.find(name)
            if variable is None:
                failure = self.fail_after(value, f"undefined variable: {name}")
                return value.copy(failure.expression)
            return self.write_variable(slot_of(variable), value, nil_is_missing=nil_is_missing)
        slot = self.new_slot()
        self.scope.declare(name, self.describe_variable(name, slot, value, converted))
        return self.write_variable(slot.index, value, nil_is_missing=nil_is_missing)

    def describe_variable(
        self, name: str, slot: Slot, value: Value, converted: Expression
    ) -> Value:
        """Return what is certain about a variable that has a value from here on."""
        if name in self.context.assigned:
            slot.changes = True
            return Value(slot)
        is_null = value.null and converted is value.expression
        origin = value.origin
        if origin is not None and _changes(origin.start):
            origin = None
        return Value(slot, value.type, nil=value.nil, null=is_null, origin=origin)

    def write_variable(self, slot: int, value: Value, *, nil_is_missing: bool) -> Value:
        """Store a value in the slot of a variable, too."""
        self.operations += 1
        store = expressions.Store(value.expression, slot, nil_is_missing=nil_is_missing)
        if not self.is_flat:
            return value.copy(store)
        self.body.append(statements.Evaluate(store))
        return value

    def compile_command(self, command: nodes.Command, final: Value | None) -> Value:
        """Compile one stage of a pipeline; ``final`` is the value of the stage before it."""
        words = command.words
        first = words[0]
        if final is not None:
            final = self.fix(final)
        has_arguments = len(words) > 1 or final is not None
        if isinstance(first, nodes.Identifier):
            self.at = first
            return self.compile_call(first, command, words[1:], final)
        if isinstance(first, (nodes.Field, nodes.Chain)) or (
            isinstance(first, nodes.Variable) and len(first.names) > 1
        ):
            start, names = self.compile_chain_start(first)
            if not has_arguments:
                return self.compile_fields(start, names)
            return self.compile_method(command, start, names, final)
        if not isinstance(first, nodes.Pipe):
            self.at = first
        if has_arguments:
            return self.fail_after(
                final, f"can't give argument to non-function {nodes.to_source(first)}"
            )
        if isinstance(first, nodes.Nil):
            return Value(self.fail("nil is not a command"), null=False)
        return (
            self.compile_pipeline(first)
            if isinstance(first, nodes.Pipe)
            else self.compile_simple(first)
        )

    def compile_simple(self, word: nodes.Operand) -> Value:
        """Compile the dot, a variable or a constant."""
        if isinstance(word, nodes.Dot):
            return self.dot
        if isinstance(word, nodes.Variable):
            return self.compile_variable(word.names[0])
        if isinstance(word, (nodes.Bool, nodes.Number, nodes.String)):
            return self.compile_constant(word)
        return Value(expressions.Constant(_MISSING), null=False)

    def compile_variable(self, name: str) -> Value:
        """Compile a variable."""
        variable = self.scope.find(name)
        if variable is None:
            return Value(self.fail(f"undefined variable: {name}"), null=False)
        return variable

    def compile_constant(self, word: constants.Constant, type_name: str = "any") -> Value:
        """Compile a constant for a parameter of a type."""
        try:
            return constants.constant_value(word, type_name)
        except constants.UnsuitableError as error:
            return Value(self.fail(str(error)), null=False)

    # Fields

    def compile_chain_start(
        self, node: nodes.Field | nodes.Chain | nodes.Variable
    ) -> tuple[Value, tuple[str, ...]]:
        """Compile the start of a chain of fields; return it and the names."""
        self.at = node
        if isinstance(node, nodes.Field):
            return self.dot, node.names
        if isinstance(node, nodes.Variable):
            return self.compile_variable(node.names[0]), node.names[1:]
        if isinstance(node.start, nodes.Nil):
            text = f"indirection through explicit nil in {nodes.to_source(node)}"
            return Value(self.fail(text), null=False), node.names
        start = self.compile_operand(node.start)
        return self.leave_pipeline(start) if start.from_pipeline else start, node.names

    def compile_fields(self, start: Value, names: tuple[str, ...]) -> Value:
        """Compile a chain of fields; an earlier read of the same chain is used again."""
        expression = start.expression
        is_fixed = not self.context.mutates and not _changes(expression)
        is_converted = isinstance(expression, expressions.MissingForNil)
        if isinstance(expression, expressions.MissingForNil):
            expression = expression.operand
        if isinstance(expression, Slot) and expression.source is not None:
            expression = expression.source
        key = (expression, is_converted, names)
        if is_fixed:
            for computed in reversed(self.computed):
                fields = computed.get(key)
                if fields is not None:
                    return Value(self.reuse(fields))
        fields = expressions.read_fields(
            start.expression, names, self.context.missing, self.site(start)
        )
        placed = self.place(fields)
        if is_fixed:
            if isinstance(placed, Slot):
                fields.slot = placed.index
            self.computed[-1][key] = fields
        return Value(placed)

    def reuse(self, fields: expressions.Fields) -> Expression:
        """Return the value of a chain of fields that was computed before."""
        if fields.slot < 0:
            fields.slot = self.new_slot().index
        return Slot(fields.slot, fields)

    def compile_method(
        self, command: nodes.Command, start: Value, names: tuple[str, ...], final: Value | None
    ) -> Value:
        """Compile a field with arguments: only methods have them."""
        receiver = start
        if len(names) > 1:
            receiver = self.compile_fields(start, names[:-1]).copy()
            receiver.element = True
        method = self.place(
            calls.FindMethod(
                receiver.expression, names[-1], self.context.missing, self.site(receiver)
            )
        )
        slot = self.new_slot() if final is not None and not self.is_flat else None
        last = final if final is None or slot is None else final.copy(slot)
        result = self.new_slot()
        self.operations += 1
        jump = statements.JumpUnlessMethod(method, self.site())
        if self.is_flat:
            missing = expressions.Constant(_MISSING)
            self.body.append(statements.Assign(result.index, missing))
            start_of_jump = len(self.body)
            self.body.append(jump)
        else:
            start_of_jump = 0
        block = self.enter_block()
        arguments = [self.compile_argument(word, "value").expression for word in command.words[1:]]
        if last is not None:
            arguments.append(self.check_value(last, "value").expression)
        site = Site(command.words[0], self.template, names[-1])
        self.operations += 1
        call = calls.CallMethod(method, arguments, site)
        self.leave_block(block)
        if self.is_flat:
            self.body.append(statements.Assign(result.index, call))
            jump.distance = len(self.body) - start_of_jump
            return Value(result)
        if final is not None and slot is not None:
            return Value(expressions.Sequence(final.expression, call, slot.index))
        return Value(call)

    # Calls

    def compile_call(
        self,
        name: nodes.Identifier,
        node: nodes.Placed,
        words: tuple[nodes.Operand, ...],
        final: Value | None,
    ) -> Value:
        """Compile a call; an include must name a template that is defined."""
        function = name.name
        site = Site(node, self.template, function)
        if function == "include" and words:
            self.check_include(words[0], site)
        callee = self.context.callees.find(function)
        count = len(words) + (final is not None)
        if callee.is_variadic:
            if count < callee.last:
                counts = f"want at least {callee.last} got {len(words)}"
                return self.fail_after(final, f"wrong number of args for {function}: {counts}")
        elif count != callee.last + 1:
            counts = f"want {callee.last + 1} got {count}"
            return self.fail_after(final, f"wrong number of args for {function}: {counts}")
        if function in {"and", "or"}:
            return self.compile_short_circuit(function, words, final)
        arguments = [
            self.compile_argument(word, callee.parameter_type(index))
            for index, word in enumerate(words)
        ]
        if final is None:
            return self.compile_result(callee, node, words, arguments, site)
        type_name = callee.parameter_type(len(words))
        if self.is_flat or self.are_simple(arguments):
            arguments.append(self.check_value(final, type_name))
            return self.compile_result(callee, node, words, arguments, site)
        slot = self.new_slot()
        arguments.append(self.check_value(final.copy(slot), type_name))
        value = self.compile_result(callee, node, words, arguments, site)
        return value.copy(expressions.Sequence(final.expression, value.expression, slot.index))

    def are_simple(self, arguments: list[Value]) -> bool:
        """Report whether arguments may as well be evaluated before the value of a pipeline."""
        for value in arguments:
            expression = value.expression
            if isinstance(expression, Slot):
                if expression.changes or expression.index >= self.first_slot:
                    return False
            elif not isinstance(expression, expressions.Constant):
                return False
        return True

    def check_include(self, word: nodes.Operand, site: Site) -> None:
        """Note an include of a template that is not defined."""
        if isinstance(word, nodes.String) and word.value not in self.context.templates:
            text = f"template {printing.quote(word.value)} not defined"
            self.context.failures.append((site, text))

    def compile_result(
        self,
        callee: Callee,
        node: nodes.Placed,
        words: tuple[nodes.Operand, ...],
        arguments: list[Value],
        site: Site,
    ) -> Value:
        """Compile the call itself, with its charges."""
        if callee.mutates:
            self.context.has_mutation = True
        if callee.cost:
            self.operations += 1
        if callee.name == "include":
            return self.compile_include(callee, arguments, site)
        value = None if callee.cost else shortcuts.shorten(callee, arguments, site)
        if value is None:
            key = f"{self.template}: {nodes.to_source(node)}" if callee.has_random else ""
            codes = [
                shortcuts.any_expression(value)
                if callee.parameter_type(index) == "any"
                else value.expression
                for index, value in enumerate(arguments)
            ]
            if callee.has_source:
                codes.insert(0, expressions.Constant(nodes.to_source(words[0]) if words else ""))
            is_any = callee.returns == "any"
            call = calls.call(callee, codes, site, key)
            value = Value(call, callee.returns, nil=is_any, null=is_any)
            self.operations += callee.measures
        self.operations += value.type == "string"
        value.expression = self.place(value.expression)
        return value

    def compile_include(self, callee: Callee, arguments: list[Value], site: Site) -> Value:
        """Compile an include, which is a statement: templates include each other 200 deep."""
        self.operations += 2
        slot = self.new_slot()
        name, data = [value.expression for value in arguments]
        if callee.parameter_type(1) == "any":
            data = expressions.MissingForNil(data)
        self.body.append(statements.Include(slot.index, name, data, site))
        return certain(slot, "string")

    def compile_short_circuit(
        self, function: str, words: tuple[nodes.Operand, ...], final: Value | None
    ) -> Value:
        """Compile ``and`` and ``or``: operands are computed only until one decides."""
        last = final
        if final is not None and not self.is_flat:
            last = final.copy(self.new_slot())
        circuit = Circuit(self.new_slot(), is_and=function == "and")
        for index, word in enumerate(words):
            block = self.enter_block() if index else 0
            self.begin_operand(circuit)
            self.end_operand(circuit, self.compile_argument(word, "value"))
            if index:
                self.leave_block(block)
        if last is not None:
            self.begin_operand(circuit)
            self.end_operand(circuit, self.check_value(last, "value"))
        if self.is_flat:
            for jump, start in circuit.jumps:
                jump.distance = len(self.body) - start
            return Value(circuit.result)
        make = calls.And if circuit.is_and else calls.Or
        expression: Expression = make(circuit.operands)
        if final is not None and last is not None:
            expression = expressions.Sequence(final.expression, expression, slot_of(last))
        return Value(expression)

    def begin_operand(self, circuit: Circuit) -> None:
        """Jump behind a short circuit if the operand before decides."""
        if self.is_flat and circuit.operands:
            make = statements.JumpUnless if circuit.is_and else statements.JumpIf
            jump = make(circuit.result, self.site())
            circuit.jumps.append((jump, len(self.body)))
            self.body.append(jump)

    def end_operand(self, circuit: Circuit, operand: Value) -> None:
        """Make an operand the result."""
        self.operations += 1
        circuit.operands.append(operand.expression)
        if self.is_flat:
            self.body.append(statements.Assign(circuit.result.index, operand.expression))

    # Arguments

    def compile_operand(self, word: nodes.Operand) -> Value:
        """Compile a word other than a constant."""
        self.at = word
        if isinstance(word, nodes.Pipe):
            return self.compile_pipeline(word)
        if isinstance(word, nodes.Identifier):
            return self.compile_call(word, word, (), None)
        if isinstance(word, (nodes.Field, nodes.Chain)) or (
            isinstance(word, nodes.Variable) and len(word.names) > 1
        ):
            start, names = self.compile_chain_start(word)
            return self.compile_fields(start, names)
        return self.compile_simple(word)

    def compile_argument(self, word: nodes.Operand, type_name: str) -> Value:
        """Compile a word as an argument for a parameter of a type, checked."""
        self.at = word
        if isinstance(word, (nodes.Nil, nodes.Bool, nodes.Number, nodes.String)):
            return self.compile_constant(word, type_name)
        return self.check_value(self.fix(self.compile_operand(word)), type_name)

    def fix(self, value: Value) -> Value:
        """Return the value that a variable has now, where its slot may change before it is used."""
        if self.is_flat and _changes(value.expression):
            return value.copy(self.store(value.expression))
        return value

    def check_value(self, value: Value, type_name: str) -> Value:
        """Check a value for a parameter of a type."""
        if type_name in ("any", value.type):
            return value
        kind = _EXACT.get(type_name)
        if kind is not None:
            make = expressions.ExactArgument
            if value.from_pipeline and self.missing_for_nil(value) is not value.expression:
                make = expressions.ExactFinal
            check = make(value.expression, kind, type_name, self.site())
            return certain(self.place(check), type_name)
        final = self.leave_pipeline(value) if value.from_pipeline else value
        if type_name == "value":
            return final
        argument = expressions.Argument(final.expression, type_name, self.site())
        return certain(self.place(argument))

    def leave_pipeline(self, value: Value) -> Value:
        """Return the value as it leaves a pipeline: MISSING for nil."""
        result = value.copy(self.missing_for_nil(value))
        result.null = False
        return result

    def missing_for_nil(self, value: Value) -> Expression:
        """Return the expression of a value, with MISSING for nil."""
        return expressions.MissingForNil(value.expression) if value.null else value.expression


def _changes(expression: Expression) -> bool:
    """Report whether an expression is a variable that may be assigned again."""
    return isinstance(expression, Slot) and expression.changes


def _weigh(pipe: nodes.Pipe) -> int:
    """Return the depth of the expression of a pipeline; an include is too deep."""
    deepest = 0
    for command in pipe.commands:
        for word in command.words:
            operand = word.start if isinstance(word, nodes.Chain) else word
            if isinstance(operand, nodes.Pipe):
                deepest = max(deepest, _weigh(operand))
            elif isinstance(operand, nodes.Identifier) and operand.name == "include":
                return _MAX_WEIGHT + 1
    return len(pipe.commands) + deepest
