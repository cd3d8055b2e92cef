"""Paths of parts of a request, and the projection of a request to some of them.

`pruning` finds the paths that a script needs; the engine builds only those values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from function_script.program import Lazy, plain
from function_script.values import Object, Readable, Value

Path: TypeAlias = tuple[str, ...]
Paths: TypeAlias = frozenset[Path]
# None: all that is below.
_Tree: TypeAlias = Mapping[str, "_Tree | None"]

# A projection always has its branches, empty or not. Everything else is a leaf: it is there as a
# whole, or not at all.
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


# They hold resources by name, whose objects are branches, too.
_GROUPS: frozenset[Path] = frozenset({("desired", "resources"), ("observed", "resources")})
_ENTRY_DEPTH = 3
_OBJECT = "resource"
# Any resource's name. For a resource of this name a script gets all others, too: no harm.
ANY = "*"


def is_branch(path: Path) -> bool:
    """Report whether parts below this path are selected one by one."""
    if path[:2] in _GROUPS and len(path) >= _ENTRY_DEPTH:
        return path[_ENTRY_DEPTH:] in {(), (_OBJECT,)}
    return path in _BRANCHES


def is_group(path: Path) -> bool:
    """Report whether this path holds resources by name."""
    return path in _GROUPS


def touched(path: Path) -> Path:
    """Return the leaf that makes the resource at this path be there at all, if it exists."""
    is_entry = len(path) == _ENTRY_DEPTH and path[:2] in _GROUPS
    return (*path, _OBJECT, "kind") if is_entry else path


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestProjection:
    """The parts of a request that a script needs; ``tree`` None: all of it."""

    tree: _Tree | None

    @classmethod
    def of(cls, paths: Iterable[Path]) -> RequestProjection:
        """Return the projection to the values at these paths, and the branches that lead there."""
        leaves = frozenset(paths)
        entries = {path[:_ENTRY_DEPTH] for path in leaves if path[:2] in _GROUPS and path[2:]}
        of_any = {
            (*entry, *path[_ENTRY_DEPTH:])
            for entry in entries
            for path in leaves
            if path[:_ENTRY_DEPTH] == (*entry[:2], ANY)
        }
        return cls(tree=_tree(leaves | of_any, ()))

    def select(self, request: Mapping[str, Readable]) -> Object:
        """Return the parts of ``request``, in dicts and lists."""
        return _select(request, self.tree)


EVERYTHING = RequestProjection(tree=None)


def _tree(leaves: Paths, here: Path) -> _Tree | None:
    if here in leaves or not is_branch(here):
        return None
    depth = len(here)
    below = {path[depth] for path in leaves | _BRANCHES if path[:depth] == here != path}
    if depth == _ENTRY_DEPTH:
        below.add(_OBJECT)
    return {key: _tree(leaves, (*here, key)) for key in sorted(below)}


def _select(value: Mapping[str, Readable], tree: _Tree | None) -> Object:
    if tree is None:
        return {key: _whole(value, key) for key in value}
    keys = value if ANY in tree else [key for key in tree if key in value]
    return {key: _selected(value, key, tree[key if key in tree else ANY]) for key in keys}


def _selected(value: Mapping[str, Readable], key: str, tree: _Tree | None) -> Value:
    if tree is None:
        return _whole(value, key)
    return _select(cast("Mapping[str, Readable]", value[key]), tree)


def _whole(value: Mapping[str, Readable], key: str) -> Value:
    return value.plain(key) if isinstance(value, Lazy) else plain(value[key])
