"""The state of one run of a template: its budget, its data, imported modules, and the log.

The budget counts steps, sizes and depth deterministically. Generated code and everything that
templates call charge it before they spend time or memory.
"""

import sys
from collections.abc import Iterable

from jinja2 import Environment
from jinja2.environment import TemplateModule

from function_script.engines.jinja.exceptions import BudgetError
from function_script.request.limits import Limits
from function_script.request.program import Scope

MAX_CHARACTERS = 1 << 20
MAX_ITEMS = 100_000
MAX_BITS = 256
# Every integer below it has at most MAX_BITS bits.
MAX_INTEGER = 1 << MAX_BITS
# Work on text costs at least one step per this many characters.
CHARACTERS_PER_STEP = 64
_MAX_NOTED = 100
_MAX_LOG_BYTES = 64 * 1024


class Budget:
    """Counts what a run has used; raises BudgetError when a limit is exceeded."""

    __slots__ = ("depth", "lines", "max_depth", "max_steps", "outdents", "used")

    def __init__(self, limits: Limits) -> None:
        self.max_steps = limits.steps
        self.max_depth = limits.depth
        self.used = 0
        self.depth = 0
        # The first printed values of several lines, and where those begin and end in the whole text
        # that are less indented than their place.
        self.lines: list[str] = []
        self.outdents: list[tuple[int, int]] = []

    def spend(self, steps: int) -> None:
        """Charge for work; one step costs about as much as one iteration of a small loop."""
        self.used += steps
        if self.used > self.max_steps:
            raise BudgetError(
                f"{self.used} steps used, the limit is {self.max_steps}",
                hint="loops, calls and big values cost steps: let them do less",
                limit="steps",
            )

    def note_lines(self, value: str) -> None:
        """Note a printed value of several lines."""
        if len(self.lines) < _MAX_NOTED:
            self.lines.append(value)

    def charge_characters(self, count: int) -> None:
        """Charge for a text of ``count`` characters that is about to be built."""
        if count > MAX_CHARACTERS:
            size = f"a text of {format_amount(count)} characters"
            raise BudgetError(f"{size}, the limit is {MAX_CHARACTERS}")
        self.spend(count // CHARACTERS_PER_STEP)

    def charge_items(self, count: int) -> None:
        """Charge for a list or an object of ``count`` items that is about to be built."""
        if count > MAX_ITEMS:
            size = f"a list of {format_amount(count)} items"
            raise BudgetError(f"{size}, the limit is {MAX_ITEMS}")
        self.spend(count)

    def concat(self, parts: Iterable[str]) -> str:
        """Join the output of a macro or a block; generated code calls it by Jinja's name."""
        pieces = list(parts)
        self.charge_characters(sum(map(len, pieces)))
        return "".join(pieces)

    def enter(self) -> None:
        """Begin a macro, a recursive loop or a parent block; raise BudgetError if too deep."""
        self.depth += 1
        if self.depth > self.max_depth:
            raise BudgetError(
                f"calls are nested {self.depth} deep, the limit is {self.max_depth}",
                hint="does a macro call itself without an end?",
                limit="depth",
            )


class Run:
    """One run of a program: the first argument of the functions, filters and tests that it calls.

    ``variables`` is what every template of the program can name. ``is_replay``: the text is
    rendered again only to map its lines to the source, so nothing may be logged twice.
    """

    __slots__ = (
        "_logged_bytes",
        "budget",
        "environment",
        "is_replay",
        "modules",
        "scope",
        "variables",
    )

    def __init__(self, environment: Environment, scope: Scope, limits: Limits) -> None:
        self.environment = environment
        self.scope = scope
        self.budget = Budget(limits)
        self.variables: dict[str, object] = {}
        self.modules: dict[str, TemplateModule] = {}
        self.is_replay = False
        self._logged_bytes = 0

    def close(self) -> None:
        """Drop the data: contexts refer to their run, so the cycle would keep it alive."""
        self.variables.clear()
        self.modules.clear()

    def log(self, line: str) -> None:
        """Write one line to stderr, until the run's share of the log is used up."""
        if not self.is_replay:
            # The kernel counts bytes: one more than its limit would fail the run.
            data = line.replace("\n", "\\n").encode("utf-8", "replace") + b"\n"
            part = data[: _MAX_LOG_BYTES - self._logged_bytes]
            self._logged_bytes += len(part)
            sys.stderr.write(part.decode("utf-8", "ignore"))


def format_amount(count: int) -> str:
    """Format an amount; Python refuses to print very long integers, so those are estimated."""
    return str(count) if count < MAX_INTEGER else f"more than 2**{MAX_BITS}"
