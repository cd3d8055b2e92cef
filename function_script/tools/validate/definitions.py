"""Checks of the XRDs and CRDs themselves: a schema that cannot be read would find no mistakes."""

from collections.abc import Iterable
from typing import Final

from function_script import objects
from function_script.diagnostics import Diagnostic
from function_script.documents import Document
from function_script.errors import InputError
from function_script.problems import ProblemList
from function_script.reader import ObjectReader
from function_script.tools import author_positions, xrds
from function_script.tools.validate import catalog, packages

# Only v1: v1beta1 may have its schema in another field.
_CRD: Final = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")


def defines_schemas(document: Document) -> bool:
    """Report whether an extension is one at all: an XRD, a CRD, or a package."""
    value = document.value
    return xrds.is_xrd(value) or catalog.is_crd(value) or packages.is_package(value)


def check(documents: Iterable[Document]) -> None:
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
