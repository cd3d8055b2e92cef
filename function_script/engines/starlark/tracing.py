"""The places where a script writes the values of its result, found by running it once more.

Each dict of the script then has a second entry for every key, whose name begins with a mark and
whose value is the number of the expression that wrote it. These entries travel with the values, as
in `merge` and `|`. A place is certain: where the entries do not come along there is none.
"""

import ast
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

import starlark

from function_script.engines.starlark import build, errors, signatures
from function_script.engines.starlark.analysis import syntax
from function_script.request import objects
from function_script.request.limits import Limits
from function_script.request.objects import Path
from function_script.request.program import Program
from function_script.request.values import Value
from function_script.texts.errors import FatalError
from function_script.texts.source import Source, Span

_MARK: Final = "\0"
# Any four names that no script has.
_HELPERS: Final = """\
def __mark_all(value, number):
    for key in list(value.keys()):
        if type(key) == "string": value["\\0" + key] = number
    return value
def __mark(value, key, number):
    if type(value) == "dict" and type(key) == "string": value["\\0" + key] = number
def __mark_call(rsp, path, key, number):
    if type(rsp) != "struct" or type(getattr(rsp, "build", None)) != "function": return
    value = rsp.build()
    for part in path: value = value[part]
    if type(value) == "dict": __mark(value, key, number)
    item = value[-1] if type(value) == "list" else value.get(key)
    if type(item) == "dict": __mark_all(item, number + 1)
def __unmarked(values):
    if type(values) == "dict": return {key: values[key] for key in __unmarked(values.keys())}
    names = [(each, each[0] if type(each) == "tuple" and each else each) for each in values]
    return [each for each, name in names if type(name) != "string" or not name.startswith("\\0")]
def __mark_path(path):
    parts = path.split(".") if type(path) == "string" else list(path)
    return parts[:-1] + ["\\0" + parts[-1]]
"""
# With these, an entry without a mark may be from anywhere.
_UNMARKED_WRITES: Final = ("setdefault", "update")
_MAX_NODES_FACTOR: Final = 3
# A dict that is written out, the target of an assignment, or a call of a response's function.
_Writer: TypeAlias = ast.Dict | ast.DictComp | ast.Subscript | ast.Call
# The parts of a response that its functions fill, and the key there: "" is their first argument, or
# that of a new item.
_PARTS: Final[Mapping[str, tuple[Sequence[str], str]]] = {
    "condition": (("conditions",), ""),
    **dict.fromkeys(("event", "fatal", "warning"), (("results",), "")),
    "context": (("context",), ""),
    "ready": (("desired", "composite"), "ready"),
    "resource": (("desired", "resources"), ""),
    "ttl": (("meta",), "ttl"),
}


class Entry(NamedTuple):
    """The key of an entry of a dict, and its value if that is written out beside it.

    ``is_null``: the value became None.
    """

    key: ast.expr
    value: ast.expr | None
    source: Source
    is_null: bool = False

    @property
    def span(self) -> Span:
        """The position of the key, or of a constant that stands in a later line."""
        is_below = isinstance(self.value, ast.Constant) and self.value.lineno > self.key.lineno
        node = self.value if is_below and self.value is not None else self.key
        return syntax.span_of(node, self.source)


_FAILURES: Final = (starlark.StarlarkError, FatalError, ValueError)


