"""Objects as data: look into, merge, pick and prune. Arguments are never changed."""

from collections.abc import Sequence
from typing import Final

from function_script.engines.library.function import Group
from function_script.request import objects
from function_script.request.values import Object, Readable, Value

GROUP: Final = Group(
    name="objects",
    summary="Objects as data. Arguments are never changed. A path is `spec.rules[0].host`, with "
    "keys that hold dots in brackets and quotes, or a list of keys and indices.",
)


@GROUP.filter(example='get({"a": {"b": [7]}}, "a.b[0]", 1)', result=7)
def get(value: Readable, path: str | Sequence[str | int], default: Readable = None) -> Readable:
    """The field at a path, or the default if a part of the path is missing or null."""
    item = objects.find_path(value, path)
    return default if item is None else item


@GROUP.filter(example='merge({"a": {"b": 1}}, {"a": {"c": 2}})', result={"a": {"b": 1, "c": 2}})
def merge(target: Object, source: Object) -> Object:
    """Both objects in one: maps merge at any depth, lists and scalars of ``source`` replace."""
    objects.merge(target, source)
    return target


@GROUP.filter(example='pick({"a": 1, "b": 2}, ["a"])', result={"a": 1})
def pick(value: Object, keys: list[str]) -> Object:
    """The object with only these keys."""
    picked = set(keys)
    return {key: item for key, item in value.items() if key in picked}


@GROUP.filter(example='omit({"a": 1, "b": 2}, ["a"])', result={"b": 2})
def omit(value: Object, keys: list[str]) -> Object:
    """The object without these keys."""
    omitted = set(keys)
    return {key: item for key, item in value.items() if key not in omitted}


@GROUP.filter(example='compact(from_json("{\\"a\\": {\\"b\\": null}}"))', result={"a": {}})
def compact(value: Value) -> Value:
    """The value without null fields at any depth; empty objects and lists stay."""
    return objects.without_nulls(value)
