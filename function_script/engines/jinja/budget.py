"""How much one run of a template may do: steps, sizes, depth. Counted, so the same every time.

Every run has its own budget. Generated code and everything that templates call charge it before
they do what costs time or memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.engines.jinja.exceptions import BudgetError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from function_script.limits import Limits

MAX_CHARACTERS = 1 << 20
MAX_ITEMS = 100_000
MAX_BITS = 256
# Every integer below it has at most MAX_BITS bits.
MAX_INTEGER = 1 << MAX_BITS
# Work on text costs one step for so many characters, at least.
CHARACTERS_PER_STEP = 64


class Budget:
    """Counts what a run has used; raises BudgetError when it wants more than it may have."""

    __slots__ = ("allowed", "depth", "max_depth", "used")

    def __init__(self, limits: Limits) -> None:
        self.allowed = limits.steps
        self.max_depth = limits.depth
        self.used = 0
        self.depth = 0

    def spend(self, steps: int) -> None:
        """Charge for work; one step is about as much as one turn of a small loop."""
        self.used += steps
        if self.used > self.allowed:
            raise BudgetError(
                f"{self.used} steps used, the limit is {self.allowed}",
                hint="loops, calls and big values cost steps: let them do less",
                limit="steps",
            )

    def characters(self, count: int) -> None:
        """Charge for a text of this length that is about to be made."""
        if count > MAX_CHARACTERS:
            wanted = f"a text of {shown(count)} characters"
            raise BudgetError(f"{wanted}, the limit is {MAX_CHARACTERS}")
        self.spend(count // CHARACTERS_PER_STEP)

    def items(self, count: int) -> None:
        """Charge for a list or an object with so many items that is about to be made."""
        if count > MAX_ITEMS:
            raise BudgetError(f"a list of {shown(count)} items, the limit is {MAX_ITEMS}")
        self.spend(count)

    def concat(self, parts: Iterable[str]) -> str:
        """Join what a macro or a block wrote."""
        pieces = list(parts)
        self.characters(sum(map(len, pieces)))
        return "".join(pieces)

    def enter(self) -> None:
        """Begin a macro, a recursive loop or a parent block: they may nest only so deep."""
        self.depth += 1
        if self.depth > self.max_depth:
            raise BudgetError(
                f"calls are nested {self.depth} deep, the limit is {self.max_depth}",
                hint="does a macro call itself without an end?",
                limit="depth",
            )


def shown(count: int) -> str:
    """A wanted amount; a huge one is only estimated, as Python refuses to print such numbers."""
    return str(count) if count < MAX_INTEGER else f"more than 2**{MAX_BITS}"
