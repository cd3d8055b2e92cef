"""Templates to statements: the compiler follows Go's walk."""

from typing import Final

from function_script.engines.gotemplate import printing
from function_script.engines.gotemplate.compiler.builder import Context
from function_script.engines.gotemplate.compiler.pipelines import PipelineCompiler
from function_script.engines.gotemplate.compiler.values import Scope, Value, slot_of
from function_script.engines.gotemplate.operations import expressions, statements
from function_script.engines.gotemplate.operations.frame import FIRST_FREE, Body, Expression
from function_script.engines.gotemplate.run import Template
from function_script.engines.gotemplate.syntax import nodes
from function_script.engines.gotemplate.values import MISSING

_MISSING: Final = MISSING
# Nested loops multiply their turns: no template is meant to have more.
MAX_LOOPS: Final = 18


class Loop:
    """A loop that is being compiled: its first statement, and the jumps out of it."""

    def __init__(self, start: int) -> None:
        self.start: int = start
        self.breaks: list[tuple[statements.Jump, int]] = []


class TemplateCompiler(PipelineCompiler):
    """Compiles one template; ``refuses_null``: a null is nothing to iterate over."""

    def __init__(self, context: Context, template: str, *, refuses_null: bool = False) -> None:
        super().__init__(context, template)
        self.refuses_null: bool = refuses_null
        self.loops: int = 0
        self.loop: Loop = Loop(0)

    def compile_template(self, root: list[nodes.Node]) -> Template:
        """Return the compiled template."""
        self.compile_nodes(root)
        return Body(self.body, self.slots - FIRST_FREE)

    def compile_nodes(self, body: list[nodes.Node]) -> None:
        """Compile the nodes of a body in order."""
        for node in body:
            self.compile_node(node)

    def compile_node(self, node: nodes.Node) -> None:
        """Compile one node."""
        self.at = node
        if isinstance(node, nodes.Text):
            self.operations += 1
            self.body.append(statements.Text(node.text, self.site()))
        elif isinstance(node, nodes.Action):
            self.compile_action(node)
        elif isinstance(node, (nodes.If, nodes.With)):
            self.compile_branch(node)
        elif isinstance(node, nodes.Range):
            self.compile_range(node)
        elif isinstance(node, nodes.Template):
            self.compile_template_call(node)
        else:
            self.compile_loop_control(node)

    # Actions

    def compile_action(self, node: nodes.Action) -> None:
        """Print a pipeline's value, unless it goes into a variable."""
        value = self.compile_whole_pipeline(node.pipe)
        if not node.pipe.declared:
            self.at = node
            self.write_value(value, node)
            return
        self.write_binding(value)

    def write_binding(self, value: Value) -> None:
        """Add the statement that computes a value which goes into a variable."""
        expression = value.expression
        if isinstance(expression, expressions.Store):
            stored = expression.operand
            if expression.nil_is_missing:
                stored = expressions.MissingForNil(stored)
            self.body.append(statements.Assign(expression.slot, stored))
        else:
            self.body.append(statements.Evaluate(expression))

    def write_value(self, value: Value, node: nodes.Action) -> None:
        """Print a value."""
        del node
        self.operations += 1
        self.body.append(statements.Print(value.expression, self.site()))

    def compile_template_call(self, node: nodes.Template) -> None:
        """Compile ``{{ template }}``."""
        if node.name not in self.context.templates:
            self.write_failure(f"template {printing.quote(node.name)} not defined")
            return
        data = (
            expressions.Constant(_MISSING)
            if node.pipe is None
            else self.missing_for_nil(self.compile_whole_pipeline(node.pipe))
        )
        self.at = node
        self.operations += 1
        self.body.append(statements.CallTemplate(node.name, data, self.site()))

    def write_failure(self, text: str) -> None:
        """Add a statement that fails."""
        self.body.append(statements.Evaluate(self.fail(text)))

    # Branches

    def compile_branch(self, node: nodes.If | nodes.With) -> None:
        """Compile ``if`` and ``with``, and the chain of those in their else."""
        outer_scope, outer_dot = self.scope, self.dot
        chain, rest = _chain(node)
        ends: list[tuple[statements.Jump, int]] = []
        has_more = len(chain) > 1 or rest is not None
        for index, link in enumerate(chain):
            chain_block = self.enter_block() if index else 0
            self.scope = pipe_scope = Scope(self.scope)
            value = self.compile_whole_pipeline(link.pipe)
            self.operations += has_more
            self.compile_link(value, link, ends if has_more else None)
            self.scope, self.dot = pipe_scope, outer_dot
            if index:
                self.leave_block(chain_block)
        if rest is not None:
            block = self.enter_block()
            self.scope = Scope(self.scope)
            self.compile_nodes(rest)
            self.leave_block(block)
        for jump, start in ends:
            jump.distance = len(self.body) - start
        self.scope = outer_scope

    def compile_link(
        self,
        value: Value,
        link: nodes.If | nodes.With,
        ends: list[tuple[statements.Jump, int]] | None,
    ) -> None:
        """Compile a condition and its body; a with moves the dot.

        ``ends`` gets the jump behind the chain, where there is more of it.
        """
        condition = len(self.body)
        block = self.enter_block()
        self.scope = Scope(self.scope)
        jump: statements.JumpUnless
        if isinstance(link, nodes.With):
            slot = self.new_slot()
            self.operations += 1
            jump = statements.With(value.expression, slot.index, self.site())
            self.dot = value.copy(slot)
            self.dot.nil = self.dot.null = False
        else:
            jump = statements.JumpUnless(value.expression, self.site())
        self.body.append(jump)
        self.compile_nodes(link.body)
        if ends is not None:
            end = statements.Jump()
            ends.append((end, len(self.body)))
            self.body.append(end)
        self.leave_block(block)
        jump.distance = len(self.body) - condition

    # Loops

    def compile_range(self, node: nodes.Range) -> None:
        """Compile ``range`` and its else."""
        if self.loops >= MAX_LOOPS:
            self.write_failure(f"ranges are nested more than {MAX_LOOPS} deep")
            return
        outer_scope, outer_dot = self.scope, self.dot
        self.scope = range_scope = Scope(outer_scope)
        value = self.compile_range_value(node.pipe)
        declared = node.pipe.declared
        has_else = node.otherwise is not None
        # The items are needed before the variables.
        is_stored = has_else or (node.pipe.assigns and bool(declared))
        if is_stored and declared:
            value = value.copy(self.store(value.expression))
        items: Expression = statements.Elements(
            value.expression,
            self.site(),
            has_keys=len(declared) > 1,
            refuses_null=self.refuses_null,
        )
        self.operations += 1
        if is_stored:
            items = self.store(items)
        for variable in declared:
            self.bind_range_variable(variable.names[0], value, node)
        if node.otherwise is None:
            self.compile_loop(node, items)
        else:
            condition, jump = len(self.body), statements.JumpUnless(items, self.site())
            self.body.append(jump)
            block = self.enter_block()
            self.compile_loop(node, items)
            end = len(self.body)
            jump_behind = statements.Jump()
            self.body.append(jump_behind)
            self.leave_block(block)
            jump.distance = len(self.body) - condition
            self.scope, self.dot = Scope(range_scope), outer_dot
            block = self.enter_block()
            self.compile_nodes(node.otherwise)
            self.leave_block(block)
            jump_behind.distance = len(self.body) - end
        self.scope, self.dot = outer_scope, outer_dot

    def compile_range_value(self, pipe: nodes.Pipe) -> Value:
        """Compile the value that a range iterates over."""
        return self.compile_whole_pipeline(pipe, binds=False)

    def bind_range_variable(self, name: str, value: Value, node: nodes.Range) -> None:
        """Declare a variable of a range; before the first iteration it has the whole value."""
        if node.pipe.assigns or node.otherwise is not None:
            whole = value.copy()
            whole.type = "any"
            self.write_binding(self.bind(name, whole, assigns=node.pipe.assigns))
        else:
            slot = self.new_slot()
            slot.changes = True
            self.scope.declare(name, Value(slot))

    def compile_loop(self, node: nodes.Range, items: Expression) -> None:
        """Compile the loop; the dot and the variables are the element of an iteration."""
        loop, element, key = self.new_slot(), self.new_slot(), self.new_slot()
        declared = [variable.names[0] for variable in node.pipe.declared]
        self.body.append(statements.StartLoop(loop.index, items))
        before, start = self.operations, len(self.body)
        turn = statements.NextItem(loop.index, element.index, self.site())
        if len(declared) > 1:
            turn = statements.NextPair(loop.index, key.index, element.index, self.site())
        self.body.append(turn)
        block = self.enter_block()
        outer_loop, self.loop = self.loop, Loop(start)
        self.loops += 1
        self.scope = Scope(self.scope)
        self.dot = Value(element, element=True)
        for name, slot in zip(
            declared, [key, element] if declared[1:] else [element], strict=False
        ):
            variable = self.scope.find(name)
            if variable is not None and (node.pipe.assigns or name in self.context.assigned):
                self.operations += 1
                self.body.append(statements.Assign(slot_of(variable), slot))
            else:
                self.scope.declare(name, Value(slot, element=True))
        self.compile_nodes(node.body)
        self.body.append(statements.Jump(start - len(self.body)))
        self.leave_block(block)
        turn.cost = self.operations - before
        end = len(self.body)
        turn.distance = end - start
        for jump, place in self.loop.breaks:
            jump.distance = end - place
        self.loop = outer_loop
        self.loops -= 1

    def compile_loop_control(self, node: nodes.Break | nodes.Continue) -> None:
        """Compile ``break`` and ``continue``."""
        self.operations += 1
        place = len(self.body)
        jump = statements.Jump(self.loop.start - place)
        if isinstance(node, nodes.Break):
            self.loop.breaks.append((jump, place))
        self.body.append(jump)


def _chain(
    node: nodes.If | nodes.With,
) -> tuple[list[nodes.If | nodes.With], list[nodes.Node] | None]:
    """Return a branch and those of its kind that are alone in its else; and the last else."""
    chain = [node]
    rest = node.otherwise
    while rest is not None and len(rest) == 1 and type(rest[0]) is type(node):
        chain.append(rest[0])
        rest = chain[-1].otherwise
    return chain, rest
