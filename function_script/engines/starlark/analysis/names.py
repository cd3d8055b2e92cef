"""The names that sources of a script bind, and to what: the one resolver of all analyses.

Scopes are not distinguished: two variables of one name count as one.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from function_script.engines.starlark.analysis import syntax
from function_script.engines.starlark.analysis.paths import Path
from function_script.request.lazy import ANY
from function_script.request.objects import ENVIRONMENT, WATCHED

_Node = TypeVar("_Node", bound=ast.AST)

# For a name that the script writes out.
_NAMED: Final[Mapping[str, Sequence[Path]]] = {
    "get_observed": [("observed", "resources")],
    "is_observed": [("observed", "resources")],
    "get_desired": [("desired", "resources")],
    "get_connection_details": [("observed", "resources")],
    "get_required": [("required_resources",), ("extra_resources",)],
    "get_credentials": [("credentials",)],
}
# In any case.
_WHOLE: Final[Mapping[str, Sequence[Path]]] = {
    **_NAMED,
    # Without a name, the composite resource's own.
    "get_connection_details": [("observed", "resources"), ("observed", "composite")],
    "get_environment": [("context", ENVIRONMENT)],
    "get_watched": [("required_resources", WATCHED), ("extra_resources", WATCHED)],
    "has_capability": [("meta",)],
    "get_xr": [("observed", "composite")],
}
OBJECT_GETTERS: Final[Mapping[str, tuple[Path, int]]] = {
    "get_xr": (("observed", "composite", "resource"), 0),
    "get_observed": (("observed", "resources"), 1),
    "get_desired": (("desired", "resources"), 1),
}
"""Getters that give a resource's object: the path, and how many names follow in the call."""
GETTERS: Final = (*OBJECT_GETTERS, "get_required")
_OBJECT: Final = "resource"


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """The value that a name is bound to: that of an expression, or an item of it."""

    expression: ast.expr
    is_item: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bindings:
    """The bindings of names.

    ``functions`` are by name, ``loaded`` has the symbols that load statements give a name.
    ``counts`` is how often assignments, loops, parameters and functions bind a name; ``values``
    are the last of those bindings that have a value. ``variables`` are the names that are bound to
    anything but a function.
    """

    functions: Mapping[str, list[ast.FunctionDef]]
    loaded: Mapping[str, set[str]]
    variables: frozenset[str]
    counts: Mapping[str, int]
    values: Mapping[str, Value]

    @classmethod
    def of(cls, trees: Iterable[ast.AST]) -> Bindings:
        """Collect the bindings in these trees, of whole sources or of a function."""
        functions: dict[str, list[ast.FunctionDef]] = {}
        loaded: dict[str, set[str]] = {}
        variables: Counter[str] = Counter()
        values: dict[str, Value] = {}
        for node in (node for tree in trees for node in ast.walk(tree)):
            match node:
                case ast.FunctionDef(name=name):
                    functions.setdefault(name, []).append(node)
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    variables[name] += 1
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    values[name] = Value(expression=value)
                case (
                    ast.For(target=target, iter=iterated)
                    | ast.comprehension(target=target, iter=iterated)
                ):
                    values.update(_items(target, iterated))
                case ast.Call(func=ast.Name(id="load")):
                    for name, symbol in _loads(node):
                        loaded.setdefault(name, set()).add(symbol)
        return cls(
            functions=functions,
            loaded=loaded,
            variables=frozenset(variables),
            counts=variables + Counter({name: len(each) for name, each in functions.items()}),
            values=values,
        )

    def single_values(self) -> dict[str, Value]:
        """Return the values of those names that are bound once."""
        return {name: value for name, value in self.values.items() if self.counts[name] == 1}

    def loop_values(self, tree: ast.AST) -> dict[int, Value]:
        """Return the values of the uses of names that loops alone bind, by the id of each use.

        Inside of a loop or a comprehension, its name is an item of its own.
        """
        loops = [
            (node, name, value)
            for node in ast.walk(tree)
            for loop in ([node] if isinstance(node, ast.For) else getattr(node, "generators", ()))
            for name, value in _items(loop.target, loop.iter)
        ]
        counts = Counter(name for _, name, _ in loops)
        # Inner loops come after outer ones.
        return {
            id(use): value
            for node, name, value in loops
            if counts[name] == self.counts[name]
            for use in ast.walk(node)
            if isinstance(use, ast.Name) and use.id == name
        }

    def defined(self, name: str) -> list[ast.FunctionDef]:
        """Return the functions that a name may stand for."""
        return [
            function for alias in self._aliases(name) for function in self.functions.get(alias, [])
        ]

    def is_certain(self, name: str) -> bool:
        """Report whether a name stands for nothing but the functions that are defined."""
        aliases = self._aliases(name)
        return not aliases & self.variables and all(
            alias in self.functions or alias in self.loaded for alias in aliases
        )

    def is_bound(self, name: str) -> bool:
        """Report whether the sources give this name a meaning of their own."""
        return name in self.functions or name in self.loaded or name in self.variables

    def names_of(self, name: str) -> set[str]:
        """Return the name, and the names that load statements give it."""
        loads = ((alias, symbol) for alias, names in self.loaded.items() for symbol in names)
        return {name, *(alias for alias, symbol in loads if symbol == name)}

    def _aliases(self, name: str) -> set[str]:
        """Return the name, and its names in the modules it may be loaded from."""
        names, pending = {name}, [name]
        while pending:
            new = self.loaded.get(pending.pop(), set()) - names
            names |= new
            pending += new
        return names


