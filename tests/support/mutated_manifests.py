"""Manifests of Kubernetes' own kinds, each with a seeded mistake or none."""

import copy
import random
from collections.abc import Iterator
from typing import Final, NamedTuple

from function_script.request.objects import Path
from function_script.request.reader import format_path
from function_script.request.values import Object, Value

_COUNTS: Final = {"rename": 3, "type": 3, "drop": 1}


class Mutated(NamedTuple):
    """A manifest and what was changed in it; ``change`` is empty for one as it was."""

    change: str
    manifest: Object


def mutate(manifest: Object) -> Iterator[Mutated]:
    """Yield the manifest, then with other names of fields, other types, and without a field."""
    yield Mutated("", manifest)
    seed = random.Random(f"{manifest['apiVersion']}/{manifest['kind']}")  # noqa: S311 - no secret
    paths = [path for path in _fields(manifest) if path not in {("apiVersion",), ("kind",)}]
    for change, count in _COUNTS.items():
        for path in seed.sample(paths, count):
            changed = copy.deepcopy(manifest)
            *above, key = path
            holder: Value = changed
            for part in above:
                holder = holder[part]  # type: ignore[index, call-overload] # the path exists
            assert isinstance(holder, dict)
            value = holder.pop(str(key))
            if change == "rename":
                middle = len(str(key)) // 2
                holder[f"{str(key)[:middle]}{str(key)[middle + 1 :]}x"] = value
            elif change == "type":
                holder[str(key)] = _other_type(value)
            yield Mutated(f"{change} {format_path(path)}", changed)


def _fields(value: Value, path: Path = ()) -> Iterator[Path]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield (*path, key)
            yield from _fields(below, (*path, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _fields(below, (*path, index))


def _other_type(value: Value) -> Value:
    if isinstance(value, str):
        return 7
    if isinstance(value, dict):
        return "text"
    return {"a": "b"} if isinstance(value, list) else "text"
