"""The places where a script writes the keys of what main returned, for errors in a result."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from function_script.engines.starlark.analysis import syntax
from function_script.request.objects import Path
from function_script.texts.source import Source, Span

# The response writes it: a script that calls the builder does not.
_WRAPPER = "resource"


class _Entry(NamedTuple):
    """A key that is written out, and its value if that stands beside it."""

    key: ast.Constant
    value: ast.expr | None
    source: Source


def find(path: Path, sources: Iterable[Source]) -> Span | None:
    """Return the place of the innermost key of ``path`` that is certain.

    A key is certain if it is written once: in the value of the key before it where that is a dict
    that is written out, else in all sources.
    """
    entries = [
        entry
        for source in sources
        if (tree := syntax.parse(source.text)) is not None
        for entry in _all_entries(tree, source)
    ]
    inside: Sequence[_Entry] | None = None
    place: _Entry | None = None
    for part in path:
        matches = [
            each for each in (entries if inside is None else inside) if each.key.value == part
        ]
        if len(matches) == 1:
            place = matches[0]
            value = place.value
            inside = [*_entries(value, place.source)] if isinstance(value, ast.Dict) else None
        elif inside is not None and part != _WRAPPER:
            # The dict is known, and does not have it.
            break
    return None if place is None else syntax.span_of(place.key, place.source)


def _all_entries(tree: ast.Module, source: Source) -> Iterator[_Entry]:
    """Yield keys of dicts, keys that a value is assigned to, and names of resources."""
    for node in ast.walk(tree):
        match node:
            case ast.Dict():
                yield from _entries(node, source)
            case ast.Assign(targets=[ast.Subscript(slice=ast.Constant() as key)], value=value):
                yield _Entry(key, value, source)
            case ast.AugAssign(target=ast.Subscript(slice=ast.Constant() as key)):
                yield _Entry(key, None, source)
            case ast.Call(
                func=ast.Attribute(attr="resource"), args=[ast.Constant() as key, value, *_]
            ):
                yield _Entry(key, value, source)
            case _:
                pass


def _entries(node: ast.Dict, source: Source) -> Iterator[_Entry]:
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield _Entry(key, value, source)
