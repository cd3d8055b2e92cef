"""The GoTemplate language: Go's text/template with sprig, compiled to trees of operations.

Raises only FatalError.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from typing import Final

from function_script.engines import foreign_syntax, leftovers
from function_script.engines.allowance import Allowance
from function_script.engines.gotemplate import (
    doubts,
    parse_problems,
    positions,
    programs,
    run_problems,
    values,
)
from function_script.engines.gotemplate.errors import (
    Code,
    EvalError,
    GoError,
    LimitExceededError,
)
from function_script.engines.recent import remembered
from function_script.request.limits import Limits
from function_script.request.program import Program, Scope, TemplateResult
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import LimitError, ProgramError
from function_script.texts.source import Piece, Span

# Programs with many modules are in it, too: few, so that it holds little that others do not hold.
_MAX_RECENT: Final = 8


@remembered(_MAX_RECENT)
def _load_checked(
    program: Program, limits: Limits
) -> tuple[programs.LoadedProgram, tuple[Diagnostic, ...]]:
    """Return the compiled program and the doubts of its text; raises FatalError.

    The doubts are the same in every run, and take a millisecond in a large template.
    """
    program.check_size(limits)
    loaded = _load(program)
    # Templates of function-go-templating have no such doubts; other delimiters may be for "${{".
    is_usual = loaded.settings.is_own and loaded.settings.delims[0] == "{{"
    return loaded, foreign_syntax.find_dollars(program.sources()) if is_usual else ()


def evaluate(program: Program, scope: Scope, limits: Limits) -> TemplateResult:
    """Render a program's main template with the request; raises FatalError."""
    allowance = Allowance(limits)
    loaded, dollars = _load_checked(program, limits)
    pieces: list[str] = []
    start_seconds = allowance.used_seconds()
    run = loaded.begin(scope, limits)
    try:
        run.render(loaded.data_of(scope), pieces)
    except (GoError, LimitExceededError, RecursionError) as error:
        raise run_problems.run_problem(error, run.sites[::-1], loaded) from error

    if not scope.is_salted:
        # Without a salt anybody can compute these texts, so none of them may be a secret.
        scope.random_texts.extend(run.random_texts)
    run_seconds = allowance.used_seconds() - start_seconds

    # To decorate with `functools.cache` takes 12,000 instructions, and few requests need a trace.
    traces: list[Sequence[Piece]] = []

    def trace() -> Sequence[Piece]:
        if traces:
            return traces[0]
        seconds = allowance.left_seconds()
        # A rerun that does not end is worth nothing, and would cost the response its time.
        if run_seconds * positions.STRETCH > seconds:
            return ()
        # The rerun may use what is left, and not once more all that a step has.
        rerun = loaded.begin(scope, replace(limits, timeout_seconds=seconds))
        traces.append(positions.trace(rerun, loaded.data_of(scope), loaded))
        return traces[0]

    def locate(line: int) -> Span | None:
        return positions.find_origin(line, trace())

    missing = tuple(run_problems.list_missing(run, pieces, loaded))
    is_deferring = loaded.settings.defers
    text = _join(pieces, loaded, scope, limits, allowance)
    return TemplateResult(
        text=text,
        gaps=missing if is_deferring else (),
        missing=() if is_deferring else missing,
        locate=locate,
        explain=lambda line: _explain(line, text.split("\n"), locate, program),
        trace=trace,
        outdents=[
            (offset := sum(map(len, pieces[:index])), offset + len(pieces[index]))
            for index in run.outdents
        ],
        doubts=dollars,
        list_lines=_list_lines(text, pieces, run.printed_lists),
    )


def _join(
    pieces: list[str],
    loaded: programs.LoadedProgram,
    scope: Scope,
    limits: Limits,
    allowance: Allowance,
) -> str:
    """Join the parts of a text; raises ProgramError for bytes that no file of YAML can hold."""
    text = "".join(pieces)
    if not values.is_broken(text):
        return text
    # Halves of a character that are side by side are whole after a turn through bytes.
    text = values.to_string(values.to_bytes(text))
    if not values.is_broken(text):
        return text
    index = next(index for index, piece in enumerate(pieces) if values.is_broken(piece))
    rerun = loaded.begin(scope, replace(limits, timeout_seconds=allowance.left_seconds()))
    try:
        sites = [rerun.trace(loaded.data_of(scope))[index][1]]
    except (GoError, LimitExceededError, RecursionError):
        sites = []
    error = EvalError("the text has bytes that are not UTF-8, such as a part of a character")
    raise run_problems.run_problem(error, sites, loaded)


