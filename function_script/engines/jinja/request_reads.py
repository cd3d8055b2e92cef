"""Lookups in the request that templates certainly make: by constant names from its parts on.

Names that are set once in all templates of a program are followed, those of loops alone, and
arguments for which all calls of a macro give one part of the request.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from jinja2 import nodes

from function_script.engines.jinja.arguments import count_bindings
from function_script.engines.jinja.functions import REQUEST_PARTS
from function_script.engines.jinja.parser import Template, parse_program
from function_script.engines.lint import (
    ANY,
    CONDITION,
    CONSTANT_TYPES,
    FieldAccess,
    FieldComparison,
    guarded,
    without_defaults,
)
from function_script.request import objects
from function_script.request.program import Program
from function_script.texts.source import Source, span_at

_XR: Final = ("observed", "composite", "resource")
# Functions that take a name: what is above and below it. A list has the objects themselves.
_REQUIRED: Final = (("required_resources",), ("items", ANY, "resource"))
_GETTERS: Final[dict[str, tuple[objects.Path, objects.Path]]] = {
    "get_composed_resource": (("observed", "resources"), ("resource",)),
    "get_extra_resources": _REQUIRED,
    "get_required_resources": _REQUIRED,
}
_ROOTS: Final[dict[str, objects.Path]] = {
    **{name: (name,) for name in REQUEST_PARTS},
    "xr": _XR,
    "spec": (*_XR, "spec"),
    CONDITION: (CONDITION,),
    **{name: above for name, (above, _) in _GETTERS.items()},
}
# An object has these as methods where it has no such field.
_METHODS: Final = frozenset({"get", "items", "keys", "values"})
_DEFAULTS: Final = frozenset({"default", "d"})
# Defaults without a value of their own.
_EMPTY: Final = (nodes.Const(None), nodes.Dict([]), nodes.List([]))
# Filters whose result has the fields of their value.
_CHOICES: Final = frozenset({"selectattr", "rejectattr"})
_SAME_VALUE: Final = _DEFAULTS | _CHOICES | {"sort", "unique", "reverse", "list"}
_EXISTENCE_TESTS: Final = frozenset({"defined", "undefined"})
_GUARDS: Final = (
    *(nodes.If, nodes.CondExpr, nodes.Or, nodes.Not),
    *(nodes.Filter, nodes.Test, nodes.Call),
)
_MAX_HOPS: Final = 20


def find(program: Program) -> list[FieldAccess]:
    """Return the lookups, and the uses of names, in all templates; the program must compile."""
    templates = parse_program(program)
    names = _Names(templates)
    reads: dict[FieldAccess, None] = {}
    for _, source, tree in templates:
        # `is defined` asks for a value, and a call for a method: both read no field.
        tests = [test for test in tree.find_all(nodes.Test) if test.name in _EXISTENCE_TESTS]
        tested = {id(each.node) for each in tests}
        tested |= {id(call.node) for call in tree.find_all(nodes.Call)}
        for node in tree.find_all((nodes.Getattr, nodes.Getitem, nodes.Call, nodes.Filter)):
            path = None if id(node) in tested else names.path(node)
            # A key that only a run knows may be one of many fields.
            for looked_up in _looked_up(node, path if path and path[-1] != ANY else None):
                key = str(looked_up[-1])
                offset = source.text.find(key, node.lineno)
                width = len(key) if offset >= 0 else 1
                span = span_at(source, max(offset, node.lineno), width)
                reads[FieldAccess(looked_up, source, span)] = None
        for name in tree.find_all(nodes.Name):
            span = span_at(source, name.lineno)
            for path in filter(None, map(names.path, names.expand(name))):
                reads[FieldAccess(path, source, span, is_use=True)] = None
    guarded_paths = {path for each in templates for path in _guarded_paths(each.tree, names)}
    return guarded(reads, guarded_paths)


def find_comparisons(program: Program) -> Iterator[FieldComparison]:
    """Yield comparisons of fields with constants, and defaults, in all templates of a program."""
    return without_defaults(_find_comparisons(parse_program(program)))


def _find_comparisons(templates: Sequence[Template]) -> Iterator[FieldComparison]:
    names = _Names(templates)
    for _, source, tree in templates:
        yield from _find_defaults(tree, names, source)
        for compare in tree.find_all(nodes.Compare):
            match compare:
                case nodes.Compare(expr=left, ops=[nodes.Operand(op="eq" | "ne", expr=right)]):
                    pass
                case _:
                    continue
            for field, other in ((left, right), (right, left)):
                path = names.path(field)
                if path is None or not isinstance(other, nodes.Const):
                    continue
                if type(other.value) in CONSTANT_TYPES:
                    span = span_at(source, other.lineno)
                    yield FieldComparison(path, other.value, source, span)


class _Names:
    """The paths of a program's names: parts of the request, or the values they are set to."""

    def __init__(self, templates: Sequence[Template]) -> None:
        trees = [template.tree for template in templates]
        self._values: dict[str, tuple[nodes.Node, objects.Path]] = {}
        counts = count_bindings(trees)
        for tree in trees:
            for node in tree.find_all((nodes.Assign, nodes.With)):
                self._record_binding(node)
        self._values = {name: v for name, v in self._values.items() if counts[name] == 1}
        loops = [
            (loop, *item)
            for tree in trees
            for loop in tree.find_all(nodes.For)
            if (item := _read_loop(loop)) is not None
        ]
        names = Counter(name for _, name, _ in loops)
        # By the id of each use of a name in a loop; inner loops come after outer ones.
        self._items = {
            id(use): (value, (ANY,))
            for loop, name, value in loops
            if names[name] == counts[name]
            for use in loop.find_all(nodes.Name)
            if use.name == name
        }
        self._roots = {name: path for name, path in _ROOTS.items() if not counts[name]}
        arguments = [*_find_arguments(trees, counts)]
        # A macro may hand its own argument to another one.
        for _ in range(min(len(arguments), _MAX_HOPS)):
            for name, (first, *others) in arguments:
                path = self.path(first)
                if path is not None and all(self.path(other) == path for other in others):
                    self._values[name] = (first, ())

    def _record_binding(self, node: nodes.Node) -> None:
        match node:
            case nodes.Assign(target=nodes.Name(name=name), node=value):
                self._values[name] = (value, ())
            case nodes.With(targets=targets, values=values):
                for target, value in zip(targets, values, strict=True):
                    if isinstance(target, nodes.Name):
                        self._values[target.name] = (value, ())

    def path(self, node: nodes.Node | None, hops: int = _MAX_HOPS) -> objects.Path | None:
        """Return the path of an expression's value in the request, or None."""
        if not hops:
            return None
        below: objects.Path = ()
        match node:
            case nodes.Name(name=name) if name in self._roots:
                return self._roots[name]
            case nodes.Name() if (bound := self._value_of(node)) is not None:
                value, below = bound
            case nodes.Filter(node=nodes.Expr() as value, name=name) if name in _SAME_VALUE:
                pass
            case nodes.Filter(node=nodes.Expr() as value, name="first" | "last"):
                below = (ANY,)
            case nodes.Call(node=nodes.Name(name=name), args=[argument, *_]) if (
                name in _GETTERS and name in self._roots
            ):
                return (*self._roots[name], _constant(argument), *_GETTERS[name][1])
            case nodes.Filter(name=name) | nodes.Call(node=nodes.Name(name=name)) if (
                name == CONDITION
            ):
                return self._roots.get(CONDITION)
            case _:
                lookup = _read_lookup(node)
                if lookup is None:
                    return None
                value, below = lookup
        path = self.path(value, hops - 1)
        return None if path is None else (*path, *below)

    def expand(self, name: nodes.Name) -> list[nodes.Node]:
        """Return a name, and all parts of the expressions that it stands for."""
        parts: list[nodes.Node] = [name]
        for part in islice(parts, _MAX_HOPS):
            bound = self._value_of(part) if isinstance(part, nodes.Name) else None
            # Of an object of the template's own, a use may take another part.
            if bound and not isinstance(bound[0], nodes.Literal):
                parts += (bound[0], *bound[0].find_all(nodes.Expr))
        return parts

    def _value_of(self, name: nodes.Name) -> tuple[nodes.Node, objects.Path] | None:
        return self._items.get(id(name)) or self._values.get(name.name)


