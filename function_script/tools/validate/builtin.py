"""Kubernetes' own kinds, which have no schema here: only names and metadata are validated.

Top-level fields and metadata are checked, fields below ``spec`` are not: see the reference of
`validate`.
"""

from functools import cache
from importlib import resources
from typing import Final

from function_script import objects
from function_script.reader import child
from function_script.source import Source
from function_script.tools import manifests, sources, structural_schema
from function_script.tools.validate import openapi
from function_script.tools.validate.report import Problem
from function_script.values import Object

_TEXT: Final[Object] = {"type": "string"}
_TEXTS: Final[Object] = {"type": "object", "additionalProperties": _TEXT}
_NUMBER: Final[Object] = {"type": "integer"}
_ANYTHING: Final[Object] = {structural_schema.PRESERVE: True}
_ANY_OBJECT: Final[Object] = {"type": "object", **_ANYTHING}
_OBJECTS: Final[Object] = {"type": "array", "items": _ANY_OBJECT}
_METADATA: Final[Object] = {
    **dict.fromkeys(("name", "generateName", "namespace", "uid", "resourceVersion"), _TEXT),
    **dict.fromkeys(("selfLink", "creationTimestamp", "deletionTimestamp"), _TEXT),
    **dict.fromkeys(("labels", "annotations"), _TEXTS),
    **dict.fromkeys(("generation", "deletionGracePeriodSeconds"), _NUMBER),
    **dict.fromkeys(("ownerReferences", "managedFields"), _OBJECTS),
    "finalizers": {"type": "array", "items": _TEXT},
}
# Fields that have the same type in all kinds.
_FIELDS: Final[Object] = {
    **dict.fromkeys(("spec", "status"), _ANY_OBJECT),
    **dict.fromkeys(("binaryData", "stringData"), _TEXTS),
    "immutable": {"type": "boolean"},
    "type": _TEXT,
}
_DATA: Final = ("ConfigMap", "Secret")
_ROOT: Final = ("apiVersion", "kind", "metadata")


def problems(manifest: Object) -> list[Problem] | None:
    """Return the problems of an object of Kubernetes' own kinds; None for any other object."""
    kind = objects.api_version_and_kind(manifest)[1]
    fields = _fields(manifest)
    if fields is None:
        return None
    properties: Object = {name: _FIELDS.get(name, _ANYTHING) for name in fields}
    if kind in _DATA:
        properties["data"] = _TEXTS
    properties["metadata"] = {"type": "object", "properties": _METADATA}
    value: Object = {key: objects.deep_copy(part) for key, part in manifest.items()}
    schema: Object = {"type": "object", "properties": properties}
    structural_schema.drop_nulls(value, schema)
    unknown = [path for path, _ in sorted(structural_schema.unknown_fields(value, schema))]
    metadata = manifests.object_at(value, "metadata")
    unknown += [child("metadata", name) for name in sorted(metadata) if name not in _METADATA]
    unknown_fields = [Problem(type="schema", message=f'unknown field "{path}"') for path in unknown]
    return [*openapi.problems(value, schema), *unknown_fields]


def find_unchecked(manifest: Object) -> list[str]:
    """Return the top-level fields of such an object whose content is not validated."""
    kind = objects.api_version_and_kind(manifest)[1]
    return [
        name
        for name in _fields(manifest) or ()
        if manifest.get(name) is not None
        and name not in _ROOT
        and not (name == "data" and kind in _DATA)
        and _FIELDS.get(name, _ANYTHING) in (_ANYTHING, _ANY_OBJECT)
    ]


def _fields(manifest: Object) -> list[str] | None:
    path = objects.api_version_and_kind(manifest)
    names = objects.find_path(_kinds(), path)
    return [str(name) for name in names] if isinstance(names, list) else None


@cache
def _kinds() -> Object:
    """Read the names of top-level fields by apiVersion and kind."""
    file = resources.files("function_script") / "tools" / "validate" / "kinds.yaml"
    (document,) = sources.read(Source(name=file.name, text=file.read_text("utf-8")))
    return document.value
