"""OpenAPI schemas by kind, from documents as the API server publishes them.

Called for the schemas that steps require. References are replaced by what they refer to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.errors import InputError
from function_script.tools import manifests

if TYPE_CHECKING:
    from collections.abc import Iterable

    from function_script.values import Object, Value

_GVKS: Final = "x-kubernetes-group-version-kind"
_REF: Final = "#/components/schemas/"


class Schemas:
    """The schemas of all ``documents``; the first that knows a group and version is asked."""

    def __init__(self, documents: Iterable[Object]) -> None:
        self._documents: dict[str, Object] = {}
        for document in documents:
            schemas = manifests.object_at(document, "components", "schemas")
            for name in schemas:
                for gvk in manifests.objects_at(schemas, name, _GVKS):
                    self._documents.setdefault(_api_version(gvk), schemas)

    def find(self, api_version: str, kind: str) -> Object | None:
        """The schema of a kind with its references resolved; None when it is not known."""
        schemas = self._documents.get(api_version, {})
        for name, schema in schemas.items():
            gvks = manifests.objects_at(schemas, name, _GVKS)
            matches = [gvk for gvk in gvks if _api_version(gvk) == api_version]
            if len(gvks) == 1 and matches and matches[0].get("kind") == kind:
                return _resolved(schema, schemas, frozenset({name}))
        return None


def _api_version(gvk: Object) -> str:
    group = manifests.text_at(gvk, "group")
    version = manifests.text_at(gvk, "version")
    return f"{group}/{version}" if group else version


def _resolved(schema: Value, schemas: Object, above: frozenset[str]) -> Object:
    """A copy without references; inside itself, a schema is only said to be an object."""
    if not isinstance(schema, dict):
        return {}
    name = _reference(schema)
    if name:
        if name in above:
            return {"type": "object"}
        if name not in schemas:
            raise InputError.of(f'cannot resolve the schema reference "{name}": it is not there')
        return _resolved(schemas[name], schemas, above | {name})
    resolved = dict(schema)
    properties = manifests.object_at(schema, "properties")
    if properties:
        resolved["properties"] = {
            key: _resolved(below, schemas, above) for key, below in properties.items()
        }
    for key in ("additionalProperties", "items"):
        if isinstance(schema.get(key), dict):
            resolved[key] = _resolved(schema[key], schemas, above)
    return resolved


def _reference(schema: Object) -> str:
    """The schema referred to; OpenAPI documents wrap references in allOf to describe them."""
    wrapped = manifests.objects_at(schema, "allOf")
    texts = [manifests.text_at(item, "$ref") for item in (schema, *wrapped)]
    return next((text.removeprefix(_REF) for text in texts if text), "")
