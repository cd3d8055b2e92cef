"""Parts of templates that render without an error and that nobody can mean.

A finding is certain from the template alone: no run is needed, and no value of the request.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from jinja2 import nodes

from function_script.documents.rendered_lines import INDENTED_TAGS
from function_script.engines.jinja import functions, tokens
from function_script.engines.jinja.arguments import Types
from function_script.engines.jinja.parser import parse_program
from function_script.engines.jinja.policy import Violation
from function_script.engines.jinja.positions import to_diagnostic
from function_script.engines.tables import Rules
from function_script.request.program import Program
from function_script.texts.diagnostics import Diagnostic

# The words for types that are never equal to each other.
_WORDS: Final = {
    "boolean": "a boolean",
    "integer": "a number",
    "list": "a list",
    "number": "a number",
    "object": "an object",
    "string": "a text",
}
# A key or an item.
_ENTRY: Final = re.compile(r"- |[\w./\"-]+:(?=\s|$)")
# Numbers of a loop, and those that an author takes for the first or the last.
_NEVER: Final[Mapping[str, nodes.Expr]] = {
    **dict.fromkeys(("index", "revindex"), nodes.Const(0)),
    "index0": nodes.Getattr(nodes.Name("loop", "load"), "length", "load"),
}
_CONDITIONS: Final = (nodes.If, nodes.CondExpr)
# Tags that may read a name without an analysis seeing it.
_IMPORTING: Final = (nodes.Import, nodes.FromImport, nodes.Macro)
_SHARING: Final = (nodes.Include, nodes.Block, nodes.Extends)


_RULES: Final = Rules[Callable[[nodes.Template], Iterator[Violation]]]()


def find(program: Program) -> Iterator[Diagnostic]:
    """Yield the doubtful parts of all templates of a program, which must compile."""
    templates = parse_program(program)
    reads = {
        name.name
        for template in templates
        for name in template.tree.find_all(nodes.Name)
        if name.ctx == "load"
    }
    types = Types(templates)
    for module, source, tree in templates:
        doubts = [
            *(doubt for rule in _RULES for doubt in rule(tree)),
            *_comparisons(tree, types),
            *_lost_blanks(tree, source.text),
            # A template that imports a module may read the names that it sets.
            *(() if module else _never_read(tree, reads)),
        ]
        # An assignment in a loop inside of another one is found twice.
        for doubt in sorted({*doubts}, key=lambda each: (each.offset, each.width, each.message)):
            yield to_diagnostic(source, doubt, "")


@_RULES.add
def _lost_in_loops(tree: nodes.Template) -> Iterator[Violation]:
    """Find names that a turn of a loop sets, and that are lost with it."""
    for loop in tree.find_all(nodes.For):
        if any(loop.find_all(_SHARING)):
            continue
        for assignment in _assignments(loop):
            if not isinstance(assignment.target, nodes.Name):
                continue
            name, value = assignment.target.name, assignment.node
            reads_in_loop, reads_in_value = _count_reads(name, loop), _count_reads(name, value)
            is_read_outside = _count_reads(name, tree) > reads_in_loop
            # `n = n + 1` counts, and every turn begins with the value from before the loop.
            is_sum = isinstance(value, (nodes.Add, nodes.Concat)) and reads_in_value > 0
            inside = [*loop.find_all(nodes.Assign)]
            is_set_outside = any(
                isinstance(each.target, nodes.Name) and each.target.name == name
                for each in tree.find_all(nodes.Assign)
                if each not in inside
            )
            is_lost = is_sum or reads_in_loop == reads_in_value
            # Its own turn reads a counter that never counts.
            is_counter = isinstance(value, nodes.Add) and value.right == nodes.Const(1)
            if not is_set_outside:
                is_lost = not _is_bound_outside(name, loop, tree)
            if is_lost and (is_read_outside or (is_counter and is_set_outside)):
                yield Violation(
                    offset=assignment.target.lineno,
                    width=len(name),
                    message=f'"{name}" has this value in one turn of the loop only',
                    hint="make a namespace before the loop, "
                    f"{{% set ns = namespace({name}=...) %}}, and set ns.{name} in it",
                )


def _assignments(loop: nodes.For) -> Iterator[nodes.Assign]:
    """Yield assignments in a loop's own body: not those in loops and macros inside of it."""
    pending: list[nodes.Node] = [*loop.body]
    while pending:
        node = pending.pop()
        if isinstance(node, nodes.Assign):
            yield node
        elif isinstance(node, (nodes.If, nodes.With)):
            pending.extend(node.iter_child_nodes())


def _is_bound_outside(name: str, loop: nodes.For, tree: nodes.Template) -> bool:
    """Report whether anything but the loop gives a name a value."""
    names = [*tree.find_all(nodes.Name)]
    count = sum(each.name == name and each.ctx != "load" for each in names)
    inside = sum(each.name == name and each.ctx != "load" for each in loop.find_all(nodes.Name))
    return count > inside or name in functions.NAMES or any(tree.find_all(_IMPORTING))


