"""The GoTemplate language: Go's text/template with sprig, compiled to Python functions.

Raises only FatalError.
"""

import re
from dataclasses import replace
from typing import Final, NamedTuple

from function_script.cache import IdentityCache
from function_script.diagnostics import Diagnostic
from function_script.engines import leftovers
from function_script.engines.allowance import Allowance
from function_script.engines.gotemplate import diagnostics, positions, programs, source_map
from function_script.engines.gotemplate.data import LazyDict, template_data
from function_script.engines.gotemplate.errors import GoError, LimitExceededError
from function_script.engines.gotemplate.run import Run
from function_script.errors import LimitError, ProgramError
from function_script.limits import Limits
from function_script.program import Program, Scope, TemplateResult
from function_script.source import Span

# Programs with many modules are in it, too: few, so that it holds little that others do not hold.
_MAX_RECENT: Final = 8


class _Recent(NamedTuple):
    """A program that was evaluated before, with the limits that it keeps."""

    limits: Limits
    parts: tuple[positions.SourcePart, ...]
    loaded: programs.LoadedProgram


_recent: Final[IdentityCache[Program, _Recent]] = IdentityCache(_MAX_RECENT)
_JINJA_TAG: Final = re.compile(r"\{%-? *(?:if|for|set|elif|else|macro|include|import|end\w+)\b")


def evaluate(program: Program, scope: Scope, limits: Limits) -> TemplateResult:
    """Render a program's main template with the request; raises FatalError."""
    allowance = Allowance(limits)
    recent = _recent.get(program)
    if recent is None or recent.limits is not limits:
        _check_size(program, limits)
        parts = positions.read_source_parts(program.options)
        recent = _Recent(limits, parts, _load(program, parts))
        _recent.put(program, recent)
    parts, loaded = recent.parts, recent.loaded
    pieces: list[str] = []
    start_seconds = allowance.used_seconds()
    run = Run(loaded.program, limits, scope.seed, is_salted=scope.is_salted)
    try:
        run.render(_data(program, scope, loaded), pieces)
    except (GoError, LimitExceededError, RecursionError) as error:
        raise diagnostics.run_problem(error, loaded, parts) from error

    if not scope.is_salted:
        scope.random_texts.extend(run.random_texts)
    run_seconds = allowance.used_seconds() - start_seconds

    traces: list[source_map.Trace] = []

    def trace() -> source_map.Trace:
        seconds = allowance.left_seconds()
        if run_seconds * source_map.STRETCH > seconds:
            return []
        remaining = replace(limits, timeout_seconds=seconds)
        rerun = Run(loaded.program, remaining, scope.seed, is_salted=scope.is_salted)
        return source_map.trace(rerun, _data(program, scope, loaded))

    def locate(line: int) -> Span | None:
        if not traces:
            traces.append(trace())
        return source_map.find_origin(line, traces[0], loaded, parts)

    def explain(line: int) -> tuple[Span, str] | None:
        lines = text.split("\n")
        line_text = lines[line - 1] if 0 < line <= len(lines) else ""
        leftover = leftovers.of_line(line_text)
        hint = leftover.hint if leftover is not None else None
        if _JINJA_TAG.search(line_text):
            hint = "this is a tag of Jinja: write {{ if … }}, {{ range … }} or {{ $x := … }}"
        span = None if hint is None else locate(line)
        return None if hint is None or span is None else (span, hint)

    gaps = tuple(diagnostics.list_missing(run, pieces, loaded, parts))
    text = programs.to_output(pieces)
    return TemplateResult(text=text, gaps=gaps, locate=locate, explain=explain)


def check(program: Program, limits: Limits) -> None:
    """Compile a program; raises ProgramError with all that is certain to fail."""
    _check_size(program, limits)
    parts = positions.read_source_parts(program.options)
    loaded = _load(program, parts)
    problems: list[Diagnostic] = []
    undefined: set[str] = set()
    corrections: set[tuple[int, str]] = set()
    for site, text in loaded.program.failures:
        # A variable that is undefined once fails wherever it is read.
        if text in undefined:
            continue
        if text.startswith("undefined variable"):
            undefined.add(text)
        problem = diagnostics.site_problem(text, site, loaded, parts)
        line = 0 if problem.span is None else problem.span.line
        correction = problem.hint or ""
        # One correction of a line may be that of several failures.
        if correction.startswith("write ") and (line, correction) in corrections:
            continue
        corrections.add((line, correction))
        problems.append(problem)
    if problems:
        raise ProgramError(*problems)


def unused_modules(program: Program, _: Limits) -> tuple[str, ...]:
    """Return the names of modules that the program certainly has no use for."""
    return programs.find_unused(program)


def _load(program: Program, parts: tuple[positions.SourcePart, ...]) -> programs.LoadedProgram:
    """Return the compiled program; raises ProgramError with the problems of all sources."""
    sources = programs.sources_of(program)
    try:
        return programs.load(sources)
    except programs.ProgramFailure as failure:
        grammar = sources.settings.grammar()
        raise ProgramError(*diagnostics.parse_problems(failure, grammar, parts)) from failure
    except LimitExceededError as error:
        message = f"cannot parse {program.main.name}: {error}"
        raise LimitError.of(message, limit=error.limit) from error


def _data(program: Program, scope: Scope, loaded: programs.LoadedProgram) -> LazyDict:
    """Return the dot; a step in function-go-templating's apiVersion has only the request."""
    is_own = program.options.get("dialect") != "gotemplating"
    return template_data(scope, mutates=loaded.program.mutates, is_own=is_own)


def _check_size(program: Program, limits: Limits) -> None:
    size = program.size_bytes()
    if size > limits.source_bytes:
        message = f"a source of {size} bytes, the limit is {limits.source_bytes}"
        hint = "its modules count, too" if program.modules else None
        message = f"cannot parse {program.main.name}: {message}"
        raise LimitError.of(message, hint=hint, limit="source")
