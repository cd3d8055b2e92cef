"""What a template may consist of: checked on its syntax tree, before any code is made of it.

Finds everything that is wrong at once. Knows the allowlists; nothing of runs and values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, cast

from jinja2 import nodes

from function_script.engines.jinja.budget import MAX_INTEGER
from function_script.engines.jinja.calls import argument_error, usage
from function_script.problems import suggest
from function_script.values import LONE_SURROGATE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from function_script.engines.jinja.calls import Call

MAX_NODES = 20_000
MAX_DEPTH = 80
# CPython compiles at most 20 nested blocks, and a template needs some for itself.
MAX_LOOPS = 10
# What a filter or a test is given before the template's own arguments: the run and the value.
_HIDDEN = 2


_ALLOWED = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.For, nodes.If, nodes.CondExpr),
    *(nodes.Macro, nodes.CallBlock, nodes.FilterBlock, nodes.With, nodes.Block, nodes.Assign),
    *(nodes.AssignBlock, nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends, nodes.Name),
    *(nodes.NSRef, nodes.Const, nodes.Tuple, nodes.List, nodes.Dict, nodes.Pair, nodes.Keyword),
    *(nodes.Filter, nodes.Test, nodes.Call, nodes.Getitem, nodes.Getattr, nodes.Slice),
    *(nodes.Concat, nodes.Compare, nodes.Operand, nodes.BinExpr, nodes.UnaryExpr),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """Something a template must not have.

    ``name`` is what to underline in the line; ``opened`` a tag that is still open, and its line.
    ``offset`` counts characters from the begin of the text, where lines end with one.
    """

    line: int
    message: str
    name: str | None = None
    hint: str | None = None
    opened: tuple[str, int] | None = None
    offset: int | None = None


class Reference(NamedTuple):
    """A module that a template needs, and the names it wants from it."""

    module: str
    line: int
    names: tuple[str, ...]
    is_optional: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateFacts:
    """What a template names and needs; ``defined`` are the names it sets itself."""

    findings: list[Violation] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)


class _Place(NamedTuple):
    node: nodes.Node
    depth: int
    loops: int


def survey(
    tree: nodes.Template, filters: Mapping[str, Call], tests: Mapping[str, Call]
) -> TemplateFacts:
    """Walk the tree once; too big or too deep a tree is the only finding then."""
    found = TemplateFacts()
    for number, place in enumerate(_walk(tree)):
        finding = _oversize(place, number)
        if finding is not None:
            return TemplateFacts(findings=[finding])
        _visit(place.node, found, {"filter": filters, "test": tests})
    found.findings.sort(key=lambda finding: finding.line)
    return found


def size(node: nodes.Node) -> int:
    """How many nodes stand in and below this one."""
    return sum(1 for _ in _walk(node))


def _walk(tree: nodes.Node) -> Iterator[_Place]:
    """Every node, without recursion: a hostile tree is deeper than Python's stack."""
    pending = [_Place(tree, 0, 0)]
    while pending:
        place = pending.pop()
        yield place
        loops = place.loops + isinstance(place.node, nodes.For)
        children = place.node.iter_child_nodes()
        pending.extend(_Place(child, place.depth + 1, loops) for child in children)


def _oversize(place: _Place, number: int) -> Violation | None:
    line = place.node.lineno or 1
    if number >= MAX_NODES:
        return Violation(line=line, message=f"more than {MAX_NODES} parts, the limit of a template")
    if place.depth > MAX_DEPTH:
        return Violation(line=line, message=f"nested more than {MAX_DEPTH} levels deep")
    if place.loops > MAX_LOOPS:
        return Violation(line=line, message=f"more than {MAX_LOOPS} loops inside each other")
    return None


