"""OpenAPI schemas by kind, from documents as the API server publishes them.

Called for the schemas that steps require. References are replaced by what they refer to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.tools.render import manifests

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
            for schema in schemas.values():
                for gvk in manifests.objects_at({"schema": schema}, "schema", _GVKS):
                    self._documents.setdefault(_api_version(gvk), schemas)

    def find(self, api_version: str, kind: str) -> Object | None:
        """The schema of a kind with its references resolved; None when it is not known."""
        schemas = self._documents.get(api_version, {})
        for name, schema in schemas.items():
            gvks = manifests.objects_at({"schema": schema}, "schema", _GVKS)
            if (
                len(gvks) == 1
                and _api_version(gvks[0]) == api_version
                and gvks[0].get("kind") == kind
            ):
                found = _flattened(schema, schemas, frozenset({name}))
                return found if isinstance(found, dict) else None
        return None


def _api_version(gvk: Object) -> str:
    group = manifests.text_at(gvk, "group")
    version = manifests.text_at(gvk, "version")
    return f"{group}/{version}" if group else version


def _flattened(value: Value, schemas: Object, above: frozenset[str]) -> Value:
    """``value`` without references; one that refers to a schema around it is left as it is."""
    if isinstance(value, list):
        return [_flattened(item, schemas, above) for item in value]
    if not isinstance(value, dict):
        return value
    name = manifests.text_at(value, "$ref").removeprefix(_REF)
    if name and name not in above and name in schemas:
        return _flattened(schemas[name], schemas, above | {name})
    return {key: _flattened(item, schemas, above) for key, item in value.items()}
