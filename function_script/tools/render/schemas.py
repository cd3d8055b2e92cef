"""OpenAPI schemas by kind, from documents as the API server publishes them."""

from collections.abc import Iterable
from typing import Final

from function_script.errors import InputError
from function_script.tools import manifests
from function_script.values import Object, Value

_GVKS: Final = "x-kubernetes-group-version-kind"
_REF: Final = "#/components/schemas/"


class Schemas:
    """The schemas of ``documents``; the first document with a group and version provides them."""

    def __init__(self, documents: Iterable[Object]) -> None:
        self._documents: dict[str, Object] = {}
        for document in documents:
            schemas = manifests.object_at(document, "components", "schemas")
            for name in schemas:
                for gvk in manifests.objects_at(schemas, name, _GVKS):
                    self._documents.setdefault(_api_version(gvk), schemas)

    def find(self, api_version: str, kind: str) -> Object | None:
        """Return the schema of a kind with its references resolved; None if it is not known."""
        schemas = self._documents.get(api_version, {})
        for name, schema in schemas.items():
            gvks = manifests.objects_at(schemas, name, _GVKS)
            matches = [gvk for gvk in gvks if _api_version(gvk) == api_version]
            if len(gvks) == 1 and matches and matches[0].get("kind") == kind:
                return _resolve(schema, schemas, frozenset({name}))
        return None


def _api_version(gvk: Object) -> str:
    group = manifests.text_at(gvk, "group")
    version = manifests.text_at(gvk, "version")
    return f"{group}/{version}" if group else version


def _resolve(schema: Value, schemas: Object, above: frozenset[str]) -> Object:
    """Copy a schema without references; one inside itself becomes just an object."""
    if not isinstance(schema, dict):
        return {}
    name = _reference(schema)
    if name:
        if name in above:
            return {"type": "object"}
        if name not in schemas:
            raise InputError.of(f'cannot resolve the schema reference "{name}": it is not there')
        return _resolve(schemas[name], schemas, above | {name})
    resolved = dict(schema)
    properties = manifests.object_at(schema, "properties")
    if properties:
        resolved["properties"] = {
            key: _resolve(below, schemas, above) for key, below in properties.items()
        }
    for key in ("additionalProperties", "items"):
        if isinstance(schema.get(key), dict):
            resolved[key] = _resolve(schema[key], schemas, above)
    return resolved


def _reference(schema: Object) -> str:
    """Return the name of the referenced schema; a reference may be wrapped in allOf."""
    wrappers = manifests.objects_at(schema, "allOf")
    texts = [manifests.text_at(item, "$ref") for item in (schema, *wrappers)]
    return next((text.removeprefix(_REF) for text in texts if text), "")
