"""The frame of a running template, and the two kinds of operations.

Statements are a list, and a statement says how far to go from it. So blocks, long chains of else-if
and included templates take no stack, and expressions little.
"""

from typing import Final

from function_script.engines.gotemplate.errors import GoError, LimitExceededError
from function_script.engines.gotemplate.run import Run, Template
from function_script.engines.gotemplate.syntax.nodes import Site

# The slots of a template's data: as its first dot, and as its variable ``$``.
DOT: Final = 0
ROOT: Final = 1
FIRST_FREE: Final = 2


class Frame:
    """The state of one run of a template.

    ``values`` are its variables and intermediate values, by slot. ``site`` is that of the operation
    that runs: each operation that can fail sets it before.
    """

    def __init__(self, run: Run, data: object, slots: int) -> None:
        self.run: Run = run
        self.site: Site | None = None
        # In the order of DOT and ROOT.
        self.values: list[object] = [data, data] + [None] * slots


class Expression:
    """An operation that has a value."""

    def evaluate(self, frame: Frame) -> object:
        """Return the value; raises GoError and LimitExceededError."""
        raise NotImplementedError


class Statement:
    """An operation of a template's body."""

    def run(self, frame: Frame) -> int:
        """Run; return the distance to the statement that follows, 1 for the next one."""
        raise NotImplementedError


class Body(Template):
    """A compiled template: its statements, and the number of its slots beside the data."""

    def __init__(self, statements: list[Statement], slots: int) -> None:
        self.statements: list[Statement] = statements
        self.slots: int = slots

    def render(self, run: Run, data: object) -> None:
        """Run the statements."""
        frame = Frame(run, data, self.slots)
        statements = self.statements
        index, end = 0, len(statements)
        try:
            while index < end:
                index += statements[index].run(frame)
        except (GoError, LimitExceededError, RecursionError):
            record_site(frame)
            raise


def record_site(frame: Frame) -> None:
    """Record the place of an error that leaves a template."""
    if frame.site is not None:
        frame.run.sites.append(frame.site)
