"""Functions that return a missing value when they find nothing, in templates of our own kind.

In Go they return an empty text, a nil map or nil. Functions that chain keys read through missing
values, as chains of fields do.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final, Protocol, cast

from function_script.engines.gotemplate.builtins import core
from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Function, FunctionTable
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.sprig import defaults, dicts
from function_script.engines.gotemplate.values import MISSING, AnyMap, NilList, go_type, is_nil

_OVERRIDES: Final = FunctionTable()


def override_lookups(functions: Mapping[str, Function]) -> dict[str, Function]:
    """Return the functions that differ where using a missing value is an error."""
    lookups = {
        name: _with_nothing(function, MISSING)
        for name, function in functions.items()
        if function.is_lookup
    }
    slicing = {name: _with_nothing(functions[name], NilList()) for name in ("slice", "mustSlice")}
    overrides = {
        each.name: replace(functions[each.name], parameters=each.parameters, call=each.call)
        for each in _OVERRIDES
    }
    return lookups | slicing | overrides


class _Lookup(Protocol):
    def __call__(self, *arguments: object) -> object: ...


def _with_nothing(function: Function, nothing: object) -> Function:
    """Return the same function, which gives ``nothing`` for nil."""
    find = cast("_Lookup", function.call)

    def call(*arguments: object) -> object:
        value = find(*arguments)
        return nothing if is_nil(value) else value

    return replace(function, call=call)


_OVERRIDES.add("default", parameters="value value...")(defaults.default)
_OVERRIDES.add("dig", parameters="value...")(partial(dicts.dig, beyond_null=True))
_OVERRIDES.add("include", parameters="string value")(Run.include)


@_OVERRIDES.add("index", parameters="value value...")
def _index(item: object, *keys: object) -> object:
    for key in keys:
        if key is MISSING:
            raise CallError("a key does not exist")
        if item is None or item is MISSING:
            item = MISSING
        elif isinstance(item, dict) and (type(key) is str or isinstance(item, AnyMap)):
            item = item.get(key, MISSING)
        else:
            item = core.index(item, key)
    return item


@_OVERRIDES.add("get", parameters="map string")
def _get(mapping: dict[str, object], key: str) -> object:
    return mapping.get(key, MISSING)


@_OVERRIDES.add("coalesce", parameters="value...")
def _coalesce(*values: object) -> object:
    """Return the first that is not empty, or the last."""
    return next(filter(None, values), values[-1] if values else MISSING)


@_OVERRIDES.add("ternary", parameters="value value value")
def _ternary(yes: object, no: object, condition: object) -> object:
    if condition is not MISSING and type(condition) is not bool:
        raise CallError(f"wants true or false to decide, got {go_type(condition)}")
    return yes if condition else no
