"""What of the request was looked up and is not there: the part, and what it might have meant.

Called for errors only, so it may be slow. Follows what can be followed by name alone.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING

from function_script.engines.starlark.analysis import syntax

if TYPE_CHECKING:
    from function_script.values import Readable

_MAX_KEYS_SHOWN = 6
_MAX_HOPS = 20


def hint(expression: str, texts: Iterable[str], request: Mapping[str, Readable]) -> str | None:
    """``observed has no "composit", did you mean "composite"?``; None if it cannot be said.

    ``expression`` is the source of what failed, ``texts`` are the sources it may refer to.
    """
    trees = [syntax.parse(text) for text in texts]
    failed = syntax.parse(expression.strip())
    match failed:
        case ast.Module(body=[ast.Expr(value=looked_up)]):
            names = _names(tree for tree in trees if tree is not None)
            path = _path(looked_up, names, _MAX_HOPS) or ()
        case _:
            return None
    value: Readable = request
    for index, key in enumerate(path):
        if not isinstance(value, Mapping):
            return None
        if value.get(key) is None:
            place = ".".join(path[:index]) or "the request"
            return f'{place} has no "{key}"' + _instead(key, list(value))
        value = value[key]
    return None


def _instead(key: str, keys: list[str]) -> str:
    close = get_close_matches(key, keys, n=1)
    if close:
        return f', did you mean "{close[0]}"?'
    shown = ", ".join(sorted(keys)[:_MAX_KEYS_SHOWN])
    more = ", …" if len(keys) > _MAX_KEYS_SHOWN else ""
    return f", but {shown}{more}" if keys else ": it is empty"


def _names(trees: Iterable[ast.Module]) -> dict[str, ast.expr | None]:
    """What names that are assigned once stand for; None is the request."""
    names: dict[str, ast.expr | None] = {}
    bound: Counter[str] = Counter()
    for node in (node for tree in trees for node in ast.walk(tree)):
        match node:
            case ast.FunctionDef(name="main", args=ast.arguments(args=[ast.arg(arg=name), *_])):
                names[name] = None
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                names[name] = value
            case _:
                pass
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                bound[name] += 1
            case _:
                pass
    return {name: value for name, value in names.items() if bound[name] == 1 or value is None}


def _path(
    node: ast.expr, names: Mapping[str, ast.expr | None], hops: int
) -> tuple[str, ...] | None:
    below: list[str] = []
    while True:
        match node:
            case (
                ast.Subscript(value=value, slice=ast.Constant(value=str(key)))
                | ast.Call(
                    func=ast.Attribute(value=value, attr="get"),
                    args=[ast.Constant(value=str(key)), *_],
                )
            ):
                below.append(key)
                node = value
            case ast.Call(func=ast.Name(id="get_xr"), args=[ast.Name()]):
                return ("observed", "composite", "resource", *reversed(below))
            case ast.Name(id=name) if name in names and hops:
                assigned = names[name]
                if assigned is None:
                    return tuple(reversed(below))
                node, hops = assigned, hops - 1
            case _:
                return None
