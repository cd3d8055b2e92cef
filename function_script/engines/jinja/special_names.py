"""The names that Jinja sets for the body of one kind of tag: elsewhere they have no value."""

from collections.abc import Iterator, Mapping
from typing import Final

from jinja2 import nodes

_IN_LOOP: Final = frozenset({"loop"})
_IN_MACRO: Final = frozenset({"caller", "kwargs", "varargs"})
NAMES: Final = _IN_LOOP | _IN_MACRO | {"super"}
"""The names; `super` is one of blocks."""
_REFERENCES: Final = (nodes.Include, nodes.Extends, nodes.Import, nodes.FromImport)


def find_misplaced(trees: Mapping[str, nodes.Template]) -> Iterator[tuple[str, nodes.Name]]:
    """Yield the uses that are certainly outside of a body that has the name, by their templates.

    The main template is the one with the name "".
    """
    # A template that is included, extended or imported with context has the names of its place.
    open_modules = {
        reference.template.value  # type: ignore[attr-defined] # as below
        for tree in trees.values()
        for reference in tree.find_all(_REFERENCES)
        if isinstance(reference.template, nodes.Const)  # type: ignore[attr-defined] # all have it
        and getattr(reference, "with_context", True)
    }
    for module, tree in trees.items():
        if module not in open_modules:
            yield from ((module, name) for name in _find_in(tree))


def _find_in(tree: nodes.Template) -> Iterator[nodes.Name]:
    """Yield the misplaced uses in one template, with the names of each body passed down."""
    pending: list[tuple[nodes.Node, frozenset[str]]] = [(tree, frozenset())]
    while pending:
        node, names = pending.pop()
        match node:
            case nodes.Block():
                # A block is written at the places of all templates that extend this one.
                continue
            case nodes.Name(name=name, ctx="load"):
                if name in NAMES - names:
                    yield node
                continue
            case nodes.For():
                own = names | _IN_LOOP
            case nodes.Macro() | nodes.CallBlock():
                own = names | _IN_MACRO
            case _:
                own = names
        body = {id(child) for child in getattr(node, "body", ())} if own != names else set()
        pending.extend(
            (child, own if id(child) in body else names) for child in node.iter_child_nodes()
        )
