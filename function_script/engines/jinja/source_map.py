"""The source map of rendered text: the template's line behind every line of it.

When a text turns out to be wrong, its program is compiled and run once more with tracing: every
piece of text then carries its origins through macros, blocks and filters that keep lines.
"""

import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import NamedTuple

from jinja2 import nodes
from jinja2.compiler import Frame

from function_script.engines import foreign_syntax, leftovers
from function_script.engines.allowance import Allowance
from function_script.engines.jinja import deferral, exceptions, positions, programs, tokens
from function_script.engines.jinja.calls import Call
from function_script.engines.jinja.compiler import CodeGenerator
from function_script.engines.jinja.environment import Environment
from function_script.engines.jinja.filters import FILTERS
from function_script.engines.jinja.run import Run
from function_script.engines.recent import remembered
from function_script.request.limits import Limits
from function_script.request.program import Program, Scope
from function_script.texts.source import Piece, Source, Span, span_at

# Upper bounds of how much longer a traced program takes to compile and to run.
_COMPILE_STRETCH = 2.0
_RUN_STRETCH = 15.0
_STEPS_PER_CLOCK_READ = 100


class Origin(NamedTuple):
    """A line of a template; ``template`` is the number of the template in the program."""

    template: str
    line: int


class Traced(str):
    """Text with the origin of each of its lines; None where the origin was lost.

    ``writer`` is the template's part that wrote all of it: whether it is of the template itself,
    the number of the template, and the offset of the part, or of the first word of an expression.
    """

    __slots__ = ("origins", "writer")

    origins: tuple[Origin | None, ...]
    writer: tuple[bool, str, int] | None


def _traced(
    text: str, origins: Iterable[Origin | None], writer: tuple[bool, str, int] | None = None
) -> Traced:
    traced = Traced(text)
    traced.origins = tuple(origins)
    traced.writer = writer
    return traced


def trace_static(text: str, template: str, line: int, offset: int) -> Traced:
    """Trace text of the template itself that begins on this line."""
    origins = (Origin(template, line + n) for n in range(text.count("\n") + 1))
    return _traced(text, origins, (True, template, offset))


def trace_dynamic(text: str, template: str, line: int, offset: int) -> Traced:
    """Trace a value that this line wrote; lines that have an origin keep it."""
    here = Origin(template, line)
    origins = text.origins if isinstance(text, Traced) else [None] * (text.count("\n") + 1)
    return _traced(text, (origin or here for origin in origins), (False, template, offset))


def merge(pieces: Iterable[str]) -> Traced:
    """Join the pieces to one text.

    The origin of a line with several pieces is that of the first piece that is not blank, else that
    of the piece that ends the line.
    """
    texts: list[str] = []
    origins: list[Origin | None] = [None]
    is_blank = True
    for piece in pieces:
        texts.append(piece)
        lines = piece.split("\n")
        line_origins = piece.origins if isinstance(piece, Traced) else (None,) * len(lines)
        for number, (line, origin) in enumerate(zip(lines, line_origins, strict=True)):
            if number:
                origins.append(None)
                is_blank = True
            if is_blank:
                origins[-1] = origin or origins[-1]
            is_blank = is_blank and not line.strip()
    return _traced("".join(texts), origins)


def _trace_filter(apply: Call) -> Call:
    """Return a filter whose result has the origins of its input, if these lines are still in it."""

    def traced(run: Run, /, *arguments: object, **named: object) -> object:
        before, after = arguments[0], apply(run, *arguments, **named)
        if (
            not isinstance(before, Traced)
            or not isinstance(after, str)
            or isinstance(after, Traced)
        ):
            return after
        origins = before.origins
        added = after.count("\n") + 1 - len(origins)
        # Most filters keep the number of lines, or begin with line breaks of their own.
        if added >= 0 and after.startswith("\n" * added):
            return _traced(after, [origins[0]] * added + [*origins])
        start = before.find(after)
        if start < 0:
            return after
        first = before.count("\n", 0, start)
        return _traced(after, origins[first : first + after.count("\n") + 1])

    return traced


class _TracingCodeGenerator(CodeGenerator):
    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        self.writeline(f"from {__name__} import trace_dynamic, trace_static")
        self._text = self.environment.sources[str(self.name)].text
        super().visit_Template(node, frame)

    def write_data(self, node: nodes.TemplateData) -> None:
        self.write("trace_static(")
        super().write_data(node)
        self.write(f", {self._place(node, node.lineno)})")

    def start_value(self, frame: Frame, node: nodes.Node) -> None:
        self.start_write(frame, node)
        self.write("trace_dynamic(to_text(budget, ")

    def end_value(self, frame: Frame, node: nodes.Node) -> None:
        offset = self.bounds(node)[0] if isinstance(node, nodes.Expr) else -1
        self.write(f"), {self._place(node, offset)}")
        super().end_value(frame, node)

    def _place(self, node: nodes.Node, offset: int) -> str:
        return f"{self.name!r}, {tokens.line_at(self._text, node.lineno)}, {offset}"


_TRACING_FILTERS = {name: _trace_filter(apply) for name, apply in FILTERS.items()}


