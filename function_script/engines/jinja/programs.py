"""Programs, compiled and kept: equal sources are compiled once.

Called by the engine. What is kept is never changed and holds nothing of a run.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from jinja2 import TemplateSyntaxError

from function_script.cache import ByteLruCache
from function_script.diagnostics import Diagnostic
from function_script.engines.jinja import modules, parsing, positions, tree
from function_script.engines.jinja.environment import Environment
from function_script.engines.jinja.exceptions import reworded
from function_script.engines.jinja.filters import FILTERS
from function_script.engines.jinja.tests import TESTS
from function_script.engines.jinja.tree import TemplateFacts, Violation
from function_script.errors import LimitError, ProgramError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from jinja2 import Template, nodes

    from function_script.limits import Limits
    from function_script.program import Program
    from function_script.source import Source

MAX_PROGRAMS = 64
_MAX_CHARACTERS = 2 << 20
_MAX_PROBLEMS = 10
MAX_NODES = 3 * tree.MAX_NODES
# The main template among the modules: no module has this name.
_MAIN = ""
# How generated code calls the template's variables.
_MANGLED = re.compile(r"\bl_\d+_")
_DEBUG_LINE = re.compile(r"(\d+)=(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A program ready to run. ``used`` are the variables that any of its templates names.

    ``compile_seconds`` is the CPU time that compiling it took.
    """

    main: Template
    environment: Environment
    used: frozenset[str]
    compile_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parsed:
    source: Source
    survey: TemplateFacts
    tree: nodes.Template | None = None


_programs: ByteLruCache[tuple[object, ...], Compiled] = ByteLruCache(
    _MAX_CHARACTERS, max_entries=MAX_PROGRAMS
)


def load(program: Program, limits: Limits) -> Compiled:
    """The compiled program, from the cache if it was compiled before; raises ProgramError."""
    check_size(program, limits)
    key = key_of(program)
    found = _programs.get(key)
    if found is None:
        found = build(program, Environment(is_strict=is_strict(program), defers=defers(program)))
        _programs.put(key, found, count_characters(key))
    return found


def key_of(program: Program) -> tuple[object, ...]:
    """All that the compiled program depends on, names for positions included."""
    parts: list[object] = [is_strict(program), defers(program)]
    parts += (program.main.name, program.main.text)
    for name, source in program.modules.items():
        parts += (name, source.name, source.text)
    return tuple(parts)


def count_characters(key: tuple[object, ...]) -> int:
    """Count how long the sources in a key are together."""
    return sum(len(part) for part in key if isinstance(part, str))


def is_strict(program: Program) -> bool:
    """Whether even a condition must not use what does not exist."""
    return program.options.get("undefined") == "Strict"


def defers(program: Program) -> bool:
    """Whether a missing value leaves a gap instead of stopping the run."""
    return program.options.get("missing") == "Defer"


def check_size(program: Program, limits: Limits) -> None:
    """Raise LimitError for a program that is too big even to look at."""
    size = program.size_bytes()
    if size > limits.source_bytes:
        message = f"a source of {size} bytes, the limit is {limits.source_bytes}"
        hint = "its modules count, too" if program.modules else None
        raise LimitError.of(f"cannot compile template: {message}", hint=hint, limit="source")


def build(program: Program, environment: Environment, *, is_whole: bool = False) -> Compiled:
    """Compile what the main template needs, or with ``is_whole`` every module.

    Raises ProgramError with everything that is wrong in any of them.
    """
    began = time.thread_time()
    sources = {**program.modules, _MAIN: program.main}
    parsed = _parse(sources, environment, sources if is_whole else (_MAIN,))
    _check(parsed, program.modules)
    # Templates get numbers for names, so that nothing of a user's stands in generated code.
    environment.sources = {str(n): each.source for n, each in enumerate(parsed.values())}
    environment.templates = {
        name: _compile(environment, each, str(number))
        for number, (name, each) in enumerate(parsed.items())
    }
    used = frozenset().union(*(each.survey.used for each in parsed.values()))
    return Compiled(
        main=environment.templates[_MAIN],
        environment=environment,
        used=used,
        compile_seconds=time.thread_time() - began,
    )


def _parse(
    sources: Mapping[str, Source], environment: Environment, wanted: Collection[str]
) -> dict[str, _Parsed]:
    """The templates of these names and all they refer to."""
    parsed: dict[str, _Parsed] = {}
    pending, nodes_left = list(wanted), MAX_NODES
    while pending:
        name = pending.pop()
        if name not in sources or name in parsed:
            continue
        parsed[name] = _parse_one(environment, sources[name])
        pending += [reference.module for reference in parsed[name].survey.references]
        made = parsed[name].tree
        nodes_left -= 0 if made is None else tree.size(made)
        if nodes_left < 0:
            message = f"the modules have more than {MAX_NODES} parts, the limit of a program"
            raise ProgramError.of(f"cannot compile template: {message}")
    return parsed


def _parse_one(environment: Environment, source: Source) -> _Parsed:
    try:
        parsed = parsing.parse(environment, source.text)
    except parsing.UnparsableError as error:
        return _Parsed(source=source, survey=TemplateFacts(findings=[error.finding]))
    return _Parsed(source=source, survey=tree.survey(parsed, FILTERS, TESTS), tree=parsed)


def _check(parsed: Mapping[str, _Parsed], names: Mapping[str, object]) -> None:
    surveys = {name: each.survey for name, each in parsed.items()}
    problems = [
        positions.of_finding(parsed[name].source, finding)
        for name in sorted(parsed)
        for finding in surveys[name].findings
    ]
    # A template that could not be read has no names, so others would seem to miss them.
    if not problems:
        problems = [
            positions.of_finding(parsed[name].source, finding)
            for name, findings in sorted(modules.check(surveys, names).items())
            for finding in findings
        ]
    if problems:
        raise ProgramError(*_shortened(list(dict.fromkeys(problems))))


def _shortened(problems: list[Diagnostic]) -> list[Diagnostic]:
    if len(problems) <= _MAX_PROBLEMS:
        return problems
    left_out = len(problems) - _MAX_PROBLEMS
    return [*problems[:_MAX_PROBLEMS], Diagnostic(message=f"and {left_out} more problems")]


def _compile(environment: Environment, parsed: _Parsed, number: str) -> Template:
    code = ""
    try:
        parsed_tree = cast("nodes.Template", parsed.tree)
        code = environment.compile(parsed_tree, number, f"<jinja {number}>", raw=True)
        compiled = compile(code, f"<jinja {number}>", "exec")
    except TemplateSyntaxError as error:
        finding = Violation(
            line=error.lineno, message=reworded(error.message or "invalid template")
        )
    except SyntaxError as error:
        line = _template_line(code, error.lineno or 1)
        finding = Violation(line=line, message=reworded(_MANGLED.sub("", error.msg)))
    except (RecursionError, MemoryError):
        finding = Violation(line=1, message="nested too deeply")
    else:
        return environment.template_class.from_code(environment, compiled, {}, None)
    raise ProgramError(positions.of_finding(parsed.source, finding))


def _template_line(code: str, line: int) -> int:
    """The template's line for a line of generated code, whose last line tells them."""
    found = 1
    for template_line, code_line in _DEBUG_LINE.findall(code.rpartition("\n")[2]):
        if int(code_line) <= line:
            found = int(template_line)
    return found
