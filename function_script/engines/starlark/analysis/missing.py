"""The key that a failed lookup did not find, and the places where a script writes keys.

For errors only, so it may be slow. Only lookups by written names are followed.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from function_script.engines.lint import CONDITION
from function_script.engines.starlark import signatures
from function_script.engines.starlark.analysis import syntax
from function_script.engines.starlark.analysis.request_reads import trace
from function_script.request.objects import CONDITION_FIELDS, Path
from function_script.request.values import Readable
from function_script.texts import field_names, spelling
from function_script.texts.source import Source, Span

_MAX_KEYS_SHOWN = 6


# The response writes it: a script that calls the builder does not.
_WRAPPER = "resource"
# The place of a resource's name in a path of desired resources.
_NAME_INDEX = 2
# The parts that functions of a response set.
_PARTS: Final = {
    **{name: name for name in ("connection_details", "resource", "status", "ttl")},
    "set_status": "status",
    "condition": "conditions",
    **dict.fromkeys(("event", "fatal", "warning"), "results"),
}


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
    span: Span | None,
    arguments: Mapping[str, str],
    sources: Mapping[str, Source],
    request: Mapping[str, Readable],
) -> MissingKey | None:
    """Return the key that a failed lookup, with the error's arguments, did not find, if clear."""
    parsed = {name: syntax.parse(source.text) for name, source in sources.items()}
    tree = parsed.get(span.name) if span is not None else None
    node = syntax.node_at(tree, span, sources[span.name]) if span and tree else None
    # The interpreter points at a whole statement, of which a condition is a part.
    nodes = [*ast.walk(node.test)] if isinstance(node, ast.If) else [node]
    paths = (
        lookups.path(each)
        for function, lookups, _ in trace([each for each in parsed.values() if each is not None])
        if any(each is node for each in ast.walk(function))
        for each in nodes
        if isinstance(each, ast.expr)
    )
    name = arguments.get("key", "").strip('`"')
    absent = (_walk(path, name, request) for path in paths if path)
    return next((each for each in absent if each is not None), None)


def _walk(path: Path, absent: str, request: Mapping[str, Readable]) -> MissingKey | None:
    """Return the first key of a path that is not there, and that has the name of an absent one."""
    condition: Readable = {CONDITION: dict.fromkeys(CONDITION_FIELDS, "")}
    values = [condition if path[0] == CONDITION else request]
    parent = ""
    for key in path:
        if not isinstance(key, str):
            if parent.endswith(".items[].resource"):
                # One of the objects, which stand in a list of their own.
                continue
            # Any of the items is the one without the key.
            values = [
                item
                for each in values
                if isinstance(each, (Mapping, list))
                for item in (each.values() if isinstance(each, Mapping) else each)
            ]
            parent += "[]"
            continue
        lacking = [each for each in values if isinstance(each, Mapping) and each.get(key) is None]
        # A null is as good as absent: the interpreter fails at the key below it.
        if lacking and absent in {"", key}:
            return _describe(parent or "the request", key, list(lacking[0]))
        values = [each[key] for each in values if isinstance(each, Mapping) and key in each]
        parent = f"{parent}.{key}" if parent else key
    return None


def _describe(parent: str, key: str, keys: list[str]) -> MissingKey:
    if key in keys:
        return MissingKey(parent, key, "", is_null=True)
    if key == "resource" and parent.endswith(".resource"):
        return MissingKey(parent, key, ": it is the resource itself", is_suggestion=True)
    near = spelling.nearest(key, keys)
    if near:
        return MissingKey(parent, key, f', did you mean "{near}"?', is_suggestion=True)
    others = f", but {field_names.listed(keys, _MAX_KEYS_SHOWN)}" if keys else ": it is empty"
    return MissingKey(parent, key, others)


class Entry(NamedTuple):
    """The key of an entry of a dict, and its value if that is written out beside it."""

    key: ast.expr
    value: ast.expr | None
    source: Source


