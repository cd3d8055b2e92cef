"""One run of compiled templates: the frame of each, the limits, the output, random numbers.

Every evaluation makes a new run; operations and functions get it. Statements are a list, and a
statement says how far to go from it. So blocks, long chains of else-if and included templates take
no stack, and expressions little.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from typing import Final, NoReturn, TypeAlias

from function_script.engines.gotemplate import printing
from function_script.engines.gotemplate.errors import (
    CallError,
    Code,
    EvalError,
    FieldError,
    GoError,
    LimitExceededError,
    NoValueError,
)
from function_script.engines.gotemplate.syntax.nodes import Site
from function_script.engines.gotemplate.values import POISON, Int
from function_script.engines.outdents import is_outdented
from function_script.request.limits import Limits

# Go's name of the unnamed template, in positions and in messages.
MAIN: Final = "manifests"
MAX_CHARACTERS: Final = 1 << 20
MAX_ITEMS: Final = 100_000
MAX_WIDTH: Final = 1000
MAX_TEMPLATE_DEPTH: Final = 200
# The stack has room for more: 200 templates, each in parentheses with a few stages.
_MAX_LEVELS: Final = 1_000
# A result takes memory, so it costs a step for so many characters or items.
_CHARACTERS_PER_STEP: Final = 64
_ITEMS_PER_STEP: Final = 2
# Steps between two checks of the clock, parts of output between two sums of their lengths.
_STEPS_UNOBSERVED: Final = 32
_PARTS_UNCOUNTED: Final = 512
# A search for the lines of notes takes time, and a few warnings are enough.
MAX_NOTED: Final = 20
# Rendering may use this share of a step's time; the rest is for reading its result.
_TIME_SHARE: Final = 0.75
# The slots of a template's data: as its first dot, and as its variable ``$``.
DOT: Final = 0
ROOT: Final = 1
FIRST_FREE: Final = 2
# Kinds of FieldError that mean a missing value.
_MISSING_KINDS: Final = frozenset({"null", "absent", "map"})


def _is_plain_list(value: object) -> bool:
    """Report whether Go prints a list of several values that YAML reads as one text."""
    if not isinstance(value, list) or len(value) < 2:  # noqa: PLR2004 - one value is right in YAML
        return False
    return not any(isinstance(item, (dict, list)) or str(item).endswith(",") for item in value)


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


class Handler:
    """The way on after an action failed, whose statements are those from ``start`` to ``end``.

    ``poisoned`` are the slots of the variables that it declares or assigns; None: it prints.
    """

    def __init__(self, start: int, end: int, poisoned: list[int] | None, *, mutates: bool) -> None:
        self.start: int = start
        self.end: int = end
        self.poisoned: list[int] | None = poisoned
        self.mutates: bool = mutates

    def recover(self, frame: Frame, error: GoError) -> int:
        """Leave a gap or poison; return the statement behind the action."""
        run = frame.run
        # A part of the change may be done, and what follows would see it.
        if self.mutates:
            _fail_without_gap(error)
        # Only a missing value may come later.
        if isinstance(error, FieldError) and error.kind not in _MISSING_KINDS:
            raise error
        if self.poisoned is not None:
            for slot in self.poisoned:
                frame.values[slot] = POISON
        else:
            # The innermost place: a template that was called recorded it before it ended.
            site = run.sites[0] if run.sites else frame.site
            # Only the main text has gaps.
            if site is None or run.capture_depth:
                raise error
            run.gaps.append((len(run.parts), error, site))
        run.sites.clear()
        return self.end


def _fail_without_gap(error: GoError) -> NoReturn:
    """Raise the error in a form that leaves no gap."""
    raise EvalError(error.text, error.code, error.subject) from error


class Body:
    """A compiled template: its statements, and the number of its slots beside the data.

    ``handlers`` are those of its actions that leave gaps. ``is_whole``: one of several documents
    has no gaps.
    """

    def __init__(
        self, statements: list[Statement], slots: int, handlers: list[Handler], *, is_whole: bool
    ) -> None:
        self.statements: list[Statement] = statements
        self.slots: int = slots
        self.handlers: list[Handler] = handlers
        self.is_whole: bool = is_whole

    def render(self, run: Run, data: object) -> None:
        """Run the statements; after a failure, go on behind the action where it leaves a gap."""
        frame = Frame(run, data, self.slots)
        statements = self.statements
        index, end = 0, len(statements)
        try:
            # Behind a failure, the outer loop goes on with the statement that a handler names.
            while index < end:
                try:
                    while index < end:
                        index += statements[index].run(frame)
                except (NoValueError, FieldError) as error:
                    for handler in self.handlers:
                        if handler.start <= index < handler.end:
                            index = handler.recover(frame, error)
                            break
                    else:
                        raise
        except (GoError, LimitExceededError, RecursionError) as error:
            # The place of an error that leaves the template.
            if frame.site is not None:
                run.sites.append(frame.site)
            if self.is_whole and isinstance(error, (NoValueError, FieldError)):
                _fail_without_gap(error)
            raise


# A text that is being written: its parts, those counted, the length of the output, and the depths
# of templates and of expressions.
Capture: TypeAlias = tuple[list[str], int, int, int, int]


class Run:
    """The budget of a run, and the state that its templates share."""

    def __init__(
        self,
        templates: dict[str, Body],
        limits: Limits,
        seed: str,
        *,
        is_salted: bool = False,
        mutates: bool = False,
    ) -> None:
        self.templates = templates
        self.mutates = mutates
        # The main template's data, for functions that imply it.
        self.root: object = None
        # Set by tests: every random number is then 0.
        self.is_random_zero = False
        self._limits = limits
        self.seed = seed
        self.is_salted = is_salted
        self.random_counts: dict[str, int] = {}
        self.random_texts: list[str] = []
        self._steps = limits.steps
        self._next_check = limits.steps - _STEPS_UNOBSERVED
        # CPU time of this thread, which does not run on while other processes have the core.
        self._deadline = time.thread_time() + limits.timeout_seconds * _TIME_SHARE
        self._depth = 0
        # The depth of the expressions around the templates that run, each in another one.
        self._levels = 0
        # Number of captures around the running code: their text goes into a value.
        self.capture_depth = 0
        # The sites of the error that ends the run, or a part of it, the innermost first.
        self.sites: list[Site] = []
        # The gaps of the main text, or Go's texts for no value: the number of the part behind it or
        # with it, its error and its place.
        self.gaps: list[tuple[int, GoError, Site]] = []
        # The number of captures around each part, and its site, where they are recorded.
        self.part_sites: list[tuple[int, Site]] | None = None
        # The numbers of the first parts of the main text that are lists as Go prints them.
        self.printed_lists: list[int] = []
        # The numbers of the first parts of the main text that are values of several lines with
        # less indentation than their place has.
        self.outdents: list[int] = []
        # The parts of the text being written, the number of those counted, and their length.
        self.parts: list[str] = []
        self.main_parts = self.parts
        self._counted_parts = 0
        self._output_characters = 0

    # Rendering

    def render(self, data: object, parts: list[str]) -> None:
        """Run the main template, adding its text to ``parts`` part by part."""
        self.parts = self.main_parts = parts
        self.root = data
        self.templates[MAIN].render(self, data)
        self._count_output()

    def trace(self, data: object) -> list[tuple[str, Site]]:
        """Run the main template; return the parts of its text with the site of each."""
        parts: list[str] = []
        recorded: list[tuple[int, Site]] = []
        self.part_sites = recorded
        self.render(data, parts)
        sites = [site for captures, site in recorded if captures == 0]
        return list(zip(parts, sites, strict=True))

    def write(self, text: str, site: Site) -> None:
        """Add a part to the text that is being written."""
        self.parts.append(text)
        if self.part_sites is not None:
            self.part_sites.append((self.capture_depth, site))

    def note_lines(self, value: str) -> None:
        """Note a value of several lines that is about to be written, if it is not indented."""
        if self.capture_depth or len(self.outdents) == MAX_NOTED:
            return
        if is_outdented(self.parts, len(self.parts), value):
            self.outdents.append(len(self.parts))

    def begin_include(self, name: str, levels: int) -> Capture:
        """Begin to write the text of a template into a value; return the text being written.

        ``levels`` is the depth of the expression that has the value.
        """
        if name not in self.templates:
            associated = f'associated with template "{MAIN}"'
            text = f"template: no template {printing.quote(name)} {associated}"
            raise CallError(text, Code.TEMPLATE_UNKNOWN, name)
        # It raises the depth, which `outer` has as it was: an error does not come to `leave`.
        self.enter(name)
        if self._levels + levels > _MAX_LEVELS:
            raise LimitExceededError(
                f"parentheses and stages around templates are nested {self._levels + levels} deep,"
                f" the limit is {_MAX_LEVELS}"
            )
        outer = (
            self.parts,
            self._counted_parts,
            self._output_characters,
            self._depth - 1,
            self._levels,
        )
        self.parts, self._counted_parts = [], 0
        self.capture_depth += 1
        self._levels += levels
        return outer

    def end_include(self, outer: Capture) -> None:
        """Go on with the text that was being written."""
        self.parts, self._counted_parts, self._output_characters, self._depth, self._levels = outer
        self.capture_depth -= 1

    def enter(self, name: str) -> None:
        """Charge for a template that is about to run in another one."""
        self._depth += 1
        if self._depth > MAX_TEMPLATE_DEPTH:
            raise LimitExceededError(
                f"templates are nested {self._depth} deep, the limit is {MAX_TEMPLATE_DEPTH}",
                hint=f'does the template "{name}" use itself without an end?',
            )
        self.spend(1)

    def leave(self) -> None:
        """Note that this template ended."""
        self._depth -= 1

    def format_value(self, value: object) -> str:
        """Return the text that an action prints for a value other than a string."""
        if type(value) is int or type(value) is Int:
            return int.__repr__(value)
        if type(value) is bool:
            return "true" if value else "false"
        if isinstance(value, (dict, list, bytes)):
            # Before printing, which has no bound: a map may hold itself.
            self.check_tree(value)
            is_noted = not self.capture_depth and len(self.printed_lists) < MAX_NOTED
            if is_noted and _is_plain_list(value):
                self.printed_lists.append(len(self.parts))
        return printing.to_text(value)

    # Budget

    def spend(self, steps: int) -> None:
        """Charge for work: one step is about one iteration of a small loop."""
        self._steps -= steps
        if self._steps < self._next_check:
            self._check_budget()

    def measure(self, value: object) -> None:
        """Charge for the size of ``value``, a function's result."""
        if isinstance(value, str):
            self.check_string(len(value))
        elif isinstance(value, (list, bytes)):
            self.check_list(len(value))
        elif isinstance(value, dict) and len(value) > MAX_ITEMS:
            raise LimitExceededError(f"a map of {len(value)} entries, the limit is {MAX_ITEMS}")

    def check_string(self, characters: int) -> None:
        """Charge for a string that is about to be built."""
        if characters > MAX_CHARACTERS:
            raise LimitExceededError(
                f"a string of {characters} characters, the limit is {MAX_CHARACTERS}"
            )
        if characters > _CHARACTERS_PER_STEP:
            self.spend(characters // _CHARACTERS_PER_STEP)

    def check_list(self, items: int) -> None:
        """Charge for a list that is about to be built."""
        if items > MAX_ITEMS:
            raise LimitExceededError(f"a list of {items} items, the limit is {MAX_ITEMS}")
        self.spend(items // _ITEMS_PER_STEP)

    def check_width(self, characters: int) -> None:
        """Refuse excessive padding."""
        if characters > MAX_WIDTH:
            raise LimitExceededError(
                f"padding of {characters} characters, the limit is {MAX_WIDTH}"
            )

    def check_tree(self, value: object, width: int = 0) -> bool:
        """Charge for a value that is about to be written as text, its items this wide at least.

        Returns whether it is plain: texts, whole numbers, booleans and nulls in dicts and lists.
        """
        measure = _TextSize(self._limits)
        measure.add(value, self._limits.depth)
        self.check_string(measure.characters + measure.nodes * width)
        return measure.plain

    def _check_budget(self) -> None:
        self._next_check = self._steps - _STEPS_UNOBSERVED
        if self._steps < 0:
            raise LimitExceededError(
                f"more than {self._limits.steps} steps, which is the limit",
                hint="loops, templates and large values cost steps: let them do less",
                limit="steps",
            )
        if time.thread_time() > self._deadline:
            seconds = self._limits.timeout_seconds
            raise LimitExceededError(
                f"rendering needs more CPU time than its share of the limit of {seconds:g} s",
                limit="time",
            )
        if len(self.parts) - self._counted_parts > _PARTS_UNCOUNTED:
            self._count_output()

    def _count_output(self) -> None:
        """Add the parts written since the last check; refuse more text than a step may render."""
        counted, self._counted_parts = self._counted_parts, len(self.parts)
        self._output_characters += sum(map(len, self.parts[counted:]))
        count, limit = self._output_characters, self._limits.output_bytes
        if count > limit:
            raise LimitExceededError(
                f"output of {count} characters, the limit is {limit}", limit="output"
            )


class RandomNumbers:
    """Random numbers of the call at ``site``, the same in every run of one XR."""

    def __init__(self, run: Run, site: str) -> None:
        self._run = run
        self._site = site

    def __call__(self, bound: int) -> int:
        """Return the next number in [0, bound)."""
        run, site = self._run, self._site
        run.spend(1)
        if run.is_random_zero:
            return 0
        count = run.random_counts[site] = run.random_counts.get(site, 0) + 1
        draw = f"{site}\0{count}"
        if run.is_salted:
            digest = hmac.digest(run.seed.encode(), draw.encode(), "sha256")
        else:
            digest = hashlib.sha256(f"{run.seed}\0{draw}".encode()).digest()
        # Of 256 bits, the remainder is as good as even.
        return int.from_bytes(digest) % bound

    def keep(self, text: str) -> str:
        """Record a text that was made of the numbers."""
        self._run.random_texts.append(text)
        return text


class _TextSize:
    """The size of a value's text; a part that occurs twice counts twice."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.nodes = 0
        self.characters = 0
        self.plain = True

    def add(self, value: object, depth: int) -> None:
        kind = type(value)
        if isinstance(value, str):
            self.characters += len(value)
        elif kind in _PLAIN_SCALARS:
            self.characters += 1
        elif isinstance(value, dict):
            self.plain = self.plain and kind is dict
            self.enter(len(value), depth)
            for key, item in value.items():
                self.characters += len(key) if isinstance(key, str) else 8
                self.add(item, depth - 1)
        elif isinstance(value, list):
            self.plain = self.plain and kind is list
            self.enter(len(value), depth)
            for item in value:
                self.add(item, depth - 1)
        else:
            self.plain = False

    def enter(self, items: int, depth: int) -> None:
        if depth <= 0:
            raise LimitExceededError(
                f"a value nested more than {self.limits.depth} deep, which is the limit",
                hint="does it contain itself?",
                limit="depth",
            )
        self.nodes += items
        # Each item has a separator.
        self.characters += items
        if self.nodes > self.limits.nodes:
            raise LimitExceededError(
                f"a value of more than {self.limits.nodes} nodes, which is the limit",
                limit="nodes",
            )


_PLAIN_SCALARS: Final = frozenset({int, bool, type(None), Int})
