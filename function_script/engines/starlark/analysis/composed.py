"""The names of the resources that a script composes."""

import ast
import re
from collections.abc import Iterable, Mapping
from typing import Final

from function_script.engines.starlark.analysis import syntax

# Calls that may give whole resources, with names that only a run knows.
_DECODING: Final = re.compile(r"decode|from_?(?:json|yaml)|parse", re.IGNORECASE)
_ENTRY_FIELDS: Final = frozenset({"resource", "ready", "connection_details"})


def find_names(trees: Iterable[ast.AST | None]) -> frozenset[str] | None:
    """Return the names that scripts give to resources; None when only a run knows one of them."""
    names: set[str] = set()
    for tree in trees:
        if tree is None:
            return None
        parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        for node in ast.walk(tree):
            names_of_node = _composed_names(node, parents)
            if names_of_node is None:
                return None
            names |= names_of_node
    return frozenset(names)


def _composed_names(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> set[str] | None:
    """Return the names that a node gives to resources; None when only a run knows them."""
    match node:
        case ast.Call(func=ast.Attribute(attr="resource"), args=[first, *_]):
            return _texts([first])
        case ast.Call(func=ast.Attribute(attr="resource")) | ast.keyword(arg="resources"):
            return None
        case ast.Attribute(attr="resource") if getattr(parents[node], "func", None) is not node:
            return None
        case ast.Call(func=function) if _DECODING.search(ast.unparse(function)):
            return None
        case ast.Constant(value=str(text)) as key if (
            text == "resources" or "desired.resources" in text
        ):
            parent = parents[key]
        case _:
            return set()
    match parent:
        case ast.Dict(keys=keys, values=values) if key in keys:
            value = values[keys.index(key)]
            return _entry_names(value) if isinstance(value, ast.Dict) else None
        case ast.Subscript(value=base) | ast.Call(func=base) if "observed" in ast.unparse(base):
            return set()
        case ast.Subscript() if isinstance(outer := parents[parent], ast.Subscript):
            return _texts([outer.slice]) if outer.value is parent else None
        case _:
            return None


def _entry_names(node: ast.Dict) -> set[str] | None:
    """Return the keys of entries, and not those of a container's resources, such as limits."""
    if {"limits", "requests"}.issuperset(map(syntax.text_of, node.keys)):
        return set()
    keys = []
    for key, value in zip(node.keys, node.values, strict=True):
        fields = syntax.fields_of(value).keys() if isinstance(value, ast.Dict) else ()
        if not fields or _ENTRY_FIELDS & fields:
            keys.append(key)
    return _texts(keys)


def _texts(nodes: Iterable[ast.expr | None]) -> set[str] | None:
    texts = {*map(syntax.text_of, nodes)}
    return None if None in texts else {text for text in texts if text is not None}
