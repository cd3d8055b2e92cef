"""Syntax trees of scripts, from Python's parser, which accepts a superset of Starlark.

An analysis trusts a tree only of a script that the interpreter has accepted.
"""

import ast
import warnings

from function_script.texts.source import Source, Span, span_at

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


def span_of(node: ast.expr, source: Source) -> Span:
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