class _TracingBudget(deferral.DeferringBudget):
    """A budget that also ends a run when its CPU time is used up."""

    __slots__ = ("_deadline", "_next_clock_read")

    def __init__(self, limits: Limits, seconds: float) -> None:
        super().__init__(limits)
        self._deadline = time.thread_time() + seconds
        self._next_clock_read = 0

    def spend(self, steps: int) -> None:
        super().spend(steps)
        if self.used >= self._next_clock_read:
            self._next_clock_read = self.used + _STEPS_PER_CLOCK_READ
            if time.thread_time() > self._deadline:
                raise exceptions.BudgetError("the time to trace it is used up")

    def concat(self, parts: Iterable[str]) -> str:
        pieces = list(parts)
        # For its charge, and to refuse gaps: its text has no origins.
        super().concat(pieces)
        return merge(pieces)


def _pieces(chunks: Iterable[str], sources: Mapping[str, Source]) -> Iterator[Piece]:
    """Yield the pieces of a text, as far as they are written by the main text of a template."""
    environment = Environment()
    token_lists = {name: tokens.read(environment, each.text) for name, each in sources.items()}
    # A loop writes the same expressions in each turn.
    tags: dict[tuple[str, int], tuple[int, int, str]] = {}
    for chunk in chunks:
        # A text that lost its writer, as in a macro, has no place: any template will do.
        is_static, template, offset = getattr(chunk, "writer", None) or (True, "0", -1)
        tokens_of = token_lists[template]
        start, end, expression = offset, offset + len(chunk), None
        if offset >= 0 and not is_static:
            if (template, offset) not in tags:
                tags[template, offset] = _find_tag(tokens_of, offset)
            start, end, expression = tags[template, offset]
        yield Piece(
            text=chunk,
            source=tokens_of.text,
            start=start,
            end=end,
            locate=partial(span_at, sources[template]),
            expression=expression,
            filter_form="{}({})",
        )


def _find_tag(tokens_of: tokens.TokenList, offset: int) -> tuple[int, int, str]:
    """Return where the tag around an offset begins and ends, and the expression in it."""
    index = bisect_left(tokens_of.tokens, offset, key=attrgetter("offset"))
    first, last = (tokens_of.tokens[n] for n in tokens_of.tag(index))
    expression = tokens_of.text[first.end : last.offset].strip("-+ \t\n")
    return first.offset, last.offset + len(last.text.rstrip()), expression


# Several messages about one program are mostly made one after the other.
@remembered(4)
def _compile_traced(program: Program, _limits: Limits) -> programs.CompiledProgram:
    return programs.build(program, _TracingCodeGenerator, _TRACING_FILTERS)


class Costs(NamedTuple):
    """The CPU seconds that a program took, and the allowance for tracing it."""

    compile_seconds: float
    run_seconds: float
    allowance: Allowance


class LineLocator:
    """Locates the lines of one rendered text, within an allowance of CPU time."""

    def __init__(self, program: Program, scope: Scope, limits: Limits, costs: Costs) -> None:
        self._program = program
        self._scope = scope
        self._limits = limits
        self._costs = costs
        self._spans: list[Span | None] | None = None
        self._pieces: tuple[Piece, ...] = ()

    def locate(self, line: int) -> Span | None:
        """Return the template's line behind a line (1-based) of the text, or None."""
        if self._spans is None:
            try:
                self._spans = self._trace()
            except (exceptions.RenderError, exceptions.MissingError, RecursionError):
                self._spans = []
        return self._spans[line - 1] if 0 < line <= len(self._spans) else None

    def explain(self, line: int, text: str) -> tuple[Span, str] | None:
        """Return the place and a hint for a line of the text that is one of another language."""
        span = self.locate(line)
        # YAML has more ends of lines, so that there may be no such line.
        if span is None:
            return None
        rendered = text.split("\n")[line - 1]
        leftover = leftovers.of_line(rendered)
        hint = foreign_syntax.hint_of(rendered, foreign_syntax.IN_JINJA)
        hint = leftover.hint if hint is None and leftover is not None else hint
        return None if hint is None else (span, hint)

    def trace(self) -> Sequence[Piece]:
        """Return the pieces of the text, none if there is no time to find them."""
        self.locate(0)
        return self._pieces

    def _trace(self) -> list[Span | None]:
        costs = self._costs
        if costs.compile_seconds * _COMPILE_STRETCH > costs.allowance.left_seconds():
            return []
        program = _compile_traced(self._program, self._limits)
        seconds = costs.allowance.left_seconds()
        # A trace that does not end is worth nothing, and would cost the response its time.
        if costs.run_seconds * _RUN_STRETCH > seconds:
            return []
        run = Run(program.environment, self._scope, self._limits)
        run.budget = _TracingBudget(self._limits, seconds)
        run.is_replay = True
        spans: list[Span | None] = []
        sources = program.environment.sources
        # The program defers as it did before, and may have left gaps among the texts.
        everything: Iterator[str | deferral.Gap] = program.start(run)
        chunks = [each for each in everything if not isinstance(each, deferral.Gap)]
        self._pieces = tuple(_pieces(chunks, sources))
        for origin in merge(chunks).origins:
            if origin is None:
                spans.append(spans[-1] if spans else None)
            else:
                spans.append(positions.span_of_line(sources[origin.template], origin.line))
        return spans
