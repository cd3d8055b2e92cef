"""The policies for values that do not exist: the one place where the three kinds of steps differ.

A step of function-go-templating ignores them, as Go does. One of our own kind refuses them where
they are used: a missing value may be tested, take a default and be passed to a template. With
``missing: Defer``, an action that uses one leaves a gap; see operations/statements.py.
"""

from enum import Enum
from typing import Final

from function_script.engines.gotemplate.compiler.values import Value
from function_script.engines.gotemplate.function import Accepts, Function
from function_script.engines.gotemplate.operations import expressions
from function_script.engines.gotemplate.operations.expressions import Origin
from function_script.engines.gotemplate.run import Expression
from function_script.engines.gotemplate.syntax import nodes
from function_script.engines.gotemplate.syntax.nodes import Site
from function_script.engines.gotemplate.values import MISSING, POISON

ACCEPTS_MISSING: Final = (Accepts.MISSING, Accepts.MISSING_AND_RETURNS_IT)
# Functions with a substitute for a variable that could not be computed.
_ACCEPTS_POISON: Final = frozenset({"coalesce", "default", "empty"})
NOWHERE: Final = Origin(expressions.Constant(MISSING), "", ())


class Policy(Enum):
    """The treatment of a value that does not exist, where it is used."""

    IGNORE = "ignore"
    REFUSE = "refuse"
    GAP = "gap"


class MissingValues:
    """Adds the checks of a policy to the values of one template."""

    def __init__(self, policy: Policy, template: str) -> None:
        self.refuses: bool = policy is not Policy.IGNORE
        self.leaves_gaps: bool = policy is Policy.GAP
        self.template: str = template

    def require(self, value: Value, node: nodes.Placed) -> Value:
        """Return a value that is used at a node: printed, iterated over or passed on.

        A null may still become a value, so its users wait where gaps are left.
        """
        if not (self.refuses and value.nil):
            return value
        site = Site(node, self.template)
        required: Expression = expressions.RequiredValue(
            value.expression, value.origin or NOWHERE, site
        )
        if self.leaves_gaps:
            required = expressions.RequiredOrPoison(required, site, refuses_null=True)
        return value.copy(required)

    def require_stage(self, value: Value, callee: Function, stage: nodes.Placed) -> Value:
        """Return the value of a stage for the call behind it; the stage is the place of errors."""
        if not self.refuses or callee.accepts in ACCEPTS_MISSING:
            return value
        result = self.require(value, nodes.stage_of(stage)).copy()
        result.nil = False
        return result

    def check_argument(self, value: Value, callee: Function | None, node: nodes.Placed) -> Value:
        """Return an argument: it must exist, unless the function accepts missing values."""
        if not self.refuses:
            return value
        node = nodes.stage_of(node)
        accepts = Accepts.VALUES if callee is None else callee.accepts
        if self.leaves_gaps and value.nil:
            # The substitute stands for poison as for a missing value.
            if callee is not None and callee.name in _ACCEPTS_POISON:
                value = value.copy(expressions.Replace(value.expression, POISON, MISSING))
            elif accepts in ACCEPTS_MISSING:
                site = Site(node, self.template)
                value = value.copy(
                    expressions.RequiredOrPoison(value.expression, site, refuses_null=False)
                )
        result = (value if accepts in ACCEPTS_MISSING else self.require(value, node)).copy()
        if accepts is Accepts.MISSING:
            # A null is not a map, also when it is not a pipeline's value.
            result.from_pipeline = True
            return result
        result.nil = False
        # Go hands a null on as an empty text or a zero, which no author means.
        if result.null and accepts is Accepts.VALUES:
            result.expression = expressions.NotNull(result.expression, Site(node, self.template))
        return result

    def describe_result(self, value: Value, callee: Function, origin: Origin | None) -> None:
        """Note whether the value of a call may be missing, and its origin.

        A function that returns its arguments may return a missing one; `include` makes a text.
        """
        value.origin = origin
        if (
            self.refuses
            and callee.accepts is Accepts.MISSING_AND_RETURNS_IT
            and callee.name != "include"
        ):
            value.nil = value.null = True

    def convert_nil(self, value: Value, accepts: Accepts = Accepts.VALUES) -> Expression:
        """Return the expression of a value that leaves a pipeline, with MISSING for nil.

        Where missing values are refused, a null stays a null unless MISSING is required.
        """
        if not value.null or (self.refuses and accepts is not Accepts.MISSING):
            return value.expression
        return expressions.Replace(value.expression, None, MISSING)
