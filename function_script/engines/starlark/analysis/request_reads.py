"""The fields of the request that a script certainly reads, for `check`.

Lookups are followed from the parameter of `main` on, through names that are bound once or by loops
alone, and not into other functions.
"""

import ast
from collections.abc import Collection, Iterator, Mapping
from typing import Final, TypeAlias

from function_script.engines.lint import (
    ANY,
    CONSTANT_TYPES,
    FieldAccess,
    FieldComparison,
    guarded,
    unchanged,
)
from function_script.engines.starlark.analysis import syntax
from function_script.engines.starlark.analysis.names import OBJECT_GETTERS, Bindings, Value
from function_script.request import objects
from function_script.request.objects import Path
from function_script.request.program import Program
from function_script.texts.source import Source

_MAX_HOPS: Final = 20
_Parts: TypeAlias = tuple[Path, Path, ast.expr | None]


def find(program: Program) -> list[FieldAccess]:
    """Return the lookups in `main` of the program's main source."""
    return [read for main in _find_main(program) for read in main.reads()]


def find_comparisons(program: Program) -> Iterator[FieldComparison]:
    """Yield the comparisons of fields with constants, in `main` of the main source."""
    for main in _find_main(program):
        yield from main.comparisons()


def _find_main(program: Program) -> Iterator["_Main"]:
    """Yield the function of this name that has one parameter."""
    tree = syntax.parse(program.main.text)
    for node in tree.body if tree is not None else ():
        match node:
            case ast.FunctionDef(name="main", args=ast.arguments(args=[ast.arg(arg=request)])):
                yield _Main(node, request, program.main)


class Lookups:
    """Lookups in the request, which has the names ``requests``; ``values`` are those of others.

    ``loop_values`` are those of names in loops, see `Bindings`.
    ``trusts_getters``: a name that nothing is known of is the request where a getter gets it.
    """

    def __init__(
        self,
        requests: Collection[str],
        values: Mapping[str, Value],
        loop_values: Mapping[int, Value],
        *,
        trusts_getters: bool = False,
    ) -> None:
        self._requests = requests
        self._values = values
        self._loop_values = loop_values
        self._trusts_getters = trusts_getters

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
                if self._trusts_getters and base is None and isinstance(value, ast.Name):
                    base = () if name in OBJECT_GETTERS else None
            case _:
                return None
        if name in OBJECT_GETTERS and base == ():
            start, count = OBJECT_GETTERS[name]
            names, others = others[:count], others[count:]
            base = (*start, *map(_constant, names), *(["resource"] if count else []))
            if len(names) < count:
                return None
        elif name != "get" or base is None:
            return None
        argument = others[0] if others else None
        return base, _path_argument(argument), argument

    def path(self, node: ast.expr, hops: int = _MAX_HOPS) -> Path | None:
        """Return the path of an expression's value in the request; None when it is elsewhere."""
        if not hops:
            return None
        match node:
            case ast.Name(id=name) if name in self._requests:
                return ()
            case ast.Name(id=name) if name in self._values or id(node) in self._loop_values:
                value = self._loop_values.get(id(node)) or self._values[name]
                path = self.path(value.expression, hops - 1)
                return (*path, ANY) if path is not None and value.is_item else path
            # `value or {}` has the path of the value: an empty one has no fields to read.
            case ast.BoolOp(op=ast.Or(), values=[value, *others]) if all(map(_is_empty, others)):
                return self.path(value, hops - 1)
            case _:
                lookup = self.split(node, hops - 1)
                return None if lookup is None else (*lookup[0], *lookup[1])


class _Main:
    """The function `main`, and the values that names in it are bound to once."""

    def __init__(self, function: ast.FunctionDef, request: str, source: Source) -> None:
        bindings = Bindings.of([function])
        self._function = function
        self._source = source
        # A name that is bound again may stand for anything.
        requests = [request] if bindings.counts[request] == 1 else []
        loop_values = bindings.loop_values(function)
        self._lookups = Lookups(requests, bindings.single_values(), loop_values)

    def reads(self) -> list[FieldAccess]:
        """Return the lookups, without those below values that the script changes."""
        accesses = [access for node in ast.walk(self._function) for access in self._of(node)]
        return guarded(unchanged(accesses, self._changed()), set(self._tested()))

    def comparisons(self) -> Iterator[FieldComparison]:
        """Yield the comparisons, without those of values that the script changes."""
        changed = [*self._changed()]
        for node in ast.walk(self._function):
            match node:
                case ast.BoolOp(op=ast.Or(), values=[left, ast.Constant(value=True) as right]):
                    if path := self._lookups.path(left):
                        span = syntax.span_of(right, self._source)
                        yield FieldComparison(path, "boolean", self._source, span, is_default=True)
                    continue
                case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
                    pass
                case _:
                    continue
            for field, other in ((left, right), (right, left)):
                path = self._lookups.path(field)
                if not path or not isinstance(other, ast.Constant):
                    continue
                kind = CONSTANT_TYPES.get(type(other.value))
                if kind is None or any(path[: len(prefix)] == prefix for prefix in changed):
                    continue
                span = syntax.span_of(other, self._source)
                yield FieldComparison(path, kind, self._source, span)

    def _changed(self) -> Iterator[Path]:
        """Yield the values that the script changes in place: their keys may be its own."""
        for node in ast.walk(self._function):
            value = syntax.changed_value(node)
            path = self._lookups.path(value) if value is not None else None
            if path is not None:
                yield path

    def _tested(self) -> Iterator[Path]:
        """Yield the fields of `"key" in value`, `get` and getters: they may be absent."""
        for node in ast.walk(self._function):
            match node:
                case ast.Compare(
                    left=ast.Constant(value=str(key)),
                    ops=[ast.In() | ast.NotIn()],
                    comparators=[value],
                ):
                    path = self._lookups.path(value)
                    if path is not None:
                        yield (*path, key)
                case ast.Call():
                    yield from (read.path for read in self._of(node))

    def _of(self, node: ast.AST) -> Iterator[FieldAccess]:
        """Yield the lookups that one node makes, the outermost key last."""
        is_write = isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
        lookup = None if is_write else self._lookups.split(node)
        if lookup is None:
            return
        base, keys, place = lookup
        for end, key in enumerate(keys, 1):
            if isinstance(key, str) and place is not None:
                span = syntax.span_of(place, self._source)
                yield FieldAccess((*base, *keys[:end]), self._source, span)


def _constant(node: ast.expr) -> str | int:
    text = syntax.text_of(node)
    return ANY if text is None else text


def _is_empty(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or ast.unparse(node) in {"{}", "[]"}


def _path_argument(node: ast.expr | None) -> Path:
    """Return the path in a getter's argument, a text or a list of parts; ANY for other values."""
    match node:
        case None:
            return ()
        case ast.Constant(value=str(text)):
            try:
                return objects.parse_path(text)
            except ValueError:
                return (ANY,)
        case ast.List(elts=parts):
            return tuple(_constant(part) for part in parts)
        case ast.Constant(value=None):
            return ()
        case _:
            return (ANY,)
