"""Compilation of programs, with a cache: equal sources are compiled once.

A compiled program is immutable and holds nothing of a run.
"""

import re
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from jinja2 import Template, TemplateSyntaxError, nodes
from jinja2.compiler import CodeGenerator as JinjaCodeGenerator

from function_script.engines.jinja import (
    compiler,
    deferral,
    parser,
    policy,
    positions,
    tokens,
    wording,
)
from function_script.engines.jinja.calls import Call
from function_script.engines.jinja.environment import RUN, Environment
from function_script.engines.jinja.filters import FILTERS, TESTS
from function_script.engines.jinja.functions import build_variables
from function_script.engines.jinja.run import Run
from function_script.engines.recent import remembered
from function_script.request.cache import ByteLruCache
from function_script.request.limits import Limits
from function_script.request.program import Program
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import ProgramError
from function_script.texts.source import Source

MAX_PROGRAMS = 64
_MAX_RECENT = 8
_MAX_BYTES = 2 << 20
_MAX_PROBLEMS = 10
MAX_NODES = 3 * policy.MAX_NODES
# The main template among the modules: no module has this name.
_MAIN = ""
# An offset of a template, and the line of its code.
_DEBUG_LINE = re.compile(r"(\d+)=(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledProgram:
    """A program that is ready to run.

    ``used_names`` are the variables that any of its templates names; ``compile_seconds`` is CPU
    time. With ``is_deferring`` a missing value leaves a gap instead of stopping the run.
    """

    main: Template
    environment: Environment
    used_names: frozenset[str]
    is_deferring: bool
    compile_seconds: float

    def start(self, run: Run) -> Iterator[str]:
        """Start a run: return an iterator over the chunks of the main template's text."""
        run.variables = build_variables(run.scope, self.used_names)
        run.variables[RUN] = run
        context = self.main.new_context(run.variables, shared=True)
        return self.main.root_render_func(context)


_programs: ByteLruCache[tuple[object, ...], CompiledProgram] = ByteLruCache(
    _MAX_BYTES, max_entries=MAX_PROGRAMS
)


@remembered(_MAX_RECENT)
def load(program: Program, limits: Limits) -> CompiledProgram:
    """Return the compiled program, from the cache if possible; raises ProgramError."""
    program.check_size(limits)
    # All that compilation depends on, names of sources (for positions) included.
    options = _is_strict(program), _is_deferring(program)
    key = (*options, program.main, *program.modules.items())
    compiled = _programs.get(key)
    if compiled is None:
        compiled = build(program)
        _programs.put(key, compiled, program.size_bytes())
    return compiled


def _is_strict(program: Program) -> bool:
    return program.options.get("undefined") == "Strict"


def _is_deferring(program: Program) -> bool:
    return program.options.get("missing") == "Defer"


def build(
    program: Program,
    code_generator: type[JinjaCodeGenerator] = compiler.CodeGenerator,
    filters: Mapping[str, Call] = FILTERS,
    *,
    is_whole: bool = False,
) -> CompiledProgram:
    """Compile the main template and what it refers to, or with ``is_whole`` every module.

    Raises ProgramError with all problems of these templates.
    """
    # Tracing compiles once more, and asks first how long that takes.
    start = time.thread_time()
    if _is_deferring(program):
        code_generator = deferral.make_deferring(code_generator)
    environment = Environment(
        filters, TESTS, code_generator=code_generator, is_strict=_is_strict(program)
    )
    sources = {**program.modules, _MAIN: program.main}
    parsed = _parse_all(sources, environment, sources if is_whole else (_MAIN,))
    _check(parsed, program.modules)
    # Templates get numbers for names, so that no text of a user's gets into generated code.
    environment.sources = {str(n): each.source for n, each in enumerate(parsed.values())}
    environment.templates = {
        name: _compile(environment, each, str(number))
        for number, (name, each) in enumerate(parsed.items())
    }
    return CompiledProgram(
        main=environment.templates[_MAIN],
        environment=environment,
        used_names=frozenset().union(*(each.used for each in parsed.values())),
        is_deferring=_is_deferring(program),
        compile_seconds=time.thread_time() - start,
    )


def _parse_all(
    sources: Mapping[str, Source], environment: Environment, names: Collection[str]
) -> dict[str, policy.TemplateFacts]:
    """Parse the templates of these names and all templates that they refer to."""
    parsed: dict[str, policy.TemplateFacts] = {}
    pending, nodes_left = list(names), MAX_NODES
    while pending:
        name = pending.pop()
        if name not in sources or name in parsed:
            continue
        source = tokens.normalize(sources[name])
        try:
            tree = parser.parse(environment, source.text)
        except parser.UnparsableError as error:
            parsed[name] = policy.TemplateFacts(source=source, violations=[error.violation])
            continue
        parsed[name] = policy.inspect(source, tree)
        pending += [reference.module for reference in parsed[name].references]
        # `inspect` has checked each template alone.
        nodes_left -= policy.count_nodes(tree)
        if nodes_left < 0:
            message = f"the modules have more than {MAX_NODES} parts, the limit of a program"
            raise ProgramError.of(f"cannot compile template: {message}")
    return parsed


def _check(parsed: Mapping[str, policy.TemplateFacts], module_names: Collection[str]) -> None:
    violations = {name: parsed[name].violations for name in sorted(parsed)}
    # A template that does not parse defines no names, so others would seem to miss them.
    if not any(violations.values()):
        violations = dict(sorted(policy.References(parsed, module_names).violations.items()))
    problems = [
        positions.to_diagnostic(parsed[name].source, violation)
        for name, listed in violations.items()
        for violation in listed
    ]
    if problems:
        # A name that is wrong twice in a line is one problem.
        problems = list(dict.fromkeys(problems))
        hidden = len(problems) - _MAX_PROBLEMS
        if hidden > 0:
            last = Diagnostic(message=f"and {hidden} more problems")
            problems = [*problems[:_MAX_PROBLEMS], last]
        raise ProgramError(*problems)


def _compile(environment: Environment, parsed: policy.TemplateFacts, number: str) -> Template:
    code, name = "", f"<jinja {number}>"
    try:
        tree = cast("nodes.Template", parsed.tree)
        code = environment.compile(tree, number, name, raw=True)
        compiled = compile(code, name, "exec")
    except TemplateSyntaxError as error:
        message = wording.reword(error.message or "invalid template")
        violation = policy.Violation(offset=error.lineno, message=message, width=None)
    except SyntaxError as error:
        # The last line of the code has the template's offsets by the lines of the code.
        pairs = _DEBUG_LINE.findall(code.rpartition("\n")[2])
        offsets = [int(ours) for ours, generated in pairs if int(generated) <= (error.lineno or 1)]
        message = wording.reword_compilation(error)
        offset = offsets[-1] if offsets else 0
        violation = policy.Violation(offset=offset, message=message, width=None)
    except (RecursionError, MemoryError):
        violation = policy.Violation(offset=0, message="nested too deeply", width=None)
    else:
        return environment.template_class.from_code(environment, compiled, {}, None)
    raise ProgramError(positions.to_diagnostic(parsed.source, violation))