class _Key(NamedTuple):
    """A key of a dict, or an argument of a response's function.

    ``parent`` is the key whose value the dict is, ``inner`` what its value has; None: unknown.
    """

    name: str
    node: ast.expr
    parent: str | None
    inner: "Sequence[_Key] | None"
    source: Source


def find_written_key(path: Path, sources: Iterable[Source]) -> Span | None:
    """Return the place of the innermost key of ``path`` that is certain.

    A key is certain if it is written once: in the value of the key before it where that is a dict
    that is written out, else in all sources, in no dict of another key.
    """
    entries = [
        entry
        for source in sources
        if (tree := syntax.parse(source.text)) is not None
        for entry in _all_entries(tree, source)
    ]
    inside: Sequence[_Key] | None = None
    place: _Key | None = None
    before: str | None = None
    for index, part in enumerate(path):
        if isinstance(part, int):
            continue
        is_name = path[0] == "desired" and index == _NAME_INDEX
        matches = [each for each in inside or () if each.name == part]
        if inside is None or (is_name and not matches):
            # The dict of a key "resources" without this name is another one.
            place = place if inside is None else None
            matches = [
                each
                for each in entries
                if each.name == part and (is_name or each.parent in {None, before})
            ]
        if len(matches) == 1:
            place = matches[0]
            inside = place.inner
        elif inside is not None and is_name:
            inside = None
        elif inside is not None and part != _WRAPPER:
            # The dict is known, and does not have it.
            break
        before = part
    return None if place is None else syntax.span_of(place.node, place.source)


def _all_entries(tree: ast.Module, source: Source) -> Iterator[_Key]:
    """Yield keys of dicts, keys that a value is assigned to, and what calls of a response set."""
    parents = {
        part: key
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        for part in (value.elts if isinstance(value, ast.List) else [value])
    }
    for node in ast.walk(tree):
        match node:
            case ast.Dict():
                yield from _entries(node, source, syntax.text_of(parents.get(node)))
            case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(str(key)) as name)]):
                yield _Key(key, name, None, _read_inner(node.value, key, source), source)
            case ast.AugAssign(target=ast.Subscript(slice=ast.Constant(str(key)) as name)):
                yield _Key(key, name, None, None, source)
            case ast.Call(func=ast.Attribute(attr=function)) if function in _PARTS:
                yield from _read_call(node, function, source)


def _read_call(call: ast.Call, function: str, source: Source) -> Iterator[_Key]:
    """Yield the part of the response that a call sets, with its arguments inside."""
    part, parameters = _PARTS[function], signatures.methods()[function].parameters
    arguments = syntax.bind_arguments(call, (each.name for each in parameters))
    first = next(iter(syntax.arguments_of(call)[0]), call)
    if function == "set_status":
        field = (syntax.text_of(first) or "").partition(".")[0]
        yield _Key(field, first, part, None, source)
    elif function != "resource":
        inner = _read_inner(first, part, source)
        if part in {"conditions", "results"}:
            # Each argument is a field.
            inner = [_Key(name, node, None, None, source) for name, node in arguments.items()]
        yield _Key(part, first, None, inner, source)
    elif (name := syntax.text_of(first)) is not None:
        body = arguments.pop("body", None)
        inner = [_Key(key, node, None, None, source) for key, node in arguments.items()]
        fields = None if body is None else _read_inner(body, name, source)
        yield _Key(name, first, None, None if fields is None else [*fields, *inner], source)
    else:
        for key in arguments.keys() - {"name", "body"}:
            yield _Key(key, arguments[key], None, None, source)


def _read_inner(value: ast.expr, key: str, source: Source) -> list[_Key] | None:
    return [*_entries(value, source, key)] if isinstance(value, ast.Dict) else None


def _entries(node: ast.Dict, source: Source, parent: str | None) -> Iterator[_Key]:
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None and (name := syntax.text_of(key)) is not None:
            yield _Key(name, key, parent, _read_inner(value, name, source), source)
