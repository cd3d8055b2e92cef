"""Kubernetes' own kinds: their schemas, and what no schema says of them.

The schemas are those of one release, see `VERSION`: all fields with their types, and which are
required. Values of a field, such as the names of policies, are not in them.
"""

import json
import lzma
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, TypedDict

from function_script.request.reader import ObjectReader
from function_script.request.values import Object
from function_script.texts.problems import ProblemList
from function_script.tools import structural_schema
from function_script.tools.validate.report import Problem

_FILE: Final = "kubernetes.json.xz"
_INT32: Final = 1 << 31
# The names that `docs/generate/kubernetes_schemas.py` writes.
_SCALARS: Final[dict[str, Object]] = {
    "any": {structural_schema.PRESERVE: True},
    "object": {"type": "object", structural_schema.PRESERVE: True},
    "text": {"type": "string"},
    "flag": {"type": "boolean"},
    "int32": {"type": "integer", "minimum": -_INT32, "maximum": _INT32 - 1},
    "int64": {"type": "integer"},
    "number": {"type": "number"},
    "time": {"type": "string", "format": "date-time"},
    "int-or-text": {structural_schema.INT_OR_STRING: True},
    "quantity": {structural_schema.QUANTITY: True},
}


class _Type(TypedDict):
    """The fields of a type by their names, and those that are required."""

    fields: dict[str, str]
    required: list[str]


class _Release(NamedTuple):
    """The kinds of a release by apiVersion, each with the number of its type."""

    version: str
    kinds: dict[str, dict[str, str]]
    types: list[_Type]


def version() -> str:
    """Return the release of Kubernetes whose kinds are known."""
    return _load().version


@cache
def find_schema(api_version: str, kind: str) -> Object | None:
    """Return the schema of a kind of Kubernetes, or None. It may contain itself."""
    name = _load().kinds.get(api_version, {}).get(kind)
    return None if name is None else _find(name)


def find_other_version(api_version: str, kind: str, path: Sequence[str | int]) -> str | None:
    """Return another apiVersion of the same group whose kind has the field at ``path``, or None."""
    group = api_version.rpartition("/")[0]
    for other, kinds in _load().kinds.items():
        is_version = other != api_version and other.rpartition("/")[0] == group and kind in kinds
        if is_version and structural_schema.find(_find(kinds[kind]), path) is not None:
            return other
    return None


def find_unknown_metadata(value: Object, schema: Object) -> Iterator[tuple[str, str]]:
    """Yield path and name of every field of metadata that Kubernetes does not define."""
    metadata = structural_schema.find(schema, ("metadata",)) or {}
    return structural_schema.unknown_fields(value.get("metadata"), metadata, "metadata")


def find_text_problems(value: Object) -> Iterator[Problem]:
    """Yield the problems of values that must be base64."""
    from function_script.contribution import sanitize  # noqa: PLC0415 - slow to import

    problems = ProblemList()
    sanitize.check_texts(ObjectReader(value, "", problems), problems)
    for each in problems:
        yield Problem(type="schema", field=each.path, message=str(each), path=each.path)


@cache
def _load() -> _Release:
    data = Path(__file__).with_name(_FILE).read_bytes()
    return _Release(**json.loads(lzma.decompress(data)))


# Cases are validated in threads, and a type that is begun has no fields yet.
_building: Final = threading.Lock()


def _find(name: str) -> Object:
    with _building:
        return _schema(name)


@cache
def _schema(name: str) -> Object:
    """Return the schema with a name: a number, a scalar's, or ``[]`` or ``{}`` before another."""
    if name.startswith("[]"):
        return {"type": "array", "items": _element(name[2:])}
    if name.startswith("{}"):
        return {"type": "object", "additionalProperties": _element(name[2:])}
    return _SCALARS.get(name) or _complete(name)


def _element(name: str) -> Object:
    """Return the schema of an item or a value of a map: decoding makes "" or 0 of a null."""
    scalar = _SCALARS.get(name)
    return _schema(name) if scalar is None else scalar | {"nullable": True}


_types: Final[dict[str, Object]] = {}


def _complete(number: str) -> Object:
    """Return the schema of a type, which is registered before its fields: types are recursive."""
    if number not in _types:
        entry = _load().types[int(number)]
        schema = _types[number] = {"type": "object", "required": [*entry["required"]]}
        schema["properties"] = {name: _schema(below) for name, below in entry["fields"].items()}
    return _types[number]
