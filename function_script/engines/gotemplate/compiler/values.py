"""The compiler's facts about a value, and the variables that are visible at some position."""

from typing import cast

from function_script.engines.gotemplate.operations.expressions import Slot
from function_script.engines.gotemplate.operations.frame import Expression


class Origin:
    """The origin of a value: ``names`` are the fields below ``start``, which may be read again.

    ``prefix`` is the template's text of the start: empty for the dot.
    """

    def __init__(self, start: Expression, prefix: str, names: tuple[str, ...]) -> None:
        self.start: Expression = start
        self.prefix: str = prefix
        self.names: tuple[str, ...] = names

    def extend(self, names: tuple[str, ...]) -> "Origin":
        """Return the origin of a value below this one."""
        return Origin(self.start, self.prefix, self.names + names)


class Value:
    """The expression of a value, and what is certain about the value.

    ``type`` is its Go type if that is known. ``nil``: it may be MISSING or None; ``null``: it may
    be None. ``from_pipeline``: None means no value, as at the end of a pipeline, and not a null.
    ``element``: it comes straight from a range. ``origin`` is set for values that were read by a
    chain of fields and may be absent.
    """

    def __init__(  # noqa: PLR0913 - facts by name
        self,
        expression: Expression,
        type: str = "any",  # noqa: A002 # Go's word
        *,
        nil: bool = True,
        null: bool = True,
        from_pipeline: bool = False,
        element: bool = False,
        origin: Origin | None = None,
    ) -> None:
        self.expression: Expression = expression
        self.type: str = type
        self.nil: bool = nil
        self.null: bool = null
        self.from_pipeline: bool = from_pipeline
        self.element: bool = element
        self.origin: Origin | None = origin

    def copy(self, expression: Expression | None = None) -> "Value":
        """Return a copy, of another expression."""
        return Value(
            expression or self.expression,
            self.type,
            nil=self.nil,
            null=self.null,
            from_pipeline=self.from_pipeline,
            element=self.element,
            origin=self.origin,
        )


def certain(expression: Expression, type_name: str = "any") -> Value:
    """Return a value that is not nil."""
    return Value(expression, type_name, nil=False, null=False)


class Scope:
    """The variables that are visible at some position; the expression of each is its slot."""

    def __init__(self, outer: "Scope | None" = None) -> None:
        self.variables: dict[str, Value] = {} if outer is None else outer.variables.copy()

    def declare(self, name: str, value: Value) -> None:
        """Add a variable; it hides another one of that name."""
        self.variables[name] = value

    def find(self, name: str) -> Value | None:
        """Return the variable of this name."""
        return self.variables.get(name)


def slot_of(variable: Value) -> int:
    """Return the slot of a variable."""
    return cast("Slot", variable.expression).index
