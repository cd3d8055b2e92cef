"""package.yaml: the metadata of a Function and the CRDs of its inputs, checked and joined.

Called by the builder. The checks are those of Crossplane's own package linter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from function_script import documents, objects
from function_script.diagnostics import Diagnostic
from function_script.errors import InputError
from function_script.source import Source
from function_script.tools import manifests

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from function_script.documents import Document
    from function_script.values import Object

FILE_NAME: Final = "package.yaml"
BASE_LAYER: Final = "base"

_SUFFIXES: Final = {".yaml", ".yml"}
_META_VERSIONS: Final = ("meta.pkg.crossplane.io/v1", "meta.pkg.crossplane.io/v1beta1")
_CRD: Final = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
_PREFIX: Final = "function-"
# As far as constraints need telling from typing mistakes: comparisons joined by blanks, commas, ||.
_VERSION: Final = r"v?[0-9xX*]+(\.[0-9xX*]+){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?"
_COMPARISON: Final = rf"(=|==|!=|>|<|>=|=>|<=|=<|~|~>|\^)?\s*{_VERSION}"
_JOINT: Final = r"(\s*,\s*|\s*\|\|\s*|\s+-\s+|\s+)"
_CONSTRAINT: Final = re.compile(rf"\s*{_COMPARISON}({_JOINT}{_COMPARISON})*\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A Function package: its name and the whole text of package.yaml."""

    name: str
    text: str


def load(package_root: Path, input_crds: Path) -> Package:
    """Read everything that belongs into the package; raises InputError with every problem."""
    found = [*_documents(package_root), *_documents(input_crds)]
    functions = [document for document in found if _is_function(document.value)]
    problems = list(_problems(found, functions, package_root))
    if problems:
        raise InputError(*(Diagnostic(message=text) for text in problems))
    crds = [document for document in found if document is not functions[0]]
    return Package(name=manifests.name(functions[0].value), text=_join([functions[0], *crds]))


def _documents(directory: Path) -> Iterator[Document]:
    if not directory.is_dir():
        raise InputError.of(
            f'cannot build the package: there is no directory "{directory}"',
            hint="run the command in a checkout, or name the directory",
        )
    for path in sorted(directory.rglob("*")):
        if path.suffix in _SUFFIXES and path.is_file():
            source = Source(name=str(path), text=path.read_text(encoding="utf-8"))
            yield from documents.read_source(source)


def _is_function(manifest: Object) -> bool:
    api_version, kind = objects.api_version_and_kind(manifest)
    return kind == "Function" and api_version in _META_VERSIONS


def _problems(
    found: Iterable[Document], functions: list[Document], package_root: Path
) -> Iterator[str]:
    if len(functions) != 1:
        yield (
            f'cannot build the package: "{package_root}" holds {len(functions)} objects of kind '
            f"Function ({_META_VERSIONS[0]}) instead of one"
        )
    for document in found:
        gvk = objects.api_version_and_kind(document.value)
        if gvk != _CRD and document not in functions:
            yield (
                f"cannot put {manifests.describe(document.value)} into the package: "
                "it takes one Function and CustomResourceDefinitions only"
            )
    for function in functions:
        yield from _function_problems(function.value)


def _function_problems(function: Object) -> Iterator[str]:
    name = manifests.name(function)
    if not name.startswith(_PREFIX):
        yield f'cannot build package "{name}": the name of a function begins with "{_PREFIX}"'
    constraint = manifests.text_at(function, "spec", "crossplane", "version")
    if constraint and not _CONSTRAINT.fullmatch(constraint):
        yield (
            f'cannot build package "{name}": spec.crossplane.version "{constraint}" '
            "is no constraint on versions"
        )


def _join(found: Iterable[Document]) -> str:
    """One stream with a separator before the first document and after the last.

    A reader drops what stands before the first and after the last separator.
    """
    return "---\n" + "".join(f"{_body(document)}\n---\n" for document in found)


def _body(document: Document) -> str:
    return document.key.strip("\n")
