"""sprig's functions on maps: ``dict``, ``get``, ``set``, ``pick``, ``merge``, ``dig``."""

from typing import Final

from function_script.engines.gotemplate import values
from function_script.engines.gotemplate.data import copy_tree
from function_script.engines.gotemplate.errors import CallError, Code
from function_script.engines.gotemplate.function import Accepts, FunctionTable
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.sprig.conversions import to_text

FUNCTIONS: Final = FunctionTable()

_Map = dict[str, object]
_ABSENT: Final = object()


@FUNCTIONS.add("dict", accepts=Accepts.NULL)
def dict_(run: Run, *items: object) -> _Map:
    """A map of keys and values in turn: dict "a" 1 "b" 2.

    The value of a last single key is "".
    """
    names = [key if type(key) is str else to_text(run, key) for key in items[::2]]
    if len(items) % 2:
        items = (*items, "")
    return dict(zip(names, items[1::2], strict=True))


@FUNCTIONS.add("get", allocates=False, accepts=Accepts.MISSING)
def get(mapping: _Map, key: str) -> object:
    """The value of a key; an empty text where there is none."""
    return mapping.get(key, "")


@FUNCTIONS.add("hasKey", accepts=Accepts.MISSING)
def has_key(mapping: _Map, key: str) -> bool:
    """True if the map has the key."""
    return key in mapping


@FUNCTIONS.add("set", allocates=False, mutates=True, accepts=Accepts.NULL)
def set_(mapping: _Map, key: str, value: object) -> _Map:
    """Set a key of the map, and give the map."""
    if isinstance(mapping, values.NilMap):
        raise CallError("assignment to entry in nil map")
    mapping[key] = value
    return mapping


@FUNCTIONS.add("unset", allocates=False, mutates=True)
def unset(mapping: _Map, key: str) -> _Map:
    """Remove a key of the map, and give the map."""
    mapping.pop(key, None)
    return mapping


@FUNCTIONS.add("pluck")
def pluck(key: str, *mappings: _Map) -> list[object]:
    """The values of a key in several maps."""
    return [mapping[key] for mapping in mappings if key in mapping]


@FUNCTIONS.add("keys")
def keys(run: Run, *mappings: _Map) -> values.Strings:
    """The keys of maps, as a list.

    They are sorted for each map; Go's order is random.
    """
    run.check_list(sum(map(len, mappings)))
    return values.Strings(
        key for mapping in mappings for key in sorted(mapping, key=values.to_bytes)
    )


@FUNCTIONS.add("values")
def values_(mapping: _Map) -> list[object]:
    """The values of a map, as a list.

    They are in the order of the sorted keys.
    """
    return [mapping[key] for key in sorted(mapping, key=values.to_bytes)]


@FUNCTIONS.add("pick")
def pick(mapping: _Map, *keys: str) -> _Map:
    """The map with these keys only."""
    return {key: mapping[key] for key in keys if key in mapping}


@FUNCTIONS.add("omit")
def omit(mapping: _Map, *keys: str) -> _Map:
    """The map without these keys."""
    return {key: value for key, value in mapping.items() if key not in keys}


@FUNCTIONS.add("dig", allocates=False, accepts=Accepts.MISSING_AND_RETURNS_IT)
def dig(*arguments: object, beyond_null: bool = False) -> object:
    """The value at a path of keys, or a default: dig "spec" "size" 1 $xr.

    The arguments are keys, default, map. ``beyond_null``: the default also applies below a null or
    below nothing, which is an error otherwise.
    """
    *keys, default, value = arguments if len(arguments) > 2 else (None, None)  # noqa: PLR2004 # as the message says
    if not keys:
        raise CallError("dig needs at least three arguments")
    if not beyond_null:
        _as_map(value)
    names: list[str] = []
    for key in keys:
        if type(key) is not str:
            raise _no_conversion(key, "string", Code.KEY_NOT_A_TEXT)
        names.append(key)
    for name in names:
        if beyond_null and (value is None or value is values.MISSING):
            return default
        holder = _as_map(value)
        if name not in holder:
            return default
        value = holder[name]
    return value


def _as_map(value: object) -> _Map:
    if isinstance(value, dict) and not isinstance(value, values.TypedMap):
        return value
    raise _no_conversion(value, "map[string]interface {}")


def _no_conversion(value: object, expected: str, code: Code | None = None) -> CallError:
    actual = "nil" if value is None else values.go_type(value)
    return CallError(f"interface conversion: interface {{}} is {actual}, not {expected}", code)


# Merging, as Go's package mergo does it


@FUNCTIONS.add("merge", "mustMerge", parameters="map map...", allocates=False, mutates=True)
def merge(run: Run, target: object, *sources: object) -> object:
    """The maps, merged into the first; its own values win.

    The first map is changed: what is absent or empty there is filled in.
    """
    return _merge_all(run, target, sources, overwrite=False)


@FUNCTIONS.add(
    "mergeOverwrite", "mustMergeOverwrite", parameters="map map...", allocates=False, mutates=True
)
def merge_overwrite(run: Run, target: object, *sources: object) -> object:
    """The maps, merged into the first; later values win.

    The first map is changed. Later maps win also with empty values.
    """
    return _merge_all(run, target, sources, overwrite=True)


def _merge_all(run: Run, target: object, sources: tuple[object, ...], *, overwrite: bool) -> object:
    for source in sources:
        if not isinstance(source, dict) or values.is_nil(source):
            continue
        # Nothing is ever set on a nil map.
        if isinstance(target, values.NilMap):
            target = {}
        run.check_tree(source)
        if isinstance(target, dict):
            _merge_into(target, source, overwrite=overwrite)
    return target


def _merge_into(
    target: dict[object, object], source: dict[object, object], *, overwrite: bool
) -> None:
    """Merge maps with maps; parts of ``source`` may become parts of ``target``."""
    is_typed = isinstance(target, values.TypedMap)
    # A map with keys of any type takes all, and no map with texts alone takes one of these.
    is_same = type(source) is type(target) if is_typed else not isinstance(source, values.AnyMap)
    if source and not is_same and not isinstance(target, values.AnyMap):
        raise CallError(f"cannot merge {values.go_type(source)} into {values.go_type(target)}")
    # A copy, since the target, which grows, may be a part of the source.
    for key, value in list(source.items()):
        old = target.get(key, _ABSENT)
        if value is None:
            if overwrite:
                target[key] = None
            continue
        both_maps = isinstance(value, dict) and isinstance(old, dict)
        if isinstance(value, dict) and isinstance(old, dict) and not values.is_nil(old):
            _merge_into(old, value, overwrite=overwrite)
        if old is _ABSENT or not old or (overwrite and not both_maps):
            target[key] = value


# Copying


@FUNCTIONS.add("deepCopy", "mustDeepCopy")
def deep_copy(run: Run, value: object) -> object:
    """A copy of the value."""
    if value is None:
        raise CallError("reflect: call of reflect.Value.Type on zero Value")
    run.check_tree(value)
    return copy_tree(value)
