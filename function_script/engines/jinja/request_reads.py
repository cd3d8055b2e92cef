"""What templates certainly read of the request: lookups by name from the parts of it on.

Called by the tool that looks for mistakes. Follows names that are set once in all the templates
of a program; what a macro is given is not followed.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from jinja2 import nodes

from function_script import objects
from function_script.engines.jinja import parsing
from function_script.engines.jinja.environment import Environment
from function_script.engines.jinja.positions import Place
from function_script.engines.jinja.scope import REQUEST_PARTS
from function_script.engines.reads import ANY, FieldAccess, guarded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.objects import Path
    from function_script.program import Program
    from function_script.source import Source

_XR: Final = ("observed", "composite", "resource")
_ROOTS: Final[dict[str, Path]] = {
    **{name: (name,) for name in REQUEST_PARTS},
    "xr": _XR,
    "spec": (*_XR, "spec"),
}
# An object has these as methods where it has no such field.
_METHODS: Final = frozenset({"get", "items", "keys", "values"})
_DEFAULTS: Final = frozenset({"default", "d"})
_SAME_ITEMS: Final = frozenset({"sort", "unique", "reverse", "list"})
_ASKING: Final = frozenset({"defined", "undefined"})
_GUARDS: Final = (
    *(nodes.If, nodes.CondExpr, nodes.Or, nodes.Not),
    *(nodes.Filter, nodes.Test, nodes.Call),
)
_MAX_HOPS: Final = 20


def find(program: Program) -> list[FieldAccess]:
    """The lookups in all templates of a program that compiles."""
    environment = Environment()
    sources = (program.main, *program.modules.values())
    trees = [parsing.parse(environment, source.text) for source in sources]
    names = _Names(trees)
    found = [
        read
        for source, tree in zip(sources, trees, strict=True)
        for read in _reads(tree, source, names)
    ]
    asked = {path for tree in trees for path in _asked(tree, names)}
    return guarded(dict.fromkeys(found), asked)


class _Names:
    """What the names of a program stand for: parts of the request, or what they are set to."""

    def __init__(self, trees: list[nodes.Template]) -> None:
        self._values: dict[str, tuple[nodes.Node, Path]] = {}
        bound: Counter[str] = Counter()
        for tree in trees:
            bound.update(node.name for node in tree.find_all(nodes.Name) if node.ctx != "load")
            bound.update(_imported(tree))
            for node in tree.find_all((nodes.Assign, nodes.For, nodes.With)):
                self._bind(node)
        self._values = {name: v for name, v in self._values.items() if bound[name] == 1}
        self._roots = {name: path for name, path in _ROOTS.items() if not bound[name]}

    def _bind(self, node: nodes.Node) -> None:
        match node:
            case nodes.Assign(target=nodes.Name(name=name), node=value):
                self._values[name] = (value, ())
            case nodes.For(target=nodes.Name(name=name), iter=value):
                self._values[name] = (value, (ANY,))
            case nodes.For(
                target=nodes.Tuple(items=[_, nodes.Name(name=name)]),
                iter=nodes.Filter(node=nodes.Expr() as value, name="items" | "dictsort")
                | nodes.Call(node=nodes.Getattr(node=value, attr="items")),
            ):
                self._values[name] = (value, (ANY,))
            case nodes.With(targets=targets, values=values):
                for target, value in zip(targets, values, strict=True):
                    if isinstance(target, nodes.Name):
                        self._values[target.name] = (value, ())
            case _:
                pass

    def path(self, node: nodes.Node | None, hops: int = _MAX_HOPS) -> Path | None:
        """Where in the request the value of an expression stands."""
        if not hops:
            return None
        match node:
            case nodes.Name(name=name) if name in self._roots:
                return self._roots[name]
            case nodes.Name(name=name) if name in self._values:
                value, below = self._values[name]
                return _join(self.path(value, hops - 1), below)
            case nodes.Getattr(node=value, attr=key) if key not in _METHODS:
                return _join(self.path(value, hops - 1), (key,))
            case nodes.Getitem(node=value, arg=argument) if not isinstance(argument, nodes.Slice):
                return _join(self.path(value, hops - 1), (_constant(argument),))
            case nodes.Filter(node=value, name=name) if name in _DEFAULTS | _SAME_ITEMS:
                return self.path(value, hops - 1)
        return self._called(node, hops)

    def _called(self, node: nodes.Node | None, hops: int) -> Path | None:
        """Where the value of a getter stands."""
        match node:
            case nodes.Call(node=nodes.Getattr(node=value, attr="get"), args=[key, *_]):
                return _join(self.path(value, hops - 1), (_constant(key),))
            case (
                nodes.Call(node=nodes.Name(name="get"), args=[value, given, *_])
                | nodes.Filter(node=nodes.Expr() as value, name="get", args=[given, *_])
            ):
                return _join(self.path(value, hops - 1), _given(given))
            case _:
                pass
        return None


def _reads(tree: nodes.Template, source: Source, names: _Names) -> Iterator[FieldAccess]:
    asked = {id(test.node) for test in tree.find_all(nodes.Test) if test.name in _ASKING}
    kinds = (nodes.Getattr, nodes.Getitem, nodes.Call, nodes.Filter)
    for node in tree.find_all(kinds):
        path = None if id(node) in asked else names.path(node)
        if path is None or not isinstance(path[-1], str):
            continue
        # A getter that is given a path looks up each part of it.
        for end in range(len(path) - _parts(node) + 1, len(path) + 1):
            key = path[end - 1]
            if isinstance(key, str):
                span = Place(source=source, line=node.lineno).span(key)
                yield FieldAccess(path[:end], source, span)


def _asked(tree: nodes.Template, names: _Names) -> Iterator[Path]:
    """What the templates ask for: there nothing fails for what does not exist."""
    for node in tree.find_all(_GUARDS):
        match node:
            case nodes.If(test=guard) | nodes.CondExpr(test=guard) | nodes.Or(left=guard):
                pass
            case nodes.Filter(node=nodes.Expr() as guard, name=name) if name in _DEFAULTS:
                pass
            case nodes.Test(node=guard, name=name) if name in _ASKING:
                pass
            case nodes.Not(node=guard):
                pass
            case nodes.Call() | nodes.Filter(name="get"):
                # Getters look up each part of a path that they are given.
                path = names.path(node)
                if path is not None:
                    yield from (
                        path[:end] for end in range(len(path) - _parts(node) + 1, len(path) + 1)
                    )
                continue
            case _:
                continue
        for below in (guard, *guard.find_all(nodes.Expr)):
            path = names.path(below)
            if path is not None:
                yield path


def _parts(node: nodes.Node) -> int:
    """How many parts of a path a node looks up itself."""
    match node:
        case nodes.Getattr() | nodes.Getitem():
            return 1
        case nodes.Call(node=nodes.Getattr(attr="get")):
            return 1
        case (
            nodes.Call(node=nodes.Name(name="get"), args=[_, given, *_])
            | nodes.Filter(name="get", args=[given, *_])
        ):
            return len(_given(given))
        case _:
            pass
    return 0


def _imported(tree: nodes.Template) -> Iterator[str]:
    """Names that are bound otherwise than by assignments: macros and imports."""
    for node in tree.find_all((nodes.Macro, nodes.Import, nodes.FromImport)):
        match node:
            case nodes.Macro(name=name) | nodes.Import(target=name):
                yield name
            case nodes.FromImport(names=names):
                yield from (name if isinstance(name, str) else name[1] for name in names)
            case _:
                pass


def _join(path: Path | None, below: Path) -> Path | None:
    return None if path is None else (*path, *below)


def _constant(node: nodes.Node) -> str | int:
    return node.value if isinstance(node, nodes.Const) and isinstance(node.value, str) else ANY


def _given(node: nodes.Node) -> Path:
    """The path that a getter is given; (ANY,) when it is computed."""
    match node:
        case nodes.Const(value=str(text)):
            try:
                return objects.parse_path(text)
            except ValueError:
                return (ANY,)
        case nodes.List(items=parts):
            return tuple(_constant(part) for part in parts)
        case _:
            pass
    return (ANY,)
