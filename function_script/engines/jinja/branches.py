"""The branches that a run of a template enters, by the lines of its generated code that run."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType

from jinja2 import nodes

from function_script.engines.jinja import engine, parser, programs, tokens
from function_script.request.limits import Limits
from function_script.request.program import Branch, Program, Scope
from function_script.texts.errors import FatalError


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
            return None
        lines.setdefault(name, set()).add(frame.f_lineno)
        return trace

    outer = sys.gettrace()
    sys.settrace(trace)  # type: ignore[arg-type] # the type is recursive, and no name for it exists
    try:
        with suppress(FatalError):
            engine.evaluate(program, scope, limits)
    finally:
        sys.settrace(outer)
    branches: list[Branch] = []
    environment = compiled.environment
    for template in environment.templates.values():
        source = environment.sources[str(template.name)]
        ran = lines.get(programs.code_name(str(template.name)), set())
        # A line without an entry of its own may belong to what stands before the branch.
        offsets = [offset for offset, line in template.debug_info if line in ran]
        text = tokens.normalize(source.text)
        for body in _find_bodies(parser.parse(environment, source.text)):
            parts = [each for node in body for each in (node, *node.find_all(nodes.Node))]
            # Some nodes are Jinja's own, and have no place.
            first = min(each.lineno for each in parts if each.lineno)
            last = max(map(_last_offset, parts))
            visible = len(text) - len(text[first:].lstrip())
            branches.append(
                Branch(
                    tokens.span(source, visible),
                    tokens.line_at(text, last),
                    any(first <= offset <= last for offset in offsets),
                )
            )
    return branches


def _last_offset(node: nodes.Node) -> int:
    """Return the offset of a node, and of the last visible character of a text; 0 without one."""
    length = len(node.data.rstrip()) if isinstance(node, nodes.TemplateData) else 0
    return (node.lineno or 0) + max(0, length - 1)


def _find_bodies(tree: nodes.Template) -> Iterator[list[nodes.Node]]:
    """Yield the bodies that a run need not enter, and that write or do something."""
    for node in tree.find_all((nodes.If, nodes.For, nodes.Macro, nodes.CallBlock, nodes.Block)):
        for field in ("body", "else_"):
            body: list[nodes.Node] = getattr(node, field, [])
            if any(each.lineno for each in body):
                yield body
