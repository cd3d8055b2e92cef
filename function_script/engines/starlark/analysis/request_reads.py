"""The fields of the request that a script certainly reads, for `check`.

Lookups are followed from the parameter of `main` on, through names that are bound once or by loops
alone, and into the functions that it calls.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

from function_script.engines.lint import (
    ANY,
    LIBRARY,
    FieldAccess,
    FieldComparison,
    guarded,
    unchanged,
    without_defaults,
)
from function_script.engines.starlark.analysis import syntax
from function_script.engines.starlark.analysis.names import GETTERS, Bindings, Value, find_object
from function_script.request import lazy, objects
from function_script.request.objects import Path
from function_script.request.program import Program
from function_script.texts.source import Source

_MAX_HOPS: Final = 20
_Parts: TypeAlias = tuple[Path, Path, ast.expr | None]


def find(program: Program) -> list[FieldAccess]:
    """Return the lookups, and the uses of names, in all functions that get parts of the request."""
    functions = [*_find_functions(program)]
    accesses = [access for each in functions for access in each.reads()]
    changed = [path for each in functions for path in each.changed()]
    tested = {path for each in functions for path in each.tested()}
    return guarded(unchanged(accesses, changed), tested)


def find_comparisons(program: Program) -> Iterator[FieldComparison]:
    """Return the comparisons of fields with constants, without values that the script changes."""
    functions = [*_find_functions(program)]
    comparisons = (each for function in functions for each in function.comparisons())
    changed = (path for each in functions for path in each.changed())
    return without_defaults(unchanged(comparisons, changed))


def _find_functions(program: Program) -> Iterator["_Function"]:
    """Yield the functions that get parts of the request."""
    parsed = [(source, syntax.parse(source.text)) for source in program.sources()]
    trees = [tree for _, tree in parsed if tree is not None]
    # A source that nobody can read may call functions of the others.
    for function, lookups, of_tree in trace(trees if len(trees) == len(parsed) else ()):
        source = next(source for source, tree in parsed if tree is of_tree)
        yield _Function(function=function, lookups=lookups, source=source)


def trace(trees: Sequence[ast.Module]) -> Iterator[tuple[ast.FunctionDef, "Lookups", ast.Module]]:
    """Yield each function that certainly gets parts of the request, from `main` on.

    A parameter has the path that all calls of its function pass to it. Nothing is known of a
    function that is used in another way than by calls, or that calls itself.
    """
    bindings = Bindings.of(trees)
    functions = {
        node.name: (node, tree)
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        if all(
            bindings.is_certain(name) and len(bindings.defined(name)) == 1
            for name in bindings.names_of(node.name)
        )
    }
    origins = {alias: name for name in functions for alias in bindings.names_of(name)}
    nodes = [node for tree in trees for node in ast.walk(tree)]
    uses = Counter(origins.get(node.id) for node in nodes if isinstance(node, ast.Name))
    calls: dict[str, list[dict[str, Path | None]]] = {name: [] for name in functions}
    pending = ["main"] if "main" in functions else []
    for name in pending:
        function, tree = functions[name]
        arguments = [{each.arg: ()} for each in function.args.args[:1]] or [{}]
        paths = arguments if name == "main" else calls[name]
        local = Bindings.of([function])
        # A name that is bound again may stand for anything.
        parts = {
            key: path
            for key, path in paths[0].items()
            if path is not None and local.counts[key] == 1
            if all(each.get(key) == path for each in paths)
        }
        parts |= {name: (name,) for name in (*LIBRARY, *GETTERS) if not bindings.is_bound(name)}
        values, loops = local.single_values(), local.loop_values(function)
        lookups = Lookups(parts=parts, values=values, loop_values=loops)
        yield function, lookups, tree
        for call in ast.walk(function):
            match call:
                case ast.Call(func=ast.Name(id=alias)) if alias in origins:
                    callee = origins[alias]
                    names = (each.arg for each in functions[callee][0].args.args)
                    passed = syntax.bind_arguments(call, names)
                    calls[callee].append({key: lookups.path(each) for key, each in passed.items()})
                    if len(calls[callee]) == uses[callee]:
                        pending.append(callee)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookups:
    """Lookups in the parts of the request that have names; see `Bindings` for other names."""

    parts: Mapping[str, Path]
    values: Mapping[str, Value]
    loop_values: Mapping[int, Value]

    def split(self, node: ast.AST, hops: int = _MAX_HOPS) -> _Parts | None:
        """Return the path that a node looks into, the keys there, and the node that has them.

        None where it is no lookup, or not one in the request.
        """
        match node:
            case (
                ast.Subscript(value=value, slice=place)
                | ast.Call(func=ast.Attribute(value=value, attr="get"), args=[place, *_])
            ) if not isinstance(place, ast.Slice):
                base = self.path(value, hops)
                return None if base is None else (base, (_constant(place),), place)
            case ast.Call(func=ast.Name(id=name), args=[value, *others]):
                base = self.path(value, hops)
            case _:
                return None
        if name == "get":
            argument = others[0] if others else None
        else:
            target = find_object(name, others) if base == () and name in self.parts else None
            names, argument = target or ((), None)
            base = tuple(ANY if each == lazy.ANY else each for each in names) if target else None
        return None if base is None else (base, _path_argument(argument), argument)

    def path(self, node: ast.expr, hops: int = _MAX_HOPS) -> Path | None:
        """Return the path of an expression's value in the request; None when it is elsewhere."""
        if not hops:
            return None
        match node:
            case ast.Name(id=name) if name in self.parts and name not in GETTERS:
                return self.parts[name]
            case ast.Call(func=ast.Name(id=name)) if name in LIBRARY and name in self.parts:
                return (name,)
            case ast.Call(func=ast.Name(id="get_required" as name), args=[_, place, *_]) if (
                name in self.parts
            ):
                # The objects, without what is around each of them.
                return ("required_resources", _constant(place), "items", ANY, "resource")
            case ast.Name() if (value := self._value_of(node)) is not None:
                path = self.path(value.expression, hops - 1)
                return (*path, ANY) if path is not None and value.is_item else path
            # `value or {}` has the path of the value: an empty one has no fields to read.
            case ast.BoolOp(op=ast.Or(), values=[value, *others]) if all(map(_is_empty, others)):
                return self.path(value, hops - 1)
            case _:
                lookup = self.split(node, hops - 1)
                return None if lookup is None else (*lookup[0], *lookup[1])

    def expand(self, name: ast.Name) -> list[ast.expr]:
        """Return a name, and all parts of the expressions that it stands for."""
        nodes: list[ast.expr] = [name]
        for node in islice(nodes, _MAX_HOPS):
            value = self._value_of(node) if isinstance(node, ast.Name) else None
            inner = [] if value is None else [*ast.walk(value.expression)]
            # Of an object of the script's own, a use may take another part.
            if inner and not isinstance(inner[0], (ast.Dict, ast.List)):
                nodes += (each for each in inner if isinstance(each, ast.expr))
        return nodes

    def _value_of(self, name: ast.Name) -> Value | None:
        return self.loop_values.get(id(name)) or self.values.get(name.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Function:
    """A function, and the lookups in the parts of the request that it gets."""

    function: ast.FunctionDef
    lookups: Lookups
    source: Source

    def reads(self) -> Iterator[FieldAccess]:
        """Yield the lookups and uses, also those below values that the script changes."""
        for node in ast.walk(self.function):
            yield from self._of(node)
            if isinstance(node, ast.Name):
                span = syntax.span_of(node, self.source)
                for path in filter(None, map(self.lookups.path, self.lookups.expand(node))):
                    yield FieldAccess(path, self.source, span, is_use=True)

    def comparisons(self) -> Iterator[FieldComparison]:
        """Yield the comparisons and defaults, also those of values that the script changes."""
        for node in ast.walk(self.function):
            match node:
                case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
                    pairs = [(left, right), (right, left)]
                case ast.BoolOp(op=ast.Or(), values=[_, *values]):
                    pairs = [(node, value) for value in values]
                case ast.Call() if lookup := self.lookups.split(node):
                    values = [*node.args, *(each.value for each in node.keywords)]
                    # A default is behind the key.
                    keys = (at for at, value in enumerate(values, 1) if value is lookup[2])
                    pairs = [(node, value) for value in values[next(keys, len(values)) :]]
                case _:
                    continue
            is_default = not isinstance(node, ast.Compare)
            for field, other in pairs:
                path = self.lookups.path(field)
                constant = other.value if isinstance(other, ast.Constant) else None
                value = constant if isinstance(constant, (str, float, int)) else None
                # A getter keeps false.
                value = None if value is True and isinstance(node, ast.Call) else value
                if path and (value is not None or (is_default and not _is_empty(other))):
                    span = syntax.span_of(other, self.source)
                    yield FieldComparison(path, value, self.source, span, is_default)

    def changed(self) -> Iterator[Path]:
        """Yield the values that the script changes in place: their keys may be its own."""
        for node in ast.walk(self.function):
            value = syntax.changed_value(node)
            path = self.lookups.path(value) if value is not None else None
            if path is not None:
                yield path

    def tested(self) -> Iterator[Path]:
        """Yield the fields of `"key" in value`, `get` and getters: they may be absent."""
        for node in ast.walk(self.function):
            match node:
                case ast.Compare(
                    left=ast.Constant(value=str(key)),
                    ops=[ast.In() | ast.NotIn()],
                    comparators=[value],
                ):
                    path = self.lookups.path(value)
                    if path is not None:
                        yield (*path, key)
                case ast.Call():
                    yield from (read.path for read in self._of(node))

    def _of(self, node: ast.AST) -> Iterator[FieldAccess]:
        """Yield the lookups that one node makes, the outermost key last."""
        is_write = isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
        lookup = None if is_write else self.lookups.split(node)
        if lookup is None:
            return
        base, keys, place = lookup
        for end, key in enumerate(keys, 1):
            if isinstance(key, str) and place is not None:
                span = syntax.span_of(place, self.source)
                yield FieldAccess((*base, *keys[:end]), self.source, span)


def _constant(node: ast.expr) -> str | int:
    text = syntax.text_of(node)
    return ANY if text is None else text


def _is_empty(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or ast.unparse(node) in {"{}", "[]"}


def _path_argument(node: ast.expr | None) -> Path:
    """Return the path in a getter's argument, a text or a list of parts; ANY for other values."""
    match node:
        case None | ast.Constant(value=None):
            return ()
        case ast.Constant(value=str(text)):
            return objects.read_path(text) or (ANY,)
        case ast.List(elts=parts):
            return tuple(_constant(part) for part in parts)
        case _:
            return (ANY,)
