"""Which line of the template wrote a line of the text: found by rendering once more, with marks.

Called only when the text turned out to be wrong. In this second run every piece of text knows
the lines it comes from, through macros, blocks and filters that keep lines together.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from function_script.cache import ByteLruCache
from function_script.engines.jinja import programs
from function_script.engines.jinja.budget import Budget
from function_script.engines.jinja.codegen import CodeGenerator
from function_script.engines.jinja.deferring import (
    DeferringCodeGenerator,
    refuse_gaps,
    without_gaps,
)
from function_script.engines.jinja.environment import Environment
from function_script.engines.jinja.exceptions import (
    BudgetError,
    MissingError,
    RenderError,
)
from function_script.engines.jinja.filters import FILTERS
from function_script.engines.jinja.positions import whole_line
from function_script.engines.jinja.rendering import begin
from function_script.engines.jinja.run import Run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jinja2 import nodes
    from jinja2.compiler import Frame

    from function_script.engines.allowance import Allowance
    from function_script.engines.jinja.calls import Call
    from function_script.engines.jinja.programs import Compiled
    from function_script.limits import Limits
    from function_script.program import Program, Scope
    from function_script.source import Span

# How much longer compiling and running take for a program that is traced, at most.
_COMPILE_STRETCH = 2.0
_RUN_STRETCH = 15.0
_STEPS_UNOBSERVED = 100
_MAX_PROGRAMS = 8
_MAX_CHARACTERS = 512 * 1024


class Origin(NamedTuple):
    """A line of a template; ``template`` is its number in the program."""

    template: str
    line: int


class Traced(str):
    """Text that knows where each of its lines comes from; None where that was lost."""

    __slots__ = ("origins",)

    origins: tuple[Origin | None, ...]


def _traced(text: str, origins: Iterable[Origin | None]) -> Traced:
    made = Traced(text)
    made.origins = tuple(origins)
    return made


def static(text: str, template: str, line: int) -> Traced:
    """Text of the template itself, which begins on this line."""
    return _traced(text, (Origin(template, line + n) for n in range(text.count("\n") + 1)))


def dynamic(text: str, template: str, line: int) -> Traced:
    """A value that was written by this line, unless it knows better."""
    here = Origin(template, line)
    known = text.origins if isinstance(text, Traced) else [None] * (text.count("\n") + 1)
    return _traced(text, (origin or here for origin in known))


def merge(pieces: Iterable[str]) -> Traced:
    """The pieces as one text.

    A line of several pieces comes from the first that is not blank, else from that which ends it.
    """
    texts: list[str] = []
    origins: list[Origin | None] = [None]
    is_blank = True
    for piece in pieces:
        texts.append(piece)
        lines = piece.split("\n")
        known = piece.origins if isinstance(piece, Traced) else (None,) * len(lines)
        for number, (line, origin) in enumerate(zip(lines, known, strict=True)):
            if number:
                origins.append(None)
                is_blank = True
            if is_blank:
                origins[-1] = origin or origins[-1]
            is_blank = is_blank and not line.strip()
    return _traced("".join(texts), origins)


def _keep(before: object, after: object) -> object:
    """What a filter gave, with the origins of what was filtered if its lines are still there."""
    if not isinstance(before, Traced) or not isinstance(after, str) or isinstance(after, Traced):
        return after
    origins = before.origins
    added = after.count("\n") + 1 - len(origins)
    if added >= 0 and after.startswith("\n" * added):
        return _traced(after, [origins[0]] * added + [*origins])
    start = before.find(after)
    if start < 0:
        return after
    first = before.count("\n", 0, start)
    return _traced(after, origins[first : first + after.count("\n") + 1])


def _keeping(apply: Call) -> Call:
    def kept(run: Run, /, *arguments: object, **named: object) -> object:
        return _keep(arguments[0], apply(run, *arguments, **named))

    return kept


class _TracingCodeGenerator(CodeGenerator):
    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        self.writeline(f"from {__name__} import dynamic, static")
        super().visit_Template(node, frame)

    def write_data(self, node: nodes.TemplateData) -> None:
        self.write("static(")
        super().write_data(node)
        self.write(f", {self.name!r}, {node.lineno})")

    def start_value(self, frame: Frame, node: nodes.Node) -> None:
        self.start_write(frame, node)
        self.write("dynamic(text(budget, ")

    def end_value(self, frame: Frame, node: nodes.Node) -> None:
        self.write(f"), {self.name!r}, {node.lineno}")
        super().end_value(frame, node)


class _DeferringTracingCodeGenerator(DeferringCodeGenerator, _TracingCodeGenerator):
    pass


class _TracingEnvironment(Environment):
    code_generator_class = _TracingCodeGenerator
    deferring_class = _DeferringTracingCodeGenerator

    def __init__(self, *, is_strict: bool, defers: bool) -> None:
        super().__init__(is_strict=is_strict, defers=defers)
        self.filters = {name: _keeping(apply) for name, apply in FILTERS.items()}


class _TracingBudget(Budget):
    """Ends a run that is traced when its CPU time is used up, too."""

    __slots__ = ("_end", "_look_at")

    def __init__(self, limits: Limits, seconds: float) -> None:
        super().__init__(limits)
        self._end = time.thread_time() + seconds
        self._look_at = 0

    def spend(self, steps: int) -> None:
        super().spend(steps)
        if self.used >= self._look_at:
            self._look_at = self.used + _STEPS_UNOBSERVED
            if time.thread_time() > self._end:
                raise BudgetError("the time to trace it is used up")

    def concat(self, parts: Iterable[str]) -> str:
        pieces = list(parts)
        refuse_gaps(pieces)
        super().concat(pieces)
        return merge(pieces)


_programs: ByteLruCache[tuple[object, ...], Compiled] = ByteLruCache(
    _MAX_CHARACTERS, max_entries=_MAX_PROGRAMS
)


class Costs(NamedTuple):
    """The CPU seconds that a program took, and the allowance for tracing it."""

    compile_seconds: float
    run_seconds: float
    allowance: Allowance


class Tracer:
    """Locates the lines of one rendered text, if it may take so long."""

    def __init__(self, program: Program, scope: Scope, limits: Limits, costs: Costs) -> None:
        self._program = program
        self._scope = scope
        self._limits = limits
        self._costs = costs
        self._spans: list[Span | None] | None = None

    def locate(self, line: int) -> Span | None:
        """The template's line that wrote the text's line (1-based); None if nobody knows."""
        if self._spans is None:
            try:
                self._spans = self._trace()
            except (RenderError, MissingError, RecursionError):
                self._spans = []
        return self._spans[line - 1] if 0 < line <= len(self._spans) else None

    def _trace(self) -> list[Span | None]:
        program = self._load()
        seconds = self._costs.allowance.left_seconds()
        if program is None or self._costs.run_seconds * _RUN_STRETCH > seconds:
            return []
        run = Run(program.environment, self._scope, self._limits)
        run.budget = _TracingBudget(self._limits, seconds)
        run.is_rehearsal = True
        spans: list[Span | None] = []
        sources = program.environment.sources
        for origin in merge(without_gaps(begin(program, run))).origins:
            if origin is None:
                spans.append(spans[-1] if spans else None)
            else:
                spans.append(whole_line(sources[origin.template], origin.line))
        return spans

    def _load(self) -> Compiled | None:
        """The program compiled for tracing; None when compiling it anew would take too long."""
        key = programs.key_of(self._program)
        program = _programs.get(key)
        if program is not None:
            return program
        if self._costs.compile_seconds * _COMPILE_STRETCH > self._costs.allowance.left_seconds():
            return None
        environment = _TracingEnvironment(
            is_strict=programs.is_strict(self._program), defers=programs.defers(self._program)
        )
        program = programs.build(self._program, environment)
        _programs.put(key, program, programs.count_characters(key))
        return program
