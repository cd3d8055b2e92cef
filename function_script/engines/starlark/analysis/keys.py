"""Where a script writes the keys of what main returned, to show a problem where it was made.

Called for errors only. A key that stands in the sources once is taken for the one that is meant.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from function_script.engines.starlark.analysis import syntax
from function_script.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from function_script.objects import Path
    from function_script.source import Source


def find(path: Path, sources: Iterable[Source]) -> Span | None:
    """The place of the innermost key of ``path`` that is written exactly once; None if none is."""
    written: dict[str, list[Span]] = defaultdict(list)
    for source in sources:
        tree = syntax.parse(source.text)
        for key in _keys(tree) if tree is not None else ():
            written[key.value].append(_span(key, source))  # type: ignore[index] # texts only
    for part in reversed(path):
        places = written.get(part, []) if isinstance(part, str) else []
        if len(places) == 1:
            return places[0]
    return None


def _keys(tree: ast.Module) -> Iterator[ast.Constant]:
    """Texts that are keys of dicts, or that a value is assigned to."""
    for node in ast.walk(tree):
        keys: list[ast.expr | None] = []
        match node:
            case ast.Dict(keys=keys):
                pass
            case ast.Subscript(slice=key, ctx=ast.Store()):
                keys = [key]
            case _:
                continue
        yield from (
            key for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)
        )


def _span(key: ast.Constant, source: Source) -> Span:
    data = source.text.split("\n")[key.lineno - 1].encode()
    column = len(data[: key.col_offset].decode()) + 1
    width = len(data[key.col_offset : key.end_col_offset].decode())
    return Span(name=source.name, line=key.lineno, column=column, width=width)