def _items(target: ast.expr, iterated: ast.expr) -> Iterator[tuple[str, Value]]:
    """Yield the name that a loop binds to items, and the expression that has them."""
    match target, iterated:
        case (
            (
                ast.Tuple(elts=[_, ast.Name(id=name)]),
                ast.Call(func=ast.Attribute(value=items, attr="items"))
                | ast.Call(func=ast.Name(id="enumerate"), args=[items, *_]),
            )
            | (ast.Name(id=name), ast.Call(func=ast.Attribute(value=items, attr="values")))
            | (ast.Name(id=name), ast.Call(func=ast.Name(id="sorted"), args=[items, *_]))
        ):
            yield name, Value(expression=items, is_item=True)
        case ast.Name(id=name), _:
            yield name, Value(expression=iterated, is_item=True)


def _loads(call: ast.Call) -> list[tuple[str, str]]:
    """Return the name that each symbol of a load statement gets, and its name in the module."""
    same = [(arg.value, arg.value) for arg in call.args[1:] if isinstance(arg, ast.Constant)]
    renamed = [
        (keyword.arg, keyword.value.value)
        for keyword in call.keywords
        if isinstance(keyword.value, ast.Constant)
    ]
    return [(str(name), str(symbol)) for name, symbol in [*same, *renamed]]


def branches(getter: str, name: object) -> Sequence[Path]:
    """Return the branches that a call with the request looks into; all for an unknown function.

    ``name`` is the second argument where the script writes it out.
    """
    if getter in _NAMED and isinstance(name, str):
        return [(*path, name) for path in _NAMED[getter]]
    return _WHOLE.get(getter, [()])


def find_object(getter: str, arguments: Sequence[_Node]) -> tuple[Path, _Node | None] | None:
    """Return the object that a call gives a field of, and the field's argument, None without one.

    ``arguments`` follow the request. A name that is computed may be that of ANY resource. None
    where the names are not clear, and for other functions.
    """
    if getter not in OBJECT_GETTERS:
        return None
    path, count = OBJECT_GETTERS[getter]
    names = arguments[:count]
    if len(names) < count or any(isinstance(each, (ast.Starred, ast.keyword)) for each in names):
        return None
    texts = [ANY if (text := syntax.text_of(each)) is None else text for each in names]
    return (*path, *texts, *([_OBJECT] if texts else [])), next(iter(arguments[count:]), None)