class Tracer:
    """The places of the values that a program returns, by the numbers of what writes entries."""

    def __init__(self, program: Program, limits: Limits, options: starlark.EvalOptions) -> None:
        self._writers: list[Entry | tuple[_Writer, ast.expr | None, Source]] = []
        self._is_certain = True
        self._program = program
        self._used = build.script(program, limits, options).sources
        # Each key has a second entry, which is a node more and has a value.
        self._limits = replace(limits, nodes=limits.nodes * _MAX_NODES_FACTOR)
        self._options = options

    @cached_property
    def _script(self) -> build.Script:
        marked = syntax.map_sources(self._program, self._used, self._mark)
        return build.silent(marked, self._limits, self._options)

    def trace(
        self, value: Value, call: Callable[[build.Script, Limits, starlark.EvalOptions], str]
    ) -> dict[Path, Span | None]:
        """Return the places of what is in ``value``, which `main` returned.

        ``call`` runs the script with marks as that without them, and returns the result as JSON.

        A value that is not there was in one above it, which the script has from elsewhere; None is
        a value of which nothing is known. Empty if the script with marks does not end well, or too
        late.
        """
        try:
            marked = json.loads(call(self._script, self._limits, self._options))
        except _FAILURES:
            # The next run must not find the error of this one.
            errors.take_raised()
            return {}
        return {path: place and place.span for path, place in self._places(value, marked)}

    def find(
        self, path: Path, call: Callable[[build.Script, Path, starlark.EvalOptions], str]
    ) -> Entry | None:
        """Return what wrote a value, or the nearest one above it.

        ``call`` runs the script with marks, and returns the part of its result along a path as
        JSON: the result itself may be one that JSON cannot hold.
        """
        try:
            part = json.loads(call(self._script, path, self._options))
        except _FAILURES:
            errors.take_raised()
            return None
        places = dict(self._places(part, part))
        above = (places.get(path[:end]) for end in range(len(path), 0, -1))
        nearest = next(filter(None, above), None)
        is_null = path in places and objects.find_path(part, path) is True
        return nearest and nearest._replace(is_null=is_null)

    def _mark(self, source: Source) -> Source:
        """Return a source with marks; raises ValueError for one that has no tree."""
        marked = syntax.Marked(source)
        self._is_certain &= not any(f".{name}(" in source.text for name in _UNMARKED_WRITES)
        insertions: list[tuple[int, int, bytes]] = []
        for begin, end in map(marked.range_of, _readers(marked.tree)):
            # Around what a writer at the same place adds; a range may be too long for a list.
            if not marked.data.startswith(b"range(", begin):
                insertions += [(begin, -1, b"__unmarked(("), (end, 0, b"))")]
        for node, value, whole in _writers(marked.tree):
            number = len(self._writers)
            self._writers.append((node, value, marked.source))
            begin, end = marked.range_of(whole)
            if isinstance(node, ast.Subscript):
                holder, key = map(marked.written_out, (node.value, node.slice))
                insertions.append((end, 1, b"; __mark(%s, %s, %d)" % (holder, key, number)))
            elif isinstance(node, ast.Call):
                insertions.append((end, 1, self._mark_call(node, number, marked)))
            else:
                # What is inside comes after the opening, and before the closing.
                insertions += [(begin, 0, b"__mark_all("), (end, 0, b", %d)" % number)]
        return marked.insert(insertions, _HELPERS)

    def _mark_call(self, call: ast.Call, number: int, marked: syntax.Marked) -> bytes:
        """Return the statement that marks what a function of a response has added."""
        name, arguments = _arguments_of(call)
        first = next(iter(arguments.values()))
        holder, _, _ = marked.written_out(call.func).partition(b".")
        key = marked.written_out(first)
        if name == "set_status":
            return b"; %s.set_status(__mark_path(%s), %d)" % (holder, key, number)
        path, field = _PARTS[name]
        # It is at the first argument, and its fields are at theirs.
        self._writers[number:] = [Entry(first, None, marked.source), self._writers[number]]
        key = json.dumps(field).encode() if field else key
        return b"; __mark_call(%s, %s, %s, %d)" % (holder, json.dumps(path).encode(), key, number)

    def _places(
        self, value: Value, marked: Value, path: Path = (), place: Entry | None = None
    ) -> Iterator[tuple[Path, Entry | None]]:
        """Yield the places below ``place`` in a result; ``marked`` is the one with marks."""
        if place is not None:
            yield path, place
        if isinstance(value, dict) and isinstance(marked, dict):
            is_certain = self._is_certain or not any(key.startswith(_MARK) for key in marked)
            for key, item in value.items():
                if key.startswith(_MARK):
                    continue
                number = marked.get(_MARK + key)
                below = self._place(number, key) if isinstance(number, int) else None
                if below is None and not is_certain:
                    yield (*path, key), None
                yield from self._places(item, marked.get(key), (*path, key), below)
        elif isinstance(value, list):
            # A script may make a list by the keys of a dict, of which there are more now.
            others = marked if isinstance(marked, list) and len(marked) == len(value) else []
            literal = place.value if place is not None else None
            elements = literal.elts if isinstance(literal, (ast.List, ast.Tuple)) else []
            for index, item in enumerate(value):
                below = None
                if place is not None and index < len(elements):
                    below = Entry(elements[index], elements[index], place.source)
                elif elements:
                    yield (*path, index), None
                other = others[index] if others else None
                yield from self._places(item, other, (*path, index), below)

    def _place(self, number: int, key: str) -> Entry:
        """Return the place that wrote a key: its own in a dict that is written out."""
        writer = self._writers[number]
        if isinstance(writer, Entry):
            return writer
        node, value, source = writer
        place: ast.expr = node
        if isinstance(node, ast.DictComp):
            place, value = node.key, node.value
        elif isinstance(node, ast.Call):
            name, arguments = _arguments_of(node)
            place = next(iter(arguments.values()))
            if name != "set_status":
                place = value = arguments.get(key, place)
        elif isinstance(node, ast.Dict):
            entries = [
                (each, item)
                for each, item in zip(node.keys, node.values, strict=True)
                if each is not None
            ]
            computed = [each for each in entries if not isinstance(each[0], ast.Constant)]
            same = [
                (each, item)
                for each, item in entries
                if isinstance(each, ast.Constant) and each.value == key
            ]
            # Of several computed keys only a run knows which one it was.
            if same or len(computed) == 1:
                place, value = (same or computed)[-1]
        return Entry(place, value, source)


def _readers(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the dicts and lists whose every key and item a script uses: it must see no marks."""
    for node in ast.walk(tree):
        match node:
            case ast.For(iter=values) | ast.comprehension(iter=values):
                yield values
            case ast.Call(func=ast.Name(id="connection_secret"), args=[values, *_]):
                yield values


def _writers(tree: ast.AST) -> Iterator[tuple[_Writer, ast.expr | None, ast.expr | ast.stmt]]:
    """Yield what writes entries, with the value of an assignment, and the whole."""
    for child in ast.iter_child_nodes(tree):
        match child:
            case ast.JoinedStr():
                # The positions of what is in it are not exact.
                continue
            case ast.Dict() | ast.DictComp():
                yield child, None, child
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                yield target, value, child
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(), attr=name)) as call
            ) if name in {*_PARTS, "set_status"} and (arguments := _arguments_of(call)[1]):
                yield call, arguments.get("value"), child
            case ast.AugAssign(target=ast.Subscript() as target):
                yield target, None, child
        yield from _writers(child)


def _arguments_of(call: ast.Call) -> tuple[str, dict[str, ast.expr]]:
    """Return the name of a response's function, and its arguments; none without the first one."""
    name = ast.unparse(call.func).rpartition(".")[2]
    names = [parameter.name for parameter in signatures.methods()[name].parameters]
    arguments = syntax.bind_arguments(call, names)
    return name, {
        key: arguments[key] for key in names if key in arguments and names[0] in arguments
    }