def _count_reads(name: str, node: nodes.Node) -> int:
    below = [node, *node.find_all(nodes.Name)]
    return sum(isinstance(n, nodes.Name) and (n.name, n.ctx) == (name, "load") for n in below)


def _never_read(tree: nodes.Template, reads: set[str]) -> Iterator[Violation]:
    """Find names that are set and that no template reads."""
    for assignment in tree.find_all(nodes.Assign):
        target = assignment.target
        if not isinstance(target, nodes.Name) or target.name in reads:
            continue
        # A call may be there for what it does, such as log.
        if target.name.startswith("_") or any(assignment.find_all(nodes.Call)):
            continue
        message = f'"{target.name}" is set and never read'
        offset, width = target.lineno, len(target.name)
        hint = "use it, or take the tag out"
        yield Violation(offset=offset, width=width, message=message, hint=hint)


def _comparisons(tree: nodes.Template, types: Types) -> Iterator[Violation]:
    """Find comparisons of values that can never be equal."""
    for compare in tree.find_all(nodes.Compare):
        left = compare.expr
        for operand in compare.ops:
            kinds = [_WORDS.get(types.of(each), "") for each in (left, operand.expr)]
            # In a chain, each operand is compared with the one before.
            left = operand.expr
            if operand.op not in {"eq", "ne"} or "" in kinds or kinds[0] == kinds[1]:
                continue
            offset = tokens.first_offset(operand.expr)
            result = "false" if operand.op == "eq" else "true"
            message = f"this is always {result}: {kinds[0]} is never equal to {kinds[1]}"
            hint = "compare values of one type"
            yield Violation(offset=offset, message=message, hint=hint)


@_RULES.add
def _loop_numbers(tree: nodes.Template) -> Iterator[Violation]:
    """Find comparisons of a number of a loop with one that it never is."""
    for compare in tree.find_all(nodes.Compare):
        match compare:
            case nodes.Compare(
                expr=nodes.Getattr(node=nodes.Name(name="loop"), attr=attr),
                ops=[nodes.Operand(op="eq" | "ne", expr=other)],
            ) if other == _NEVER.get(attr):
                message = f"loop.{attr} never is this number"
                turn = "first" if attr == "index" else "last"
                hint = f"loop.{turn} is true in the {turn} turn"
                yield Violation(offset=tokens.first_offset(other), message=message, hint=hint)


def _lost_blanks(tree: nodes.Template, text: str) -> Iterator[Violation]:
    """Find keys and items whose indentation a tag in front of them takes away."""
    for data in tree.find_all(nodes.TemplateData):
        begin = text.rfind("\n", 0, data.lineno) + 1
        tags = INDENTED_TAGS.fullmatch(text, begin, data.lineno)
        # The indentation of what is in brackets means nothing.
        is_in_brackets = text[:begin].rstrip().endswith((",", "[", "{"))
        if tags is None or tags["loop"] or is_in_brackets:
            continue
        if _ENTRY.match(data.data):
            message = "the blanks before this tag are taken away, and with them the indentation"
            hint = "write {%+ in its place"
            yield Violation(offset=tags.start("tag"), width=2, message=message, hint=hint)


@_RULES.add
def _conditions(tree: nodes.Template) -> Iterator[Violation]:
    """Find conditions that a text makes true, such as ``x == "a" or "b"``."""
    for node in tree.find_all(_CONDITIONS):
        test = node.test  # type: ignore[attr-defined] # both have it
        for part in (test, *test.find_all(nodes.Or)):
            is_or = isinstance(part, nodes.Or)
            if not is_or or not isinstance(part.left, (nodes.Compare, nodes.Or)):
                continue
            if isinstance(part.right, nodes.Const) and isinstance(part.right.value, str):
                message = "this condition is always true: a text alone is true"
                hint = 'write `value in ["a", "b"]`'
                yield Violation(offset=part.right.lineno, message=message, hint=hint)


@_RULES.add
def _filters(tree: nodes.Template) -> Iterator[Violation]:
    """Find filters whose value and argument have changed places, or whose argument has no name."""
    for node in tree.find_all(nodes.Filter):
        match node:
            case nodes.Filter(
                name="default" | "d", node=nodes.Const(value=str(), lineno=begin), args=[_, *_]
            ) if not all(isinstance(each, nodes.Const) for each in node.args):
                message = "the default is never used: the value before | is a text"
                hint = "write `value | default(text)`"
                yield Violation(offset=begin, message=message, hint=hint)
            case nodes.Filter(
                name="max" | "min" | "sort" | "unique" as name,
                args=[nodes.Const(value=str() as text, lineno=begin), *_],
            ):
                message = f"{name} takes this text for a switch that is on"
                hint = f'write {name}(attribute="{text}") for a field'
                yield Violation(offset=begin, message=message, hint=hint)
