"""The body of a template that is being compiled: its statements, slots and sites."""

from collections.abc import Mapping
from typing import TypeAlias

from function_script.engines.gotemplate.compiler.values import Scope, Value
from function_script.engines.gotemplate.function import Function
from function_script.engines.gotemplate.operations import calls, expressions, statements
from function_script.engines.gotemplate.operations.expressions import Slot
from function_script.engines.gotemplate.operations.frame import (
    DOT,
    FIRST_FREE,
    ROOT,
    Expression,
    Statement,
)
from function_script.engines.gotemplate.runtime import MissingKey
from function_script.engines.gotemplate.sites import Site
from function_script.engines.gotemplate.syntax import nodes

# The start of a chain of fields, whether a nil becomes MISSING there, and the names.
_Chain: TypeAlias = tuple[Expression, bool, tuple[str, ...]]


class Context:
    """The facts about all templates of a program that each of them is compiled with.

    ``templates`` are their names, ``assigned`` those of variables that some ``=`` changes.
    ``mutates``: data may change while templates run. ``missing`` is the value of an absent key.
    """

    def __init__(
        self,
        functions: Mapping[str, Function],
        templates: frozenset[str],
        assigned: frozenset[str],
        missing: MissingKey,
        *,
        mutates: bool,
    ) -> None:
        self.callees: calls.Callees = calls.Callees(functions)
        self.templates: frozenset[str] = templates
        self.assigned: frozenset[str] = assigned
        self.missing: MissingKey = missing
        self.mutates: bool = mutates
        # A call that changes data was compiled.
        self.has_mutation: bool = False
        # Failures that are certain once their place is reached.
        self.failures: list[tuple[Site, str]] = []


class BodyBuilder:
    """Adds the statements of one template, with their slots and sites.

    ``at`` is the node that Go would name in an error at this moment: the text of an error depends
    on it. ``operations`` counts those that a loop has to pay for.
    """

    def __init__(self, context: Context, template: str) -> None:
        self.context: Context = context
        self.template: str = template
        self.body: list[Statement] = []
        self.slots: int = FIRST_FREE
        self.operations: int = 0
        self.scope: Scope = Scope()
        root = Slot(ROOT)
        # A variable that is assigned anywhere may hold anything.
        root.changes = "$" in context.assigned
        self.scope.declare("$", Value(root))
        self.dot: Value = Value(Slot(DOT))
        self.at: nodes.Placed = nodes.Dot(0)
        # The values of a pipeline are in slots, each by a statement of its own.
        self.is_flat: bool = False
        # The first slot of the action that is being compiled.
        self.first_slot: int = FIRST_FREE
        # The chains of fields that are computed, for each of the blocks around the next operation.
        self.computed: list[dict[_Chain, expressions.Fields]] = [{}]

    def site(self, value: Value | None = None) -> Site:
        """Return the site of the next operation: the current node."""
        return Site(self.at, self.template, None, value is not None and value.element)

    def new_slot(self) -> Slot:
        """Return a slot that nothing else uses."""
        self.slots += 1
        return Slot(self.slots - 1)

    def place(self, expression: Expression) -> Expression:
        """Return an expression, or the slot that a statement stores its value in."""
        self.operations += 1
        return self.store(expression) if self.is_flat else expression

    def store(self, expression: Expression) -> Slot:
        """Add a statement that stores a value in a slot."""
        slot = self.new_slot()
        self.body.append(statements.Assign(slot.index, expression))
        return slot

    def enter_block(self) -> int:
        """Begin operations that may be left out; return their number so far."""
        self.operations += 1
        self.computed.append({})
        return self.operations

    def leave_block(self, before: int) -> None:
        """End such operations."""
        self.computed.pop()
        if self.operations == before:
            self.operations += 1

    def fail(self, text: str) -> Expression:
        """Return an expression that fails when it is reached: Go, too, fails only then."""
        site = self.site()
        self.context.failures.append((site, text))
        return self.place(expressions.Fail(text, site))

    def fail_after(self, final: Value | None, text: str) -> Value:
        """Return a failure that is reached when the stage before has a value."""
        failure = self.fail(text)
        if final is not None and not self.is_flat:
            failure = expressions.Sequence(final.expression, failure)
        return Value(failure, null=False)