def _visit(node: nodes.Node, found: TemplateFacts, known: Mapping[str, Mapping[str, Call]]) -> None:
    if not isinstance(node, _ALLOWED):
        found.findings.append(_finding(node, f"{_tag(node)} is not available"))
        return
    match node:
        case nodes.Name():
            _visit_name(node, found)
        case nodes.Filter():
            _visit_named(node, "filter", known["filter"], found)
        case nodes.Test():
            _visit_named(node, "test", known["test"], found)
        case nodes.Const():
            _visit_const(node, found)
        case nodes.NSRef():
            _visit_namespace(node, found)
        case nodes.Macro():
            found.defined.add(node.name)
        case nodes.Include() | nodes.Import() | nodes.FromImport() | nodes.Extends():
            _visit_reference(node, found)
        case _:
            pass


def _tag(node: nodes.Node) -> str:
    if isinstance(node, (nodes.ScopedEvalContextModifier, nodes.EvalContextModifier)):
        return '"autoescape"'
    return f'"{type(node).__name__.lower()}"'


def _finding(
    node: nodes.Node, message: str, *, name: str | None = None, hint: str | None = None
) -> Violation:
    return Violation(line=node.lineno or 1, message=message, name=name, hint=hint)


def _visit_named(
    node: nodes.Filter | nodes.Test, kind: str, known: Mapping[str, Call], found: TemplateFacts
) -> None:
    if node.name not in known:
        hint = suggest(node.name, tuple(known))
        message = f'there is no {kind} "{node.name}"'
        found.findings.append(_finding(node, message, name=node.name, hint=hint))
        return
    # Jinja calls them pairs, but the parser makes keywords only.
    named = [keyword.key for keyword in cast("list[nodes.Keyword]", node.kwargs)]
    problem = argument_error(known[node.name], _HIDDEN + len(node.args), named)
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        problem = "* and ** cannot be used here"
    if problem is not None:
        message = f'wrong arguments for {kind} "{node.name}": {problem}'
        hint = f"it is {usage(node.name, known[node.name], _HIDDEN)}"
        found.findings.append(_finding(node, message, name=node.name, hint=hint))


def _visit_name(node: nodes.Name, found: TemplateFacts) -> None:
    (found.used if node.ctx == "load" else found.defined).add(node.name)
    if node.name == "self":
        hint = "write the block's text as a macro to use it twice"
        found.findings.append(_finding(node, '"self" is not available', name="self", hint=hint))


def _visit_namespace(node: nodes.NSRef, found: TemplateFacts) -> None:
    found.used.add(node.name)
    if node.attr.startswith("_"):
        message = "names that begin with _ cannot be set in a namespace"
        found.findings.append(_finding(node, message, name=node.attr))


def _visit_const(node: nodes.Const, found: TemplateFacts) -> None:
    value: object = node.value
    if isinstance(value, float) and not math.isfinite(value):
        found.findings.append(_finding(node, "a number that is too big"))
    if isinstance(value, int) and abs(value) >= MAX_INTEGER:
        found.findings.append(_finding(node, "an integer of more than 256 bits"))
    if isinstance(value, str) and LONE_SURROGATE.search(value):
        message = "half of a surrogate pair in a text, which no file can hold"
        found.findings.append(_finding(node, message))


_Reference = nodes.Include | nodes.Import | nodes.FromImport | nodes.Extends


def _visit_reference(node: _Reference, found: TemplateFacts) -> None:
    names: tuple[str, ...] = ()
    is_optional = False
    if isinstance(node, nodes.Import):
        found.defined.add(node.target)
    elif isinstance(node, nodes.FromImport):
        pairs = [name if isinstance(name, tuple) else (name, name) for name in node.names]
        found.defined.update(alias for _, alias in pairs)
        names = tuple(name for name, _ in pairs)
    elif isinstance(node, nodes.Include):
        is_optional = node.ignore_missing
        if not node.with_context:
            message = "an include sees what its place sees: without context is not available"
            found.findings.append(_finding(node, message, name="without"))
    if isinstance(node.template, nodes.Const) and isinstance(node.template.value, str):
        found.references.append(Reference(node.template.value, node.lineno, names, is_optional))
        return
    hint = "to choose while rendering, write if around several of these"
    found.findings.append(_finding(node, "a module's name must be a text in quotes", hint=hint))
