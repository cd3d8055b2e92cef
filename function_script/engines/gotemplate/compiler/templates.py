"""Templates to statements: the compiler follows Go's walk."""

import re
from typing import Final

from function_script.engines.gotemplate import printing
from function_script.engines.gotemplate.compiler.missing_values import NOWHERE
from function_script.engines.gotemplate.compiler.pipelines import (
    Context,
    PipelineCompiler,
)
from function_script.engines.gotemplate.compiler.values import Value, slot_of
from function_script.engines.gotemplate.errors import Code
from function_script.engines.gotemplate.operations import expressions, statements
from function_script.engines.gotemplate.operations.expressions import Slot
from function_script.engines.gotemplate.run import (
    FIRST_FREE,
    MAIN,
    Body,
    Expression,
    Handler,
    Statement,
)
from function_script.engines.gotemplate.syntax import nodes
from function_script.engines.gotemplate.values import MISSING

_SEPARATOR: Final = re.compile(r"^---", re.MULTILINE)


class Loop:
    """A loop that is being compiled: its first statement, and the jumps out of it."""

    def __init__(self, start: int) -> None:
        self.start: int = start
        self.breaks: list[tuple[statements.Jump, int]] = []


class TemplateCompiler(PipelineCompiler):
    """Compiles one template to the statements of ``body``."""

    def __init__(self, context: Context, template: str) -> None:
        super().__init__(context, template)
        self.body: list[Statement] = []
        self.handlers: list[Handler] = []
        self.loop: Loop = Loop(0)

    def compile_template(self, root: list[nodes.Node]) -> Body:
        """Return the compiled template; one of several documents leaves no gaps."""
        self.compile_nodes(root)
        # Behind a gap in such a text nobody knows how many documents there are.
        is_whole = self.missing.leaves_gaps and self.template != MAIN and _writes_separators(root)
        return Body(self.body, self.slots - FIRST_FREE, self.handlers, is_whole=is_whole)

    def compile_nodes(self, body: list[nodes.Node]) -> None:
        """Compile the nodes of a body in order."""
        for node in body:
            self.compile_node(node)

    def compile_node(self, node: nodes.Node) -> None:
        """Compile one node."""
        self.at = node
        self.steps += 1
        if isinstance(node, nodes.Text):
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
        start, self.mutates = len(self.body), False
        value = self.compile_whole_pipeline(node.pipe)
        if node.pipe.declared:
            self.body.append(statements.Evaluate(value.expression))
        else:
            value = self.missing.require(value, nodes.stage_of(node.pipe))
            # In Go, an error of printing has the place of the whole action.
            self.at = node
            # Go's null is ``<no value>``, ours ``null``.
            origin = None if self.missing.refuses else value.origin or NOWHERE
            self.body.append(statements.Print(value.expression, self.site(), origin))
        if self.missing.leaves_gaps:
            self.handle_failure(node, start)

    def handle_failure(self, node: nodes.Action, start: int) -> None:
        """Go on behind an action that fails: with a gap, or with a variable that is poison."""
        poisoned: list[int] | None = [] if node.pipe.declared else None
        for variable in node.pipe.declared:
            value = self.scope.get(variable.names[0])
            if value is not None and poisoned is not None:
                poisoned.append(slot_of(value))
                # The type is unknown from here on.
                self.scope[variable.names[0]] = Value(value.expression)
        self.handlers.append(Handler(start, len(self.body), poisoned, mutates=self.mutates))

    def store(self, expression: Expression) -> Slot:
        """Add a statement that stores a value in a slot."""
        slot = self.new_slot()
        self.body.append(statements.Evaluate(expressions.Store(expression, slot.index)))
        return slot

    def compile_template_call(self, node: nodes.Template) -> None:
        """Compile ``{{ template }}``."""
        if node.name not in self.context.templates:
            text = f"template {printing.quote(node.name)} not defined"
            failure = self.fail(text, Code.TEMPLATE_UNKNOWN, node.name)
            self.body.append(statements.Evaluate(failure.expression))
            return
        data = (
            expressions.Constant(MISSING)
            if node.pipe is None
            else self.missing.convert_nil(self.compile_whole_pipeline(node.pipe))
        )
        self.at = node
        self.body.append(statements.CallTemplate(node.name, data, self.site()))

    # Branches

    def compile_branch(self, node: nodes.If | nodes.With) -> None:
        """Compile ``if`` and ``with``, and the chain of those in their else."""
        outer_scope, outer_dot = self.scope, self.dot
        # A chain of thousands of else-ifs must not take the stack of as many calls.
        chain, rest = _chain(node)
        ends: list[tuple[statements.Jump, int]] = []
        has_more = len(chain) > 1 or rest is not None
        for index, link in enumerate(chain):
            # The first link was counted as a node of its body.
            self.steps += index > 0
            # A variable of a condition is visible in the rest of the chain, and ends with it.
            self.scope = pipe_scope = self.scope.copy()
            value = self.compile_whole_pipeline(link.pipe)
            self.compile_link(value, link, ends if has_more else None)
            self.scope, self.dot = pipe_scope, outer_dot
        if rest is not None:
            self.scope = self.scope.copy()
            self.compile_nodes(rest)
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
        self.scope = self.scope.copy()
        expression, site = value.expression, self.site()
        if isinstance(link, nodes.With):
            slot = self.new_slot()
            expression = expressions.Store(expression, slot.index)
            self.dot = Value(slot, value.type, nil=False, null=False, origin=value.lasting_origin())
        jump = statements.JumpUnless(expression, site)
        self.body.append(jump)
        self.compile_nodes(link.body)
        if ends is not None:
            end = statements.Jump()
            ends.append((end, len(self.body)))
            self.body.append(end)
        jump.distance = len(self.body) - condition

    # Loops

    def compile_range(self, node: nodes.Range) -> None:
        """Compile ``range`` and its else."""
        outer_scope, outer_dot = self.scope, self.dot
        self.scope = range_scope = outer_scope.copy()
        # The variables are the items; only an else sees the value of the pipeline in them.
        value = self.compile_whole_pipeline(node.pipe, binds=False)
        value = self.missing.require(value, nodes.stage_of(node.pipe))
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
            refuses_null=self.missing.refuses,
        )
        if is_stored:
            items = self.store(items)
        for variable in declared:
            self.bind_range_variable(variable, value, node)
        if node.otherwise is None:
            self.compile_loop(node, items)
        else:
            condition, jump = len(self.body), statements.JumpUnless(items, self.site())
            self.body.append(jump)
            self.compile_loop(node, items)
            end = len(self.body)
            jump_behind = statements.Jump()
            self.body.append(jump_behind)
            jump.distance = len(self.body) - condition
            self.scope, self.dot = range_scope.copy(), outer_dot
            self.compile_nodes(node.otherwise)
            jump_behind.distance = len(self.body) - end
        self.scope, self.dot = outer_scope, outer_dot

    def bind_range_variable(
        self, variable: nodes.Variable, value: Value, node: nodes.Range
    ) -> None:
        """Declare a variable of a range; before the first iteration it has the whole value."""
        # Go's else sees the variables with the value that had no items.
        if node.pipe.assigns or node.otherwise is not None:
            whole = value.copy()
            whole.type = "any"
            binding = self.bind(variable, whole, assigns=node.pipe.assigns)
            self.body.append(statements.Evaluate(binding.expression))
        else:
            slot = self.new_slot()
            slot.changes = True
            self.scope[variable.names[0]] = Value(slot)

    def compile_loop(self, node: nodes.Range, items: Expression) -> None:
        """Compile the loop; the dot and the variables are the element of an iteration."""
        loop, element, key = self.new_slot(), self.new_slot(), self.new_slot()
        declared = [variable.names[0] for variable in node.pipe.declared]
        self.body.append(statements.StartLoop(loop.index, items))
        # What follows is paid by each turn, and a loop inside pays for its own turns in addition.
        before, start = self.steps, len(self.body)
        turn = statements.NextItem(loop.index, element.index, self.site())
        if len(declared) > 1:
            turn.key = key.index
        self.body.append(turn)
        outer_loop, self.loop = self.loop, Loop(start)
        self.scope = self.scope.copy()
        self.dot = Value(element)
        for name, slot in zip(
            declared, [key, element] if declared[1:] else [element], strict=False
        ):
            variable = self.scope.get(name)
            # A variable that some `=` changes needs a slot of its own; others share that of the
            # item.
            if variable is not None and (node.pipe.assigns or name in self.context.assigned):
                self.body.append(statements.Evaluate(expressions.Store(slot, slot_of(variable))))
            else:
                self.scope[name] = Value(slot)
        self.compile_nodes(node.body)
        self.body.append(statements.Jump(start - len(self.body)))
        turn.cost = 1 + self.steps - before
        end = len(self.body)
        turn.distance = end - start
        for jump, place in self.loop.breaks:
            jump.distance = end - place
        self.loop = outer_loop

    def compile_loop_control(self, node: nodes.Break | nodes.Continue) -> None:
        """Compile ``break`` and ``continue``."""
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
    while type(following := chain[-1].else_branch()) is type(node):
        chain.append(following)
    return chain, chain[-1].otherwise


def _writes_separators(body: list[nodes.Node]) -> bool:
    """Report whether a text in this body has a line that begins with ``---``."""
    texts = (node for node in nodes.walk_nodes(body) if isinstance(node, nodes.Text))
    return any(_SEPARATOR.search(node.text) is not None for node in texts)
