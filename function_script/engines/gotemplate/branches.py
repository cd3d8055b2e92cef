"""The branches that a run of a template enters: marks in the tree, which are texts of no length."""

from contextlib import suppress
from functools import partial
from typing import NamedTuple

from function_script.engines.gotemplate import positions, programs
from function_script.engines.gotemplate.errors import GoError, LimitExceededError
from function_script.engines.gotemplate.run import MAIN
from function_script.engines.gotemplate.syntax import nodes
from function_script.engines.recent import remembered
from function_script.request.limits import Limits
from function_script.request.program import Branch, Program, Scope


class _Mark(NamedTuple):
    """The node in a body, the body's template, and where its last part begins."""

    node: nodes.Text
    template: str
    last: int


def find(program: Program, scope: Scope, limits: Limits) -> list[Branch]:
    """Run a program once more; return its branches, none if it does not compile.

    An error ends the run: what is behind it is not reached.
    """
    try:
        loaded, marks = _compile_marked(program, limits)
    except (programs.ProgramFailure, LimitExceededError):
        return []
    run = loaded.begin(scope, limits)
    with suppress(GoError, LimitExceededError, RecursionError):
        run.trace(loaded.data_of(scope))
    reached = {id(site.node) for _, site in run.part_sites or ()}
    branches: list[Branch] = []
    for mark in marks:
        source = loaded.origins[mark.template]
        span = positions.find_span(source, mark.node.position, 1).span
        last = positions.find_span(source, mark.last, 1).span.line
        branches.append(Branch(span, last, id(mark.node) in reached))
    return branches


# All runs of one `check` have one program.
@remembered(4)
def _compile_marked(program: Program, _: Limits) -> tuple[programs.LoadedProgram, list[_Mark]]:
    marks: list[_Mark] = []
    sources = programs.sources_of(program)
    return programs.compile_program(sources, partial(_mark_all, marks)), marks


def _mark_all(marks: list[_Mark], template: str, root: list[nodes.Node]) -> None:
    """Begin each body with a mark; a body without a visible part has none."""
    bodies = [] if template == MAIN else [root]
    for node in nodes.walk_nodes(root):
        if isinstance(node, nodes.Branch):
            bodies.append(node.body)
            # A mark would make a nested branch of an `else if`, whose body has its own.
            if node.otherwise is not None and node.else_branch() is None:
                bodies.append(node.otherwise)
    for body in bodies:
        starts = map(_first_character, body)
        first = next((each for each in starts if each is not None), None)
        if first is not None:
            last = max(map(_last_position, nodes.walk_nodes(body)))
            marks.append(_Mark(nodes.Text(first, ""), template, last))
            body.insert(0, marks[-1].node)


def _last_position(node: nodes.SyntaxNode) -> int:
    """Return the position of a node, and of the last visible character of a text."""
    length = len(node.text.rstrip()) if isinstance(node, nodes.Text) else 0
    return node.position + max(0, length - 1)


def _first_character(node: nodes.Node) -> int | None:
    """Return the position of a node's first character that is no white space."""
    if not isinstance(node, nodes.Text):
        return node.position
    visible = node.text.lstrip()
    return node.position + len(node.text) - len(visible) if visible else None
