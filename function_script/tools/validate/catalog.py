"""The catalog of schemas by kind: from CRDs, and from XRDs as Crossplane converts them to CRDs."""

from collections.abc import Iterable, Iterator
from typing import Final

from function_script import objects
from function_script.tools import manifests, xrds
from function_script.values import Object

_CRD_VERSIONS: Final = ("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1")


class Catalog:
    """Schemas by apiVersion and kind; a later schema of a kind replaces an earlier one."""

    def __init__(self, extensions: Iterable[Object] = ()) -> None:
        self._schemas: dict[tuple[str, str], Object] = {}
        for extension in extensions:
            self.add(extension)

    def add(self, extension: Object) -> None:
        """Add the schemas of a CRD or an XRD; any other object has none."""
        if xrds.is_xrd(extension):
            schemas = xrds.to_schemas(extension)
        elif is_crd(extension):
            schemas = _crd_schemas(extension)
        else:
            return
        for api_version, kind, schema in schemas:
            self._schemas[api_version, kind] = schema

    def find(self, api_version: str, kind: str) -> Object | None:
        """Return the schema of a kind, or None."""
        return self._schemas.get((api_version, kind))


def is_crd(manifest: Object) -> bool:
    """Report whether an object is a CustomResourceDefinition."""
    api_version, kind = objects.api_version_and_kind(manifest)
    return kind == "CustomResourceDefinition" and api_version in _CRD_VERSIONS


def _crd_schemas(crd: Object) -> Iterator[tuple[str, str, Object]]:
    group = manifests.text_at(crd, "spec", "group")
    kind = manifests.text_at(crd, "spec", "names", "kind")
    # v1beta1 could state one schema for all versions.
    shared = manifests.object_at(crd, "spec", "validation", "openAPIV3Schema")
    for version in manifests.objects_at(crd, "spec", "versions"):
        schema = manifests.object_at(version, "schema", "openAPIV3Schema") or shared
        if schema:
            yield f"{group}/{version.get('name')}", kind, schema