def _list_lines(text: str, pieces: list[str], printed: list[int]) -> list[int]:
    """Return the numbers of the lines whose whole value is a list that was printed."""
    if not printed:
        return []
    lines = text.split("\n")
    numbers: set[int] = set()
    number, start = 1, 0
    for index in printed:
        number += sum(piece.count("\n") for piece in pieces[start:index])
        numbers.add(number)
        start = index
    return [
        number
        for number, line in foreign_syntax.outside_scalars(lines)
        if number in numbers and leftovers.LIST.pattern.search(line)
    ]


def _explain(
    line: int, lines: Sequence[str], locate: Callable[[int], Span | None], program: Program
) -> tuple[Span, str] | None:
    """Return the place and the hint for a line that is no YAML; None if nothing is certain."""
    span = locate(line) if 0 < line <= len(lines) else None
    if span is None:
        return None
    # A printed value is alone in the line, or behind its end.
    below = locate(min(line + 1, len(lines))) or span
    at_end = {below.line - 1, span.line - 1}
    if printed := _find_printed(program, span.name, {*at_end, (locate(line - 1) or span).line}):
        return printed
    hint = _line_hint(lines[line - 1])
    above = lines[line - 2] if line > 1 else ""
    if hint is None and ": " not in above and not above.lstrip(" ").startswith("- "):
        # A line that is no entry makes the one below it unreadable.
        span, hint = locate(line - 1) or span, _line_hint(above)
    return None if hint is None else (span, hint)


def _line_hint(line: str) -> str | None:
    """Return the hint for a rendered line that is no YAML, and that no template means."""
    of_jinja = (foreign_syntax.JINJA_TAG, foreign_syntax.JINJA_COMMENT)
    if hint := foreign_syntax.hint_of(line, of_jinja):
        return f"this is Jinja: {hint}"
    if line.startswith("map["):
        return (
            "write a document with toYaml; a function is called for its effect with {{ $_ := … }}"
        )
    leftover = leftovers.of_line(line)
    return leftover.hint if leftover is not None else None


def _find_printed(program: Program, name: str, lines: Container[int]) -> tuple[Span, str] | None:
    """Return the place and hint of an action that prints by mistake, in lines of a source."""
    for source, trees in programs.parse_texts(program):
        for finding in doubts.find_printed(trees, source):
            place = positions.find_span(source, finding.position, finding.width).span
            if place.name == name and place.line in lines:
                return place, finding.hint
    return None


def check(program: Program, limits: Limits) -> None:
    """Compile a program; raises ProgramError with all that is certain to fail."""
    program.check_size(limits)
    loaded = _load(program)
    problems: list[Diagnostic] = []
    undefined: set[str] = set()
    corrections: set[tuple[int, str]] = set()
    for site, error in loaded.failures:
        # A variable that is undefined once fails wherever it is read.
        if error.code is Code.VARIABLE_UNDEFINED:
            if error.subject in undefined:
                continue
            undefined.add(error.subject)
        # A failure that is certain once its place is reached.
        (problem,) = run_problems.run_problem(error, [site], loaded).diagnostics
        correction = run_problems.find_correction(error, site, loaded)
        line = 0 if problem.span is None else problem.span.line
        # One correction of a line may be that of several failures.
        if correction is not None:
            if (line, correction) in corrections:
                continue
            corrections.add((line, correction))
        problems.append(problem)
    if problems:
        raise ProgramError(*problems)


def unused_modules(program: Program, _: Limits) -> tuple[str, ...]:
    """Return the names of modules that the program certainly has no use for."""
    return programs.find_unused(program)


def _load(program: Program) -> programs.LoadedProgram:
    """Return the compiled program; raises ProgramError with the problems of all sources."""
    sources = programs.sources_of(program)
    try:
        return programs.load(sources)
    except programs.ProgramFailure as failure:
        raise ProgramError(*parse_problems.list_problems(failure, sources.settings)) from failure
    except LimitExceededError as error:
        message = f"cannot parse {program.main.name}: {error}"
        raise LimitError.of(message, limit=error.limit) from error