def _find_calls(trees: Iterable[nodes.Template]) -> dict[str, list[nodes.Call]]:
    """Return the calls of names, without those whose arguments only a run knows."""
    calls: dict[str, list[nodes.Call]] = {}
    for tree in trees:
        for call in tree.find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and not (call.dyn_args or call.dyn_kwargs):
                calls.setdefault(call.node.name, []).append(call)
    return calls


def _find_arguments(
    trees: Sequence[nodes.Template], counts: Mapping[str, int]
) -> Iterator[tuple[str, list[nodes.Expr]]]:
    """Yield the parameters of macros, by names of one meaning, with the values of all calls.

    None of a macro that is imported, used in another way than by calls, or called without it.
    """
    macros = [macro for tree in trees for macro in tree.find_all(nodes.Macro)]
    uses = Counter(name.name for tree in trees for name in tree.find_all(nodes.Name))
    attributes = {each.attr for tree in trees for each in tree.find_all(nodes.Getattr)}
    attributes.update(
        name if isinstance(name, str) else name[0]
        for tree in trees
        for each in tree.find_all(nodes.FromImport)
        for name in each.names
    )
    calls = _find_calls(trees) if macros else {}
    for macro in macros:
        own = calls.get(macro.name, [])
        if macro.name in attributes or counts[macro.name] != 1 or len(own) != uses[macro.name]:
            continue
        for index, parameter in enumerate(macro.args):
            values = [
                value
                for call in own
                for value in (
                    *call.args[index : index + 1],
                    *(each.value for each in call.kwargs if each.key == parameter.name),
                )
            ]
            if counts[parameter.name] == 1 and len(values) == len(own) > 0:
                yield parameter.name, values


