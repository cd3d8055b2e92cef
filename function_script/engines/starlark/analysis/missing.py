"""The key that a failed lookup did not find, and the places where a script writes keys.

For errors only, so it may be slow. Only lookups by written names are followed.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from function_script.engines.starlark.analysis import syntax
from function_script.engines.starlark.analysis.names import Bindings
from function_script.engines.starlark.analysis.request_reads import Lookups
from function_script.request.objects import Path
from function_script.request.values import Readable
from function_script.texts import field_names, spelling
from function_script.texts.source import Source, Span

_MAX_KEYS_SHOWN = 6


# The response writes it: a script that calls the builder does not.
_WRAPPER = "resource"


class MissingKey(NamedTuple):
    """A key that a part of the request lacks; ``is_suggestion``: the advice names the key meant.

    ``is_null``: the key is there, and its value is null.
    """

    parent: str
    key: str
    advice: str
    is_suggestion: bool = False
    is_null: bool = False

    @property
    def absence(self) -> str:
        """Return ``observed has no "composit"``."""
        return (
            f'"{self.key}" of {self.parent} is None'
            if self.is_null
            else f'{self.parent} has no "{self.key}"'
        )

    @property
    def text(self) -> str:
        """Return the absence with the advice."""
        return self.absence + self.advice


def find_missing_key(
    expression: str, texts: Iterable[str], request: Mapping[str, Readable]
) -> MissingKey | None:
    """Return the key that a failed lookup did not find; None when it is unclear.

    ``expression`` is the source of the failed lookup, ``texts`` are the sources it may refer to.
    """
    trees = [tree for text in texts if (tree := syntax.parse(text)) is not None]
    failed = syntax.parse(expression.strip())
    match failed:
        case ast.Module(body=[ast.Expr(value=lookup)]):
            path = _lookups(trees).path(lookup) or ()
        case _:
            return None
    value: Readable = request
    for index, key in enumerate(path):
        if not isinstance(value, Mapping) or not isinstance(key, str):
            return None
        # A null is as good as absent: the interpreter fails at the key below it.
        if value.get(key) is None:
            parent = ".".join(map(str, path[:index])) or "the request"
            return _describe(parent, key, list(value))
        value = value[key]
    return None


def _describe(parent: str, key: str, keys: list[str]) -> MissingKey:
    if key in keys:
        return MissingKey(parent, key, "", is_null=True)
    near = spelling.nearest(key, keys)
    if near:
        return MissingKey(parent, key, f', did you mean "{near}"?', is_suggestion=True)
    others = f", but {field_names.listed(keys, _MAX_KEYS_SHOWN)}" if keys else ": it is empty"
    return MissingKey(parent, key, others)


def _lookups(trees: Sequence[ast.Module]) -> Lookups:
    """Return the lookups of all sources."""
    bindings = Bindings.of(trees)
    mains = bindings.functions.get("main", [])
    requests = {main.positional[0] for main in mains if main.positional}
    # Other functions may have a parameter of that name.
    names = requests - bindings.values.keys()
    return Lookups(names, bindings.single_values(), {}, trusts_getters=True)


class Entry(NamedTuple):
    """The key of an entry of a dict, and its value if that is written out beside it."""

    key: ast.expr
    value: ast.expr | None
    source: Source


def find_written_key(path: Path, sources: Iterable[Source]) -> Span | None:
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
    inside: Sequence[Entry] | None = None
    place: Entry | None = None
    for part in path:
        matches = [
            each
            for each in (entries if inside is None else inside)
            if getattr(each.key, "value", None) == part
        ]
        if len(matches) == 1:
            place = matches[0]
            value = place.value
            inside = [*_entries(value, place.source)] if isinstance(value, ast.Dict) else None
        elif inside is not None and part != _WRAPPER:
            # The dict is known, and does not have it.
            break
    return None if place is None else syntax.span_of(place.key, place.source)


def _all_entries(tree: ast.Module, source: Source) -> Iterator[Entry]:
    """Yield keys of dicts, keys that a value is assigned to, and names of resources."""
    for node in ast.walk(tree):
        match node:
            case ast.Dict():
                yield from _entries(node, source)
            case ast.Assign(targets=[ast.Subscript(slice=ast.Constant() as key)], value=value):
                yield Entry(key, value, source)
            case ast.AugAssign(target=ast.Subscript(slice=ast.Constant() as key)):
                yield Entry(key, None, source)
            case ast.Call(
                func=ast.Attribute(attr="resource"), args=[ast.Constant() as key, value, *_]
            ):
                yield Entry(key, value, source)


def _entries(node: ast.Dict, source: Source) -> Iterator[Entry]:
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None and syntax.text_of(key) is not None:
            yield Entry(key, value, source)
