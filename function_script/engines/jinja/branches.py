"""The branches that a run of a template enters, by the lines of its generated code that run."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType
from typing import NamedTuple

from jinja2 import nodes

from function_script.engines.jinja import engine, parser, programs, tokens
from function_script.engines.jinja.environment import Environment
from function_script.engines.recent import remembered
from function_script.request.limits import Limits
from function_script.request.program import Branch, Program, Scope
from function_script.texts.errors import FatalError
from function_script.texts.source import Span, span_at


class _Body(NamedTuple):
    """A body by the number of its template and the offsets of its first and last word."""

    template: str
    first: int
    last: int
    span: Span
    last_line: int


def find(program: Program, scope: Scope, limits: Limits) -> list[Branch]:
    """Run a program once more; return its branches, none if it does not compile.

    An error ends the run: what is behind it is not reached.
    """
    try:
        compiled = programs.load(program, limits)
    except FatalError:
        return []
    lines: dict[str, set[int]] = {}

    def trace(frame: FrameType, _event: str, _argument: object) -> object:
        name = frame.f_code.co_filename
        if not name.startswith(programs.CODE_NAME):
            # Functions of our own and of Jinja run without a trace, which would slow them down.
            return None
        lines.setdefault(name, set()).add(frame.f_lineno)
        return trace

    # A debugger and a measurement of coverage have set one, too.
    outer = sys.gettrace()
    sys.settrace(trace)  # type: ignore[arg-type] # the type is recursive, and no name for it exists
    try:
        with suppress(FatalError):
            engine.evaluate(program, scope, limits)
    finally:
        sys.settrace(outer)
    # A line without an entry of its own may belong to what stands before the branch.
    offsets = {
        str(template.name): [
            offset
            for offset, line in template.debug_info
            if line in lines.get(programs.code_name(str(template.name)), ())
        ]
        for template in compiled.environment.templates.values()
    }
    return [
        Branch(
            body.span,
            body.last_line,
            any(body.first <= offset <= body.last for offset in offsets[body.template]),
        )
        for body in _list_bodies(program, limits)
    ]


# All runs of one `check` have one program.
@remembered(4)
def _list_bodies(program: Program, limits: Limits) -> list[_Body]:
    return [*_find_bodies(programs.load(program, limits).environment)]


def _last_offset(node: nodes.Node) -> int:
    """Return the offset of a node, and of the last visible character of a text; 0 without one."""
    length = len(node.data.rstrip()) if isinstance(node, nodes.TemplateData) else 0
    return (node.lineno or 0) + max(0, length - 1)


def _find_bodies(environment: Environment) -> Iterator[_Body]:
    """Yield the bodies that a run need not enter, and that write or do something."""
    for name, source in environment.sources.items():
        text, tree = source.text, parser.parse(environment, source.text)
        for node in tree.find_all((nodes.If, nodes.For, nodes.Macro, nodes.CallBlock, nodes.Block)):
            for field in ("body", "else_"):
                body: list[nodes.Node] = getattr(node, field, [])
                parts = [each for root in body for each in (root, *root.find_all(nodes.Node))]
                # Some nodes are Jinja's own, and have no place.
                places = [each.lineno for each in parts if each.lineno]
                if places:
                    first, last = min(places), max(map(_last_offset, parts))
                    # A text that begins a body may begin with blanks and empty lines.
                    visible = len(text) - len(text[first:].lstrip())
                    span, line = span_at(source, visible), tokens.line_at(text, last)
                    yield _Body(name, first, last, span, line)
