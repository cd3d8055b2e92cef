"""Maps merged as Go's package mergo does it; for ``merge`` and ``mergeOverwrite``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.values import NilMap, TypedMap, is_nil

if TYPE_CHECKING:
    from function_script.engines.gotemplate.function import Allocator

_ABSENT: Final = object()


def merge(budget: Allocator, target: object, *sources: object) -> object:
    """Fill what is absent or empty in the first map; changes and returns it."""
    return _merge_all(budget, target, sources, overwrite=False)


def merge_overwrite(budget: Allocator, target: object, *sources: object) -> object:
    """Let later maps win, with empty values, too; changes and returns the first."""
    return _merge_all(budget, target, sources, overwrite=True)


def _merge_all(
    budget: Allocator, target: object, sources: tuple[object, ...], *, overwrite: bool
) -> object:
    for source in sources:
        if not isinstance(source, dict) or is_nil(source):
            continue
        if isinstance(target, NilMap):
            target = {}
        budget.check_tree(source)
        if isinstance(target, dict):
            _merge(target, source, overwrite=overwrite)
    return target


def _merge(target: dict[object, object], source: dict[object, object], *, overwrite: bool) -> None:
    """Maps are merged with maps; parts of ``source`` may become parts of ``target``."""
    for key, value in list(source.items()):
        old = target.get(key, _ABSENT)
        if value is None:
            if overwrite:
                _put(target, key, None, source)
            continue
        both_maps = isinstance(value, dict) and isinstance(old, dict)
        if isinstance(value, dict) and isinstance(old, dict) and not is_nil(old):
            _merge(old, value, overwrite=overwrite)
        if old is _ABSENT or not old or (overwrite and not both_maps):
            _put(target, key, value, source)


def _put(
    target: dict[object, object], key: object, value: object, source: dict[object, object]
) -> None:
    if isinstance(target, TypedMap) and type(source) is not type(target):
        given = source.element if isinstance(source, TypedMap) else "interface {}"
        if target.element not in {given, "interface {}"}:
            wanted = f"is not assignable to type {target.element}"
            raise CallError(f"reflect.Value.SetMapIndex: value of type {given} {wanted}")
    target[key] = value
