"""Paths of parts of a request, and the projection of a request to some of them.

`pruning` finds the paths that a script needs; the engine builds only those values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, TypeAlias

from function_script.request.lazy import ANY, Lazy, PartTree, plain
from function_script.request.values import Object, Readable, Value

Path: TypeAlias = tuple[str, ...]
Paths: TypeAlias = frozenset[Path]

# Branches that are the same in every request. Everything else is a leaf, which is there as a whole
# or not at all, or a part of a resource.
_BRANCHES: Final[Paths] = frozenset(
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


# They hold resources by name, whose objects are branches, too, with the parts below them so far.
GROUPS: Final[Paths] = frozenset({("desired", "resources"), ("observed", "resources")})
_COMPOSITES: Final[Paths] = frozenset({("desired", "composite"), ("observed", "composite")})
_OBJECT: Final = "resource"
# The object itself is the first of these levels.
_OBJECT_LEVELS: Final = 3


def is_branch(path: Path) -> bool:
    """Report whether parts below this path are selected one by one.

    A branch below a resource's object may be absent, and may be a list or a scalar, which is
    selected as a whole.
    """
    entry = _entry_depth(path)
    if len(path) < entry or not entry:
        return path in _BRANCHES
    below = path[entry:]
    return not below or (below[0] == _OBJECT and len(below) <= _OBJECT_LEVELS)


def _entry_depth(path: Path) -> int:
    """Return the length of the path to the resource that this path leads to or into; else 0."""
    if path[:2] in GROUPS:
        return 3
    return 2 if path[:2] in _COMPOSITES else 0


def project(paths: Iterable[Path], parts: Iterable[Path] = ()) -> PartTree | None:
    """Return the tree of the values at these paths, and of the branches that lead there.

    Of ``parts``, which are branches, a script may ask whether they exist.
    """
    leaves, branches = frozenset(paths), frozenset(parts)
    entries = {path[:3] for path in leaves | branches if path[:2] in GROUPS and path[2:]}
    return _tree(leaves | _of_any(leaves, entries), branches | _of_any(branches, entries), ())


def _of_any(paths: Paths, entries: Collection[Path]) -> Paths:
    """Return the paths below any resource, for each of the resources that are named."""
    return frozenset(
        (*entry, *path[3:]) for entry in entries for path in paths if path[:3] == (*entry[:2], ANY)
    )


def _tree(leaves: Paths, parts: Paths, here: Path) -> PartTree | None:
    if here in leaves or not is_branch(here):
        return None
    depth = len(here)
    below = {path[depth] for path in leaves | parts if path[:depth] == here != path}
    if here and depth == _entry_depth(here):
        # A resource always has an object.
        below.add(_OBJECT)
    return {key: _tree(leaves, parts, (*here, key)) for key in sorted(below)}


def select(value: Mapping[str, Readable], tree: PartTree | None) -> Object:
    """Return the parts of a request or of a value in it, in dicts and lists; None is all of it."""
    if tree is None:
        return {key: _whole(value, key) for key in value}
    if ANY in tree:
        return {key: _selected(value, key, tree[key if key in tree else ANY]) for key in value}
    return {key: _selected(value, key, tree[key]) for key in tree if key in value}


def _selected(value: Mapping[str, Readable], key: str, tree: PartTree | None) -> Value:
    if tree is None:
        return _whole(value, key)
    below = value.memo[key] if isinstance(value, Lazy) else value[key]
    if isinstance(below, Lazy):
        selected = below.select(tree)
        return select(below, tree) if selected is None else selected
    return select(below, tree) if isinstance(below, dict) else plain(below)


def _whole(value: Mapping[str, Readable], key: str) -> Value:
    return value.plain(key) if isinstance(value, Lazy) else plain(value[key])
