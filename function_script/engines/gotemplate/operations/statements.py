"""Statements: text, printing, branches, loops, calls of templates."""

from collections.abc import Iterable, Iterator
from typing import cast

from function_script.engines.gotemplate import errors, runtime
from function_script.engines.gotemplate.operations.expressions import Origin
from function_script.engines.gotemplate.printing import NO_VALUE
from function_script.engines.gotemplate.run import MAX_NOTED, Expression, Frame, Statement
from function_script.engines.gotemplate.syntax.nodes import Site
from function_script.engines.gotemplate.values import MISSING


class Text(Statement):
    """Text between actions."""

    def __init__(self, text: str, site: Site) -> None:
        self.text: str = text
        self.site: Site = site

    def run(self, frame: Frame) -> int:
        """Write the text."""
        frame.run.write(self.text, self.site)
        return 1


class Print(Statement):
    """An action that prints its value.

    Go's text for no value is noted with the value's ``origin``. Without an origin no value gets
    here, and a null is printed as YAML writes it.
    """

    def __init__(self, value: Expression, site: Site, origin: Origin | None) -> None:
        self.value: Expression = value
        self.site: Site = site
        self.origin: Origin | None = origin

    def run(self, frame: Frame) -> int:
        """Write the value's text."""
        value = self.value.evaluate(frame)
        run = frame.run
        if type(value) is str:
            if "\n" in value:
                run.note_lines(value)
            run.write(value, self.site)
            return 1
        frame.site = self.site
        if value is not None and value is not MISSING:
            text = run.format_value(value)
        elif self.origin is None:
            text = "null"
        else:
            text = NO_VALUE
            if len(run.gaps) < MAX_NOTED:
                error = self.origin.explain(frame)
                run.gaps.append((len(run.main_parts), error, self.site))
        run.write(text, self.site)
        return 1


class Evaluate(Statement):
    """An expression that is evaluated for what it does: a store, or a failure."""

    def __init__(self, value: Expression) -> None:
        self.value: Expression = value

    def run(self, frame: Frame) -> int:
        """Evaluate."""
        self.value.evaluate(frame)
        return 1


# Ways through a body


class Jump(Statement):
    """A jump; the compiler sets ``distance`` when it knows the target."""

    def __init__(self, distance: int = 0) -> None:
        self.distance: int = distance

    def run(self, frame: Frame) -> int:  # noqa: ARG002 - of no use here
        """Jump."""
        return self.distance


class JumpUnless(Jump):
    """A jump for a false condition."""

    def __init__(self, condition: Expression, site: Site) -> None:
        super().__init__()
        self.condition: Expression = condition
        self.site: Site = site

    def run(self, frame: Frame) -> int:
        """Jump, or go on."""
        value = self.condition.evaluate(frame)
        frame.site = self.site
        # The truth of poison is an error, too, so the site is set before.
        return 1 if value else self.distance


# Loops


class Elements(Expression):
    """The elements that a range iterates over; ``has_keys``: with their keys.

    ``refuses_null``: a null is nothing to iterate over.
    """

    def __init__(
        self, value: Expression, site: Site, *, has_keys: bool, refuses_null: bool
    ) -> None:
        self.value: Expression = value
        self.site: Site = site
        self.has_keys: bool = has_keys
        self.refuses_null: bool = refuses_null

    def evaluate(self, frame: Frame) -> object:
        """Return the elements."""
        value = self.value.evaluate(frame)
        frame.site = self.site
        if self.refuses_null and value is None:
            # An empty loop would lose objects.
            raise errors.EvalError("range can't iterate over null", errors.Code.NULL_TO_RANGE)
        return runtime.pairs(value) if self.has_keys else runtime.elements(value)


class StartLoop(Statement):
    """The start of a loop over the elements in a slot, which gets their iterator."""

    def __init__(self, slot: int, items: Expression) -> None:
        self.slot: int = slot
        self.items: Expression = items

    def run(self, frame: Frame) -> int:
        """Store the iterator."""
        items = cast("Iterable[object]", self.items.evaluate(frame))
        frame.values[self.slot] = iter(items)
        return 1


class NextItem(Jump):
    """The start of a turn: the next element becomes the dot, or the loop ends.

    ``key`` is the slot of the element's key; it is negative where the elements have none. A turn
    costs a step, and one for each text, action, branch and call of the loop's body.
    """

    def __init__(self, loop: int, element: int, site: Site, key: int = -1) -> None:
        super().__init__()
        self.loop: int = loop
        self.element: int = element
        self.site: Site = site
        self.key: int = key
        self.cost: int = 0

    def run(self, frame: Frame) -> int:
        """Store the element, or jump behind the loop."""
        # One item a run: the jump at the end of the body comes back here for the next one.
        for item in cast("Iterator[object]", frame.values[self.loop]):
            frame.site = self.site
            frame.run.spend(self.cost)
            if self.key >= 0:
                frame.values[self.key], frame.values[self.element] = cast(
                    "tuple[object, object]", item
                )
            else:
                frame.values[self.element] = item
            return 1
        return self.distance


# Templates


class CallTemplate(Statement):
    """``template``: another template, into the same text."""

    def __init__(self, name: str, data: Expression, site: Site) -> None:
        self.name: str = name
        self.data: Expression = data
        self.site: Site = site

    def run(self, frame: Frame) -> int:
        """Render it."""
        data = self.data.evaluate(frame)
        frame.site = self.site
        run = frame.run
        run.enter(self.name)
        run.templates[self.name].render(run, data)
        # Not in a finally: no handler goes on behind this statement, so an error ends the run or an
        # include, which restores the depth.
        run.leave()
        return 1
