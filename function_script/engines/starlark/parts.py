"""Parts of a request as paths, and the selection of some of them.

Called by the analysis of scripts, which finds the paths, and by the engine, which builds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from function_script.program import plain

if TYPE_CHECKING:
    from function_script.values import Object, Readable

Path: TypeAlias = tuple[str, ...]
Paths: TypeAlias = frozenset[Path]
# None: all that is below.
_Tree: TypeAlias = Mapping[str, "_Tree | None"]

# Branches are there in any case, empty or not: what is selected is below them. Whatever is no
# branch is a leaf: it is there with all that is in it, or not at all.
_BRANCHES: frozenset[Path] = frozenset(
    {
        (),
        ("context",),
        ("credentials",),
        ("desired",),
        ("desired", "resources"),
        ("extra_resources",),
        ("observed",),
        ("observed", "resources"),
        ("required_resources",),
        ("required_schemas",),
    }
)


def is_branch(path: Path) -> bool:
    """Whether parts below this path are selected one by one."""
    return path in _BRANCHES


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What is wanted of a request; ``tree`` None is all of it."""

    tree: _Tree | None

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Reach:
        """The values at these paths, whole, below the branches that lead to them."""
        return cls(tree=_tree(frozenset(paths), ()))

    def select(self, request: Mapping[str, Readable]) -> Object:
        """What is wanted of ``request``, in dicts and lists."""
        return _select(request, self.tree)


EVERYTHING = Reach(tree=None)


def _tree(wanted: Paths, here: Path) -> _Tree | None:
    if here in wanted or not is_branch(here):
        return None
    depth = len(here)
    below = {path[depth] for path in wanted | _BRANCHES if path[:depth] == here != path}
    return {key: _tree(wanted, (*here, key)) for key in sorted(below)}


def _select(value: Mapping[str, Readable], tree: _Tree | None) -> Object:
    if tree is None:
        return {key: plain(item) for key, item in value.items()}
    return {
        key: plain(value[key])
        if below is None
        else _select(cast("Mapping[str, Readable]", value[key]), below)
        for key, below in tree.items()
        if key in value
    }
