"""The branches that a run of a script enters: each begins with a call of a function of ours."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, TypeAlias

import starlark

from function_script.engines.recent import remembered
from function_script.engines.starlark import build, engine, errors, interpreter, predeclared
from function_script.engines.starlark.analysis import paths, syntax
from function_script.request.limits import Limits
from function_script.request.program import Branch, Program, Scope
from function_script.texts.errors import FatalError
from function_script.texts.source import Source, Span

# Any name that no script has.
_MARK: Final = "__enter_branch"
# A script with its bodies, and the numbers of those that its last run has reached.
_Marked: TypeAlias = tuple[build.Script, list[tuple[Span, int]], set[int]]


def find(program: Program, scope: Scope, limits: Limits) -> list[Branch]:
    """Run a program once more; return its branches, none if a source has no tree or is not built.

    An error in `main` ends the run: what is behind it is not reached.
    """
    options = interpreter.limited_options(limits)
    request = engine.build_request(scope)
    try:
        script, bodies, reached = _build(program, limits, options)
        text = engine.to_json(paths.select(request, script.reach))
    except (FatalError, ValueError):
        return []
    # Those of the run before, which the script has recorded in the same set.
    reached.clear()
    with predeclared.seeded_run(scope):
        try:
            if program.options.get("missing") == "Defer":
                engine.DeferredEvaluation(script, text, limits, options).whole(request)
            else:
                build.call_main(script.wrapped, text, options)
        except starlark.StarlarkError:
            # The next run must not find the error of this one.
            errors.take_raised()
    return [Branch(span, last, number in reached) for number, (span, last) in enumerate(bodies)]


# All runs of one `check` have one program.
@remembered(4)
def _build(program: Program, limits: Limits, options: starlark.EvalOptions) -> _Marked:
    bodies: list[tuple[Span, int]] = []
    reached: set[int] = set()
    used = build.script(program, limits, options).sources
    marked = syntax.map_sources(program, used, lambda source: _mark(source, bodies))
    script = build.silent(marked, limits, options, {_MARK: reached.add})
    return script, bodies, reached


def _mark(source: Source, bodies: list[tuple[Span, int]]) -> Source:
    """Return a source whose bodies begin with a mark; raises ValueError for one without a tree."""
    marked = syntax.Marked(source)
    marks: list[tuple[int, int, bytes]] = []
    for body in _find_bodies(marked.tree):
        first, last = body[0], body[-1]
        place = marked.range_of(first)[0]
        blanks = marked.data[place - first.col_offset : place]
        # No statement with a body may stand behind a semicolon.
        end = b"; " if blanks.strip() else b"\n" + blanks
        marks.append((place, 0, b"%s(%d)%s" % (_MARK.encode(), len(bodies), end)))
        is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        # A docstring is no step: the place is that of the statement behind it.
        visible = body[1] if is_text and len(body) > 1 else first
        span = replace(syntax.span_of(visible, marked.source), width=1)
        bodies.append((span, last.end_lineno or visible.lineno))
    return marked.insert(marks)


def _find_bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.For, ast.FunctionDef)):
            yield node.body
        # The body of an `elif` is that of the condition in its place, where its own `if` begins.
        match node:
            case ast.If(orelse=[ast.If(col_offset=column)]) if column == node.col_offset:
                pass
            case ast.If(orelse=[_, *_]):
                yield node.orelse