def _read_loop(loop: nodes.For) -> tuple[str, nodes.Node] | None:
    """Return the name of a loop's items, and the value that has them; None for another loop."""
    match loop:
        case nodes.For(target=nodes.Name(name=name), iter=value):
            return name, value
        case nodes.For(
            target=nodes.Tuple(items=[_, nodes.Name(name=name)]),
            iter=nodes.Filter(node=nodes.Expr() as value, name="items" | "dictsort")
            | nodes.Call(node=nodes.Getattr(node=value, attr="items")),
        ):
            return name, value
        case _:
            return None


def _read_lookup(node: nodes.Node | None) -> tuple[nodes.Node, objects.Path] | None:
    """Return the value that a node looks into, and the keys there; None for another node."""
    match node:
        case nodes.Getattr(node=value, attr=key) if key not in _METHODS:
            return value, (key,)
        case nodes.Getitem(node=value, arg=argument) if not isinstance(argument, nodes.Slice):
            return value, (_constant(argument),)
        case nodes.Call(node=nodes.Getattr(node=value, attr="get"), args=[argument, *_]):
            return value, (_constant(argument),)
        case (
            nodes.Call(node=nodes.Name(name="get"), args=[value, argument, *_])
            | nodes.Filter(node=nodes.Expr() as value, name="get", args=[argument, *_])
        ):
            return value, _path_argument(argument)
        case _:
            return None


def _looked_up(node: nodes.Node, path: objects.Path | None) -> Iterator[objects.Path]:
    """Yield the paths of the fields that a node looks up: a getter, each part of its argument."""
    lookup = _read_lookup(node)
    match node:
        case nodes.Filter(name=name, args=[argument, *_]) if path and name in _CHOICES:
            yield (*path, ANY, *_path_argument(argument)[:1])
    if path is not None and lookup is not None:
        for end in range(len(path) - len(lookup[1]) + 1, len(path) + 1):
            if isinstance(path[end - 1], str):
                yield path[:end]


def _find_defaults(
    tree: nodes.Template, names: _Names, source: Source
) -> Iterator[FieldComparison]:
    """Yield the values in place of absent fields; of true, those in place of false, too."""
    for node in tree.find_all((nodes.Filter, nodes.Call, nodes.Or)):
        field: nodes.Expr = node
        match node:
            case nodes.Or(left=field, right=nodes.Const(value=True) as right):
                values = [right, right]
            case (
                nodes.Filter(name="default" | "d", args=values)
                | nodes.Filter(name="get", args=[_, *values])
                | nodes.Call(node=nodes.Getattr(attr="get"), args=[_, *values])
                | nodes.Call(node=nodes.Name(name="get"), args=[_, _, *values])
            ):
                pass
            case _:
                continue
        named = [] if isinstance(node, nodes.Or) else [each.value for each in node.kwargs]
        path = names.path(field)
        for value in (*values[:1], *named):
            constant = value.value if isinstance(value, nodes.Const) else None
            if constant is True and values[1:] != [value]:
                constant = None
            if path and value not in _EMPTY:
                span = span_at(source, value.lineno)
                yield FieldComparison(path, constant, source, span, is_default=True)


def _guarded_paths(tree: nodes.Template, names: _Names) -> Iterator[objects.Path]:
    """Yield paths that the templates test for: lookups of these may fail without an error."""
    for node in tree.find_all(_GUARDS):
        match node:
            case nodes.If(test=guard) | nodes.CondExpr(test=guard) | nodes.Or(left=guard):
                pass
            case nodes.Filter(node=nodes.Expr() as guard, name=name) if name in _DEFAULTS:
                pass
            case nodes.Test(node=guard, name=name) if name in _EXISTENCE_TESTS:
                pass
            case nodes.Not(node=guard):
                pass
            case nodes.Call() | nodes.Filter(name="get" | "selectattr" | "rejectattr"):
                yield from _looked_up(node, names.path(node))
                continue
            case _:
                continue
        for below in (guard, *guard.find_all(nodes.Expr)):
            path = names.path(below)
            if path is not None:
                yield path


def _constant(node: nodes.Node) -> str | int:
    return node.value if isinstance(node, nodes.Const) and isinstance(node.value, str) else ANY


def _path_argument(node: nodes.Node) -> objects.Path:
    """Return the path argument of a getter; (ANY,) when it is computed."""
    match node:
        case nodes.Const(value=str(text)):
            return objects.read_path(text) or (ANY,)
        case nodes.List(items=parts):
            return tuple(_constant(part) for part in parts)
        case _:
            return (ANY,)
