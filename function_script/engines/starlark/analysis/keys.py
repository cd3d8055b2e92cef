"""The places where a script writes the keys of what main returned, for errors in a result."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator

from function_script.engines.starlark.analysis import syntax
from function_script.objects import Path
from function_script.source import Source, Span


def find(path: Path, sources: Iterable[Source]) -> Span | None:
    """Return the place of the innermost key of ``path`` that is written exactly once."""
    places: dict[str | int, list[tuple[ast.Constant, Source]]] = defaultdict(list)
    for source in sources:
        tree = syntax.parse(source.text)
        for text, key in _keys(tree) if tree is not None else ():
            places[text].append((key, source))
    for part in reversed(path):
        if len(places[part]) == 1:
            return syntax.span_of(*places[part][0])
    return None


def _keys(tree: ast.Module) -> Iterator[tuple[str, ast.Constant]]:
    """Yield texts that are keys of dicts, or that a value is assigned to."""
    for node in ast.walk(tree):
        keys: list[ast.expr | None] = []
        match node:
            case ast.Dict(keys=keys):
                pass
            case ast.Subscript(slice=key, ctx=ast.Store()):
                keys = [key]
            case _:
                continue
        for each in keys:
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield each.value, each
