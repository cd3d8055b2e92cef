"""Syntax trees of scripts, from Python's parser, which accepts a superset of Starlark.

An analysis trusts a tree only of a script that the interpreter has accepted.
"""

import ast
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Final, cast

from function_script.request.program import Program
from function_script.texts.source import Source, Span, span_at

NO_RESULT: Final = frozenset({"append", "extend", "insert", "update", "clear", "remove"})
"""Methods that change their list or dict, and give None."""
_CHANGING: Final = NO_RESULT | {"setdefault", "pop", "popitem"}
# A longer source is not worth the time.
_MAX_CHARACTERS = 64 * 1024


def parse(text: str) -> ast.Module | None:
    """Parse a source; return None where Python's reading could differ from Starlark's."""
    # Python ends lines at a lone carriage return and has "\N{name}"; Starlark has neither.
    if len(text) > _MAX_CHARACTERS or "\\N" in text or "\r" in text.replace("\r\n", ""):
        return None
    try:
        # Python warns of escapes that Starlark judges by rules of its own.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def walk(program: Program) -> Iterator[tuple[ast.AST, Source]]:
    """Yield the nodes of all sources that have a tree, each with its source."""
    for source in program.sources():
        tree = parse(source.text)
        yield from ((node, source) for node in ast.walk(tree)) if tree is not None else ()


class Marked:
    """A source that gets marks, as bytes: without a byte order mark, which Python refuses.

    Raises ValueError for a source without a tree.
    """

    def __init__(self, source: Source) -> None:
        self.source = replace(source, text=source.text.removeprefix("\ufeff"))
        self.data = self.source.text.encode()
        tree = parse(self.source.text)
        if tree is None:
            raise ValueError(source.name)
        self.tree = tree
        self._starts = [0, *accumulate(len(line) + 1 for line in self.data.split(b"\n"))]

    def range_of(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the offsets of a node's begin and end."""
        end = self._starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
        return self._starts[node.lineno - 1] + node.col_offset, end

    def written_out(self, node: ast.expr) -> bytes:
        """Return the text of an expression."""
        return self.data[slice(*self.range_of(node))]

    def insert(self, insertions: Iterable[tuple[int, int, bytes]], header: str = "") -> Source:
        """Return the source behind a header, with these texts at offsets, there by a number."""
        data = self.data
        # From the end on, so that the offsets before stay right.
        for place, _, text in sorted(insertions, key=lambda each: each[:2], reverse=True):
            data = data[:place] + text + data[place:]
        return replace(self.source, text=header + data.decode())


def map_sources(
    program: Program, used: Container[str], change: Callable[[Source], Source]
) -> Program:
    """Return a program with its ``used`` sources changed, the modules first, and no others.

    Those that no load statement leads to need be no scripts: a directory may have any files.
    """
    modules = {key: change(each) for key, each in program.modules.items() if each.name in used}
    return replace(program, main=change(program.main), modules=modules)


def changed_value(node: ast.AST) -> ast.expr | None:
    """Return the value that a target or a call changes in place; None where it changes none."""
    match node:
        case ast.Subscript(value=value, ctx=ast.Store()):
            return value
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _CHANGING:
            return value
        case _:
            return None


def text_of(node: ast.AST | None) -> str | None:
    """Return the text that a node writes out; None for any other."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else None


def fields_of(node: ast.Dict) -> dict[str, ast.expr]:
    """Return the values of a dict by those keys that are written out."""
    return {
        text: value
        for key, value in zip(node.keys, node.values, strict=True)
        if (text := text_of(key)) is not None
    }


def positional_of(function: ast.FunctionDef) -> list[str]:
    """Return the names of the parameters that take positions."""
    return [each.arg for each in (*function.args.posonlyargs, *function.args.args)]


def arguments_of(call: ast.Call) -> tuple[list[ast.expr], Mapping[str, ast.expr]]:
    """Return the arguments that are written out, up to one that a list spreads."""
    spread = (at for at, each in enumerate(call.args) if isinstance(each, ast.Starred))
    keywords = {each.arg: each.value for each in call.keywords if each.arg is not None}
    return call.args[: next(spread, len(call.args))], keywords


def bind_arguments(call: ast.Call, names: Iterable[str]) -> dict[str, ast.expr]:
    """Return the arguments by the names of a function's parameters, as far as they are clear."""
    positional, named = arguments_of(call)
    return {**named, **dict(zip(names, positional, strict=False))}


def span_of(node: ast.expr | ast.stmt, source: Source) -> Span:
    """Return the part of an expression that is in its first line.

    The only place where the byte columns of trees become columns of characters.
    """
    lines = source.text.split("\n")
    data = lines[node.lineno - 1].encode()
    begin = len(data[: node.col_offset].decode())
    end = node.end_col_offset if node.end_lineno == node.lineno else None
    width = len(data[node.col_offset : end].decode().rstrip())
    before = sum(len(line) + 1 for line in lines[: node.lineno - 1])
    return span_at(source, before + begin, width)


def span_of_attribute(node: ast.Attribute, source: Source) -> Span:
    """Return the place of an attribute's name."""
    end, column = node.end_lineno or node.lineno, node.end_col_offset or 0
    name = ast.Name(
        node.attr,
        lineno=end,
        end_lineno=end,
        col_offset=column - len(node.attr.encode()),
        end_col_offset=column,
    )
    return span_of(name, source)


def node_at(tree: ast.Module, span: Span, source: Source) -> ast.AST | None:
    """Return the node of a place: the one of the same width, else the largest that begins there.

    A call begins at the name of its function, too.
    """
    candidates: list[tuple[int, int, ast.AST]] = []
    for node in ast.walk(tree):
        if not isinstance(node, (ast.expr, ast.stmt)) or node.lineno != span.line:
            continue
        place = span_of(cast("ast.expr", node), source)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = span_of_attribute(node.func, source)
            place = name if name.column == span.column else place
        if place.column == span.column:
            size = (node.end_lineno or 0) - node.lineno
            candidates.append((abs(place.width - span.width), -size, node))
    if not candidates:
        return None
    best = min(candidates, key=lambda each: each[:2])
    if best[0] and span.width == 1:
        # The place of a node of several lines has the width of its first character.
        best = min(candidates, key=lambda each: each[1])
    match best[2]:
        case ast.Expr(value=value):
            return value
        case node:
            return node
