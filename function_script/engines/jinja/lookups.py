"""Lookups ``a.b`` and ``a["b"]``: keys of data, and allowlists for everything else.

An object's key always wins over a method: ``spec.items`` is the field. No attribute of a Python
value is read unless it is listed here.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from jinja2 import Undefined
from jinja2.environment import TemplateModule
from jinja2.runtime import LoopContext
from jinja2.utils import Namespace

from function_script.engines import habits
from function_script.engines.jinja import exceptions
from function_script.engines.jinja.calls import Builtin
from function_script.engines.jinja.exceptions import make_undefined

MAPPING_METHODS = ("get", "items", "keys", "values")
STRING_METHODS = (
    *("capitalize", "count", "endswith", "find", "index", "isalnum", "isalpha", "isdigit"),
    *("join", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace", "rfind"),
    *("rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "title"),
    "upper",
)
LOOP_FIELDS = (
    *("depth", "depth0", "first", "index", "index0", "last", "length", "nextitem", "previtem"),
    *("revindex", "revindex0"),
)
LOOP_METHODS = ("changed", "cycle")


class Group(NamedTuple):
    """One group of the filter ``groupby``."""

    grouper: object
    list: list[object]


class Method:
    """A method that a template looked up on a value but has not called."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: object, name: str) -> None:
        self.owner = owner
        self.name = name


def get_attribute(value: object, name: str, undefined: type[Undefined]) -> object:
    """Look up ``value.name``; the caller has handled a dict that has the key."""
    if isinstance(value, Undefined):
        return make_undefined(undefined, value, name)
    if isinstance(value, Mapping):
        if name in MAPPING_METHODS and name not in value:
            return Method(value, name)
        return _find_field(value, name, undefined)
    find = _FINDERS.get(type(value))
    if find is not None:
        return find(value, name, undefined)
    methods = STRING_METHODS if isinstance(value, str) else ()
    if name in methods:
        return Method(value, name)
    if value is None or isinstance(value, (str, int, float, list, tuple, range)):
        # A method of Python has a hint of its own; any other name is only undefined.
        if name.startswith("_") or hasattr(type(value), name):
            raise _unavailable(value, name, methods)
        return make_undefined(undefined, value, name)
    if isinstance(value, Builtin) and (hint := habits.find("jinja", value.name, "word")):
        # `{{ range .list }}` reads as an attribute of the function.
        message = f'"{value.name}" is a function'
        raise exceptions.RenderError(message, hint=hint, name=value.name)
    raise _unavailable(value, name, ())


def get_item(value: object, index: object, undefined: type[Undefined]) -> object:
    """Look up ``value[index]``; the caller has handled a dict that has the key."""
    if isinstance(index, str):
        return get_attribute(value, index, undefined)
    if index is not None and not isinstance(index, (int, float)):
        raise exceptions.unsuitable("{} cannot be an index", index)
    if isinstance(index, int) and isinstance(value, (str, list, tuple, range)):
        if -len(value) <= index < len(value):
            return value[index]
        return make_undefined(undefined, value, index)
    if isinstance(value, Mapping) and index in value:
        return value[index]
    return make_undefined(undefined, value, index)


_ATTRIBUTES: Final = "_Namespace__attrs"
_FIELDS: Final[Mapping[type, Sequence[str]]] = {LoopContext: LOOP_FIELDS, Group: Group._fields}
_METHODS: Final[Mapping[type, Sequence[str]]] = {LoopContext: LOOP_METHODS, Group: ()}


def _find_listed(value: object, name: str, _undefined: type[Undefined]) -> object:
    fields, methods = _FIELDS[type(value)], _METHODS[type(value)]
    if name in methods:
        return Method(value, name)
    if name not in fields:
        raise _unavailable(value, name, (*fields, *methods))
    field: object = getattr(value, name)
    return field


def _find_in_module(value: object, name: str, undefined: type[Undefined]) -> object:
    # A module's names are attributes of a Python object, next to those of its class.
    exported = {key: each for key, each in vars(value).items() if not key.startswith("_")}
    return _find_field(exported, name, undefined)


def _find_in_namespace(value: object, name: str, undefined: type[Undefined]) -> object:
    return _find_field(getattr(value, _ATTRIBUTES), name, undefined)


def _find_field(fields: Mapping[str, object], name: str, undefined: type[Undefined]) -> object:
    return fields[name] if name in fields else make_undefined(undefined, fields, name)


# Lookups of attributes by the exact type of the value.
_FINDERS: Final[Mapping[type, Callable[[object, str, type[Undefined]], object]]] = {
    **dict.fromkeys((LoopContext, Group), _find_listed),
    TemplateModule: _find_in_module,
    Namespace: _find_in_namespace,
}


def _unavailable(value: object, name: str, available: Sequence[str]) -> exceptions.RenderError:
    hint = None
    if isinstance(value, (str, list, tuple, range)):
        hint = habits.find("jinja", name, "text" if isinstance(value, str) else "list")
    if hint is None and available:
        hint = f"available: {', '.join(sorted(available))}"
    return exceptions.RenderError(
        f'"{name}" of {exceptions.type_of(value)} is not available', hint=hint, name=name
    )
