"""What a script certainly reads of the request: lookups by name from the parameter of `main` on.

Called by the tool that looks for mistakes. Follows names that are bound once; a function that is
given a part of the request is not followed.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING, Final

from function_script import objects
from function_script.engines.reads import ANY, FieldAccess, guarded, unchanged
from function_script.engines.starlark.analysis import syntax

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.objects import Path
    from function_script.program import Program
    from function_script.source import Source

_XR: Final = ("observed", "composite", "resource")
# Functions of the prelude that look into the request: where, and how many names they take.
_GETTERS: Final[dict[str, tuple[Path, int]]] = {
    "get_xr": (_XR, 0),
    "get_observed": (("observed", "resources"), 1),
    "get_desired": (("desired", "resources"), 1),
}
_CHANGING: Final = frozenset(
    {"append", "clear", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update"}
)
_MAX_HOPS: Final = 20


def find(program: Program) -> list[FieldAccess]:
    """The lookups in `main` of the program's main source."""
    tree = syntax.parse(program.main.text)
    for node in tree.body if tree is not None else ():
        match node:
            case ast.FunctionDef(name="main", args=ast.arguments(args=[ast.arg(arg=request)])):
                return _Main(node, request, program.main).reads()
            case _:
                pass
    return []


class _Main:
    """The function `main`, and what the names in it stand for."""

    def __init__(self, function: ast.FunctionDef, request: str, source: Source) -> None:
        self._function = function
        self._source = source
        self._request = request
        self._values: dict[str, tuple[ast.expr, Path]] = {}
        self._bind()

    def reads(self) -> list[FieldAccess]:
        found = [read for node in ast.walk(self._function) for read in self._of(node)]
        return guarded(unchanged(found, self._changed()), set(self._asked()))

    def _bind(self) -> None:
        """Names that are bound once: to an expression, or to the items of one."""
        bound: Counter[str] = Counter()
        for node in ast.walk(self._function):
            match node:
                case (
                    ast.Name(id=name, ctx=ast.Store())
                    | ast.arg(arg=name)
                    | ast.FunctionDef(name=name)
                ):
                    bound[name] += 1
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._values[name] = (value, ())
                case (
                    ast.For(target=target, iter=value)
                    | ast.comprehension(target=target, iter=value)
                ):
                    self._bind_items(target, value)
                case _:
                    pass
        self._values = {name: v for name, v in self._values.items() if bound[name] == 1}
        if bound[self._request] != 1:
            self._request = ""

    def _bind_items(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case (
                ast.Tuple(elts=[_, ast.Name(id=name)]),
                ast.Call(func=ast.Attribute(value=each, attr="items"))
                | ast.Call(func=ast.Name(id="enumerate"), args=[each, *_]),
            ) | (ast.Name(id=name), ast.Call(func=ast.Attribute(value=each, attr="values"))):
                self._values[name] = (each, (ANY,))
            case ast.Name(id=name), ast.Call(func=ast.Name(id="sorted"), args=[each, *_]):
                self._values[name] = (each, (ANY,))
            case ast.Name(id=name), _:
                self._values[name] = (value, (ANY,))
            case _:
                pass

    def _changed(self) -> Iterator[Path]:
        """What the script changes in place: its keys may be the script's own."""
        for node in ast.walk(self._function):
            match node:
                case (
                    ast.Subscript(value=value, ctx=ast.Store() | ast.Del())
                    | ast.Call(func=ast.Attribute(value=value, attr=_))
                ):
                    pass
                case _:
                    continue
            if isinstance(node, ast.Call) and node.func.attr not in _CHANGING:  # type: ignore[attr-defined] # matched above
                continue
            path = self._path(value, _MAX_HOPS)
            if path is not None:
                yield path

    def _asked(self) -> Iterator[Path]:
        """What the script asks for before it reads it: `"key" in value`."""
        for node in ast.walk(self._function):
            match node:
                case ast.Compare(
                    left=ast.Constant(value=str(key)),
                    ops=[ast.In() | ast.NotIn()],
                    comparators=[value],
                ):
                    path = self._path(value, _MAX_HOPS)
                    if path is not None:
                        yield (*path, key)
                case ast.Call():
                    # `get` and its like give None for what is not there.
                    yield from (read.path for read in self._of(node))
                case _:
                    pass

    def _of(self, node: ast.AST) -> Iterator[FieldAccess]:
        """The lookups that one node makes, the outermost key last."""
        match node:
            case ast.Subscript(value=value, slice=ast.Constant(value=str(key)), ctx=ast.Load()):
                path = self._path(value, _MAX_HOPS)
                if path is not None:
                    yield self._read((*path, key), node.slice)
            case ast.Call(
                func=ast.Attribute(value=value, attr="get"),
                args=[ast.Constant(value=str(key)), *_],
            ):
                path = self._path(value, _MAX_HOPS)
                if path is not None:
                    yield self._read((*path, key), node.args[0])
            case ast.Call(func=ast.Name(), args=[_, *_]):
                yield from self._of_getter(node)
            case _:
                pass

    def _of_getter(self, call: ast.Call) -> Iterator[FieldAccess]:
        found = self._getter(call, _MAX_HOPS)
        if found is None or found[1] is None:
            return
        base, argument = found[0], found[1]
        named = _given(argument)
        for index, key in enumerate(named):
            if isinstance(key, str):
                yield self._read((*base, *named[: index + 1]), argument)

    def _getter(self, call: ast.Call, hops: int) -> tuple[Path, ast.expr | None] | None:
        """What `get` and its like look into, and the argument with the path."""
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        first, *others = call.args
        base = self._path(first, hops)
        if base is None or name not in {"get", *_GETTERS}:
            return None
        if name in _GETTERS:
            if base:
                return None
            start, count = _GETTERS[name]
            names = tuple(_constant(argument) for argument in others[:count])
            if len(names) < count:
                return None
            base = (*start, *names, *(["resource"] if count else []))
            others = others[count:]
        return base, others[0] if others else None

    def _read(self, path: Path, node: ast.expr) -> FieldAccess:
        return FieldAccess(path, self._source, syntax.span_of(node, self._source))

    def _path(self, node: ast.expr, hops: int) -> Path | None:
        """Where in the request the value of an expression stands."""
        if not hops:
            return None
        match node:
            case ast.Name(id=name) if name == self._request:
                return ()
            case ast.Name(id=name) if name in self._values:
                value, below = self._values[name]
                path = self._path(value, hops - 1)
                return None if path is None else (*path, *below)
            case ast.Subscript(value=value, slice=index) if not isinstance(index, ast.Slice):
                path = self._path(value, hops - 1)
                return None if path is None else (*path, _constant(index))
            case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[key, *_]):
                path = self._path(value, hops - 1)
                return None if path is None else (*path, _constant(key))
            case ast.Call(func=ast.Name(), args=[_, *_]):
                found = self._getter(node, hops - 1)
                if found is None:
                    return None
                base, argument = found
                return (*base, *(_given(argument) if argument is not None else ()))
            case ast.BoolOp(op=ast.Or(), values=[value, *others]) if all(map(_is_empty, others)):
                return self._path(value, hops - 1)
        return None


def _constant(node: ast.expr) -> str | int:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ANY


def _is_empty(node: ast.expr) -> bool:
    match node:
        case ast.Dict(keys=[]) | ast.List(elts=[]) | ast.Constant():
            return True
        case _:
            pass
    return False


def _given(node: ast.expr) -> Path:
    """The path that a getter is given: a text, or a list of parts; what follows is unknown."""
    match node:
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
            pass
    return (ANY,)
