"""The policy for templates: allowlists and limits, checked on the syntax trees before compilation.

All violations are facts at once. References between templates are checked when these have none.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from jinja2 import nodes

from function_script.engines.jinja.calls import LibraryFunction, explain_missing, signature_of
from function_script.engines.jinja.filters import FILTERS, TESTS
from function_script.engines.jinja.functions import FUNCTIONS
from function_script.engines.jinja.run import MAX_INTEGER
from function_script.engines.signatures import explain_names
from function_script.request.values import LONE_SURROGATE
from function_script.texts.problems import list_choices, suggest
from function_script.texts.source import Source

MAX_NODES = 20_000
MAX_DEPTH = 80
MAX_MODULE_DEPTH = 20
# CPython compiles at most 20 nested blocks, and a template needs some for itself.
MAX_LOOPS = 10
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
    """A part of a template that is not allowed, or that nobody can mean.

    ``offset`` counts characters from the beginning of the text; a line break counts as one.
    ``name`` is the word to underline, at or behind it. Without a word, ``width`` is what to
    underline there; None: the tags of that line. ``open_tag`` is a tag that is still open, and its
    offset.
    """

    offset: int
    message: str
    name: str | None = None
    hint: str | None = None
    open_tag: tuple[str, int] | None = None
    width: int | None = 1


class Reference(NamedTuple):
    """A module that a template refers to, and the names that it imports from it."""

    module: str
    offset: int
    names: tuple[str, ...]
    is_optional: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateFacts:
    """The names and references of a template; ``defined`` are the names that it sets itself.

    ``tree`` None: the source does not parse.
    """

    source: Source
    tree: nodes.Template | None = None
    violations: list[Violation] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)

    def refuse(
        self, node: nodes.Node, message: str, *, name: str | None = None, hint: str | None = None
    ) -> None:
        """Note that a node, or the word ``name`` at it, is not allowed."""
        offset = node.lineno or 0
        self.violations.append(Violation(offset=offset, message=message, name=name, hint=hint))


def inspect(source: Source, tree: nodes.Template) -> TemplateFacts:
    """Collect the facts of a template; of a tree that is too big or too deep, only that."""
    facts = TemplateFacts(source=source, tree=tree)
    for number, (node, depth, loops) in enumerate(_walk(tree)):
        message = ""
        if number >= MAX_NODES:
            message = f"more than {MAX_NODES} parts, the limit of a template"
        elif depth > MAX_DEPTH:
            message = f"nested more than {MAX_DEPTH} levels deep"
        elif loops > MAX_LOOPS:
            message = f"more than {MAX_LOOPS} loops inside each other"
        if message:
            facts = TemplateFacts(source=source)
            facts.refuse(node, message)
            return facts
        _visit(node, facts)
    # The walk visits the last of several children first.
    facts.violations.sort(key=lambda violation: violation.offset)
    return facts


def count_nodes(node: nodes.Node) -> int:
    """Count the node itself and all nodes below it."""
    return sum(1 for _ in _walk(node))


def _walk(tree: nodes.Node) -> Iterator[tuple[nodes.Node, int, int]]:
    """Yield every node with its depth and the number of loops around it.

    There is no recursion: a hostile tree is deeper than Python's stack.
    """
    pending = [(tree, 0, 0)]
    while pending:
        node, depth, loops = pending.pop()
        yield node, depth, loops
        loops_inside = loops + isinstance(node, nodes.For)
        pending.extend((child, depth + 1, loops_inside) for child in node.iter_child_nodes())


def _visit(node: nodes.Node, facts: TemplateFacts) -> None:
    if not isinstance(node, _ALLOWED):
        facts.refuse(node, f'"{type(node).__name__.lower()}" is not available')
        return
    match node:
        case nodes.Name():
            (facts.used if node.ctx == "load" else facts.defined).add(node.name)
            if node.name == "self":
                hint = "the XR is xr; a text that is written twice is a macro"
                facts.refuse(node, '"self" is not available', name="self", hint=hint)
        case nodes.Filter() | nodes.Test():
            _visit_call(node, facts)
        case nodes.Const():
            _visit_const(node, facts)
        case nodes.NSRef():
            facts.used.add(node.name)
            if node.attr.startswith("_"):
                message = "names that begin with _ cannot be set in a namespace"
                facts.refuse(node, message, name=node.attr)
        case nodes.Macro():
            facts.defined.add(node.name)
        case nodes.Include() | nodes.Import() | nodes.FromImport() | nodes.Extends():
            _visit_reference(node, facts)


def _visit_call(node: nodes.Filter | nodes.Test, facts: TemplateFacts) -> None:
    kind, callables = ("filter", FILTERS) if isinstance(node, nodes.Filter) else ("test", TESTS)
    if node.name not in callables:
        message, hint = explain_missing(node.name, kind, callables)
        own = f"it is a function: write {node.name}(...)" if node.name in FUNCTIONS else None
        facts.refuse(node, message, name=node.name, hint=own or hint)
        return
    # Jinja calls them pairs, but the parser makes keywords only.
    keywords = [keyword.key for keyword in cast("list[nodes.Keyword]", node.kwargs)]
    call = callables[node.name]
    signature = signature_of(node.name, call, is_filter=True)
    problem = None
    # The analysis of calls, and a run, count the arguments of the library's functions.
    if not isinstance(call, LibraryFunction):
        problem = explain_names(signature, 1 + len(node.args), keywords)
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        hint = f"write {signature.usage}"
        problem = f"cannot call {node.name}: * and ** cannot be used here", hint
    if problem is not None:
        message, hint = problem
        facts.refuse(node, message, name=node.name, hint=hint)


def _visit_const(node: nodes.Const, facts: TemplateFacts) -> None:
    value: object = node.value
    if isinstance(value, float) and not math.isfinite(value):
        facts.refuse(node, "a number that is too big")
    if isinstance(value, int) and abs(value) >= MAX_INTEGER:
        facts.refuse(node, "an integer of more than 256 bits")
    if isinstance(value, str) and LONE_SURROGATE.search(value):
        facts.refuse(node, "half of a surrogate pair in a text, which no file can hold")


_Reference = nodes.Include | nodes.Import | nodes.FromImport | nodes.Extends


def _visit_reference(node: _Reference, facts: TemplateFacts) -> None:
    names: tuple[str, ...] = ()
    is_optional = False
    if isinstance(node, nodes.Import):
        facts.defined.add(node.target)
    elif isinstance(node, nodes.FromImport):
        pairs = [name if isinstance(name, tuple) else (name, name) for name in node.names]
        facts.defined.update(alias for _, alias in pairs)
        names = tuple(name for name, _ in pairs)
    elif isinstance(node, nodes.Include):
        is_optional = node.ignore_missing
        if not node.with_context:
            message = "an include sees what its place sees: without context is not available"
            facts.refuse(node, message, name="without")
    if isinstance(node.template, nodes.Const) and isinstance(node.template.value, str):
        facts.references.append(Reference(node.template.value, node.lineno, names, is_optional))
        return
    # It may be a name without its quotes.
    is_name = isinstance(node.template, (nodes.Name, nodes.Getattr))
    hint = None if is_name else "to choose while rendering, write if around several of these"
    facts.refuse(node, "a module's name must be a text in quotes", hint=hint)


class References:
    """Finds invalid references of templates, by template; ``""`` is the main one."""

    def __init__(
        self, templates: Mapping[str, TemplateFacts], module_names: Collection[str]
    ) -> None:
        self.violations: dict[str, list[Violation]] = {name: [] for name in templates}
        self._templates = templates
        self._depths: dict[str, int] = {}
        self._check(module_names)
        # Of modules that are missing, nobody knows what they need themselves.
        if not any(self.violations.values()):
            self._depth("", ())

    def _check(self, module_names: Collection[str]) -> None:
        """Add the references to modules, and imports of names, that are not there."""
        names = sorted(module_names)
        available = list_choices(names) if names else "there are no modules"
        for template, facts in self._templates.items():
            for reference in facts.references:
                module = reference.module
                if module not in module_names:
                    if not reference.is_optional:
                        hint = suggest(module, tuple(module_names), available)
                        self._add(template, reference, f'there is no module "{module}"', hint)
                    continue
                for name in reference.names if module in self._templates else ():
                    defined = self._templates[module].defined
                    if name not in defined:
                        message = f'module "{module}" defines no "{name}"'
                        self._add(template, reference, message, suggest(name, tuple(defined)), name)

    def _depth(self, name: str, path: tuple[str, ...]) -> int:
        """Return the length of the longest chain of modules that begins at this template."""
        if name in self._depths:
            return self._depths[name]
        longest = 0
        for reference in self._templates[name].references:
            module = reference.module
            if module not in self._templates:
                continue
            if module in path:
                cycle = " -> ".join((*path[path.index(module) :], module))
                self._add(name, reference, f"modules import each other in a cycle: {cycle}")
                continue
            # A long path counts as too deep without a look further down: so the recursion ends.
            is_long = len(path) >= MAX_MODULE_DEPTH
            depth = 1 + (len(path) if is_long else self._depth(module, (*path, module)))
            if depth > MAX_MODULE_DEPTH:
                problem = f"modules need each other more than {MAX_MODULE_DEPTH} deep"
                self._add(name, reference, problem)
            else:
                longest = max(longest, depth)
        self._depths[name] = longest
        return longest

    def _add(
        self,
        template: str,
        reference: Reference,
        message: str,
        hint: str | None = None,
        word: str = "",
    ) -> None:
        name = word or reference.module
        violation = Violation(offset=reference.offset, message=message, name=name, hint=hint)
        self.violations[template].append(violation)
