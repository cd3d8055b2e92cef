"""Schemas by kind, of CRDs and of XRDs as Crossplane converts them, and checks of both.

A definition that cannot be read would find no mistakes, so it is an error.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from function_script import objects
from function_script.diagnostics import Diagnostic
from function_script.documents import Document
from function_script.errors import InputError
from function_script.problems import ProblemList
from function_script.reader import ObjectReader
from function_script.tools import author_positions, manifests, xrds
from function_script.tools.validate import packages
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


# Only v1: v1beta1 may have its schema in another field.
_CRD: Final = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")


def defines_schemas(document: Document) -> bool:
    """Report whether an extension is one at all: an XRD, a CRD, or a package."""
    value = document.value
    return xrds.is_xrd(value) or is_crd(value) or packages.is_package(value)


def check_definitions(documents: Iterable[Document]) -> None:
    """Raise InputError with every problem that keeps the schemas from being read."""
    problems = [diagnostic for document in documents for diagnostic in _diagnostics(document)]
    if problems:
        raise InputError(*problems)


def _diagnostics(document: Document) -> list[Diagnostic]:
    is_xrd = xrds.is_xrd(document.value)
    if not is_xrd and objects.api_version_and_kind(document.value) != _CRD:
        return []
    problems = ProblemList()
    spec = ObjectReader(document.value, "", problems).object("spec", required=True)
    if spec is not None:
        _check_spec(spec, is_xrd=is_xrd)
    return [author_positions.to_field(problem.to_diagnostic(), document) for problem in problems]


def _check_spec(spec: ObjectReader, *, is_xrd: bool) -> None:
    spec.text("group", required=True)
    names = spec.object("names", required=True)
    if names is not None:
        names.text("kind", required=True)
    versions = list(spec.objects("versions"))
    if not versions and spec.value.get("versions") in (None, []):
        spec.problems.add(spec.at("versions"), "is required")
    for version in versions:
        version.text("name", required=True)
        for flag in ("served", "referenceable", "storage", "deprecated"):
            version.flag(flag)
        schema = version.object("schema", required=is_xrd)
        if schema is not None:
            schema.object("openAPIV3Schema", required=is_xrd)
