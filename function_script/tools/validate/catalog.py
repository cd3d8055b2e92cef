"""Schemas by kind, and what they do not allow: of CRDs, XRDs, packages and of Kubernetes itself.

A definition that cannot be read would find no mistakes, so it is an error.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from function_script.documents import Document
from function_script.request import objects
from function_script.request.reader import ObjectReader
from function_script.request.values import Object
from function_script.texts import spelling
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.texts.problems import ProblemList, list_choices, suggest
from function_script.texts.source import Source
from function_script.tools import author_positions, bounded, manifests, structural_schema, xrds
from function_script.tools.validate import builtin, openapi, packages
from function_script.tools.validate.report import Problem, SkippedRule

# This package contains Crossplane's own kinds.
CROSSPLANE: Final = "xpkg.crossplane.io/crossplane/crossplane:stable"

# Paths: importlib.resources takes 10 ms to import.
INPUTS: Final = Path(__file__).parents[2] / "input_crds"
"""The directory of our own CRDs."""
_PIPELINES: Final = Path(__file__).with_name("crds")
_CRD_VERSIONS: Final = ("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1")
# Only v1: v1beta1 may have its schema in another field.
_CRD: Final = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
_MAX_NAMES: Final = 12
MAX_HINTS: Final = 20
"""The unknown fields of an object that have a hint: to search names takes time."""


class Comparison(NamedTuple):
    """What a schema does not allow in an object; ``value`` is the object with its defaults.

    ``unevaluated`` are the patterns that were not evaluated.
    """

    value: Object
    schema: Object
    problems: list[Problem]
    unevaluated: list[SkippedRule]


class Catalog:
    """Schemas by apiVersion and kind; a later schema of a kind replaces an earlier one.

    They are those of ``extensions``, and of Kubernetes for its own kinds that are not in these.
    """

    def __init__(self, extensions: Iterable[Object] = ()) -> None:
        definitions = [*extensions]
        # By group and kind, without claims.
        self._definitions = {manifests.defined_type(each): each for each in definitions}
        self._schemas: dict[tuple[str, str], Object] = {
            (api_version, kind): schema
            for extension in definitions
            for api_version, kind, schema in to_schemas(extension)
        }

    def extend(self, extensions: Iterable[Object]) -> "Catalog":
        """Return a catalog with more extensions, without reading those of this one again."""
        catalog = Catalog(extensions)
        catalog._definitions = {**self._definitions, **catalog._definitions}
        catalog._schemas = {**self._schemas, **catalog._schemas}
        return catalog

    def find(self, api_version: str, kind: str) -> Object | None:
        """Return the schema of a kind, or None. It may contain itself."""
        return self._schemas.get((api_version, kind)) or builtin.find_schema(api_version, kind)

    def is_extension(self, type_: tuple[str, str]) -> bool:
        """Report whether the schema of a kind is that of a CRD or XRD."""
        return type_ in self._schemas

    def find_definition(self, type_: tuple[str, str]) -> Object:
        """Return the CRD or XRD of a kind, in any version; an empty object without one."""
        return self._definitions.get((manifests.group(type_[0]), type_[1]), {})

    def find_misspelt(self, api_version: str, kind: str) -> Iterator[Problem]:
        """Yield the problem of a type without a schema that is almost one with a schema.

        Another version of a kind may come with another release of its CRD: that is a warning.
        """
        own = [other for version, other in self._schemas if version == api_version]
        plurals = {
            manifests.text_at(each, "spec", "names", "plural"): other
            for (_, other), each in self._definitions.items()
        }
        near = spelling.find_slip(kind, own) or plurals.get(kind.lower())
        versions = self.list_versions(api_version, kind)
        if near in own:
            text = f"kind: there is no {kind} in {api_version}"
            yield Problem(type="schema", message=text, path="kind", hint=f'did you mean "{near}"?')
        elif versions:
            text = f"apiVersion: the {kind} at hand has {' and '.join(versions)}"
            yield Problem(type="schema", message=text, path="apiVersion", severity="warning")
        else:
            yield from builtin.find_misspelt_kind(api_version, kind)

    def list_versions(self, api_version: str, kind: str) -> list[str]:
        """Return the apiVersions in which extensions have a kind of the group of one."""
        group = manifests.group(api_version)
        return [
            version
            for version, other in self._schemas
            if other == kind and manifests.group(version) == group
        ]

    def is_cluster_scoped(self, type_: tuple[str, str]) -> bool:
        """Report whether objects of a kind certainly have no namespace."""
        if not self.is_extension(type_):
            return builtin.is_cluster_scoped(*type_)
        definition = self.find_definition(type_)
        if xrds.is_xrd(definition):
            return xrds.scope_of(definition) != "Namespaced"
        return manifests.text_at(definition, "spec", "scope") == "Cluster"

    def has_others(self, type_: tuple[str, str]) -> bool:
        """Report whether an extension defines a kind of another group than that of a kind."""
        group = manifests.group(type_[0])
        return any(manifests.group(api_version) != group for api_version, _ in self._schemas)

    def compare(self, manifest: Object, *, drops_nulls: bool = True) -> Comparison | None:
        """Return what the schema of an object's kind does not allow; None without a schema.

        ``drops_nulls``: a null that the schema of an extension does not allow counts as absent.
        Rules in CEL are left out.
        """
        type_ = objects.api_version_and_kind(manifest)
        schema = self.find(*type_)
        if schema is None:
            return None
        is_builtin = not self.is_extension(type_)
        drops_nulls = drops_nulls or is_builtin
        value = structural_schema.complete(manifest, schema, drops_nulls=drops_nulls)
        problems, unevaluated = openapi.check(value, schema)
        for each in find_unknown(value, schema, is_builtin=is_builtin):
            *holder, _ = objects.read_path(each.path)
            part = structural_schema.find(schema, holder) or {}
            # An object in the place of a list or a text has a problem of its own.
            if part.get("type", "object") == "object":
                problems.append(each)
        return Comparison(value, schema, problems, unevaluated)


def to_schemas(definition: Object) -> Iterator[tuple[str, str, Object]]:
    """Yield apiVersion, kind and schema of a CRD's or an XRD's versions; none for other objects."""
    if xrds.is_xrd(definition):
        yield from xrds.to_schemas(definition)
    elif is_crd(definition):
        group, kind = manifests.defined_type(definition)
        # v1beta1 could state one schema for all versions.
        shared = manifests.object_at(definition, "spec", "validation", "openAPIV3Schema")
        for version in manifests.objects_at(definition, "spec", "versions"):
            schema = manifests.object_at(version, "schema", "openAPIV3Schema") or shared
            if schema and version.get("served") is not False:
                yield f"{group}/{version.get('name')}", kind, schema


def find_unknown(value: Object, schema: Object, *, is_builtin: bool = False) -> list[Problem]:
    """Return a problem for each field that ``schema`` does not define.

    ``is_builtin``: it is Kubernetes' own. Another version of the kind may have the field.
    """
    fields = [*structural_schema.unknown_fields(value, schema)]
    if is_builtin:
        of_metadata = (value.get("metadata"), builtin.metadata_schema(), "metadata")
        fields += structural_schema.unknown_fields(*of_metadata)
    api_version, kind = objects.api_version_and_kind(value)
    problems: list[Problem] = []
    for path, name in sorted(fields):
        keys = objects.read_path(path) or (name,)
        message = f'unknown field "{path}"'
        other = builtin.find_other_version(api_version, kind, keys) if is_builtin else None
        if is_builtin and other is None:
            message += f": Kubernetes {builtin.version()} has no such field"
        hint = f"{kind} of {other} has it" if other else None
        if other is None and len(problems) < MAX_HINTS:
            names = structural_schema.properties(structural_schema.find(schema, keys[:-1]) or {})
            elsewhere = structural_schema.find_elsewhere(schema, keys, value)
            hint = suggest_field(name, tuple(names), elsewhere)
        problem = Problem(
            type="unknownField",
            message=message,
            value=name,
            field="" if is_builtin else path,
            path=path,
            hint=hint,
            severity="warning" if other else "error",
        )
        problems.append(problem)
    return problems


def suggest_field(name: str, names: tuple[str, ...], elsewhere: str | None = None) -> str | None:
    """Return the hint for an unknown field beside those called ``names``."""
    listed = list_choices(names) if 0 < len(names) <= _MAX_NAMES else None
    return suggest(name, names, elsewhere or listed)


def is_crd(manifest: Object) -> bool:
    """Report whether an object is a CustomResourceDefinition."""
    api_version, kind = objects.api_version_and_kind(manifest)
    return kind == "CustomResourceDefinition" and api_version in _CRD_VERSIONS


def defines_schemas(document: Document) -> bool:
    """Report whether an extension is one at all: an XRD, a CRD, or a package."""
    value = document.value
    return xrds.is_xrd(value) or is_crd(value) or any(packages.find_references(value))


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
        spec.text("group", required=True)
        names = spec.object("names", required=True)
        if names is not None:
            names.text("kind", required=True)
        versions = list(spec.objects("versions"))
        if not versions and spec.value.get("versions") in (None, []):
            problems.add(spec.at("versions"), "is required")
        for version in versions:
            version.text("name", required=True)
            for flag in ("served", "referenceable", "storage", "deprecated"):
                version.flag(flag)
            schema = version.object("schema", required=is_xrd)
            if schema is not None:
                schema.object("openAPIV3Schema", required=is_xrd)
    return [author_positions.locate(problem.to_diagnostic(), document) for problem in problems]


def bundled() -> list[Document]:
    """Read the schemas that need no extension: those of inputs, and of pipelines."""
    return [*_load(INPUTS), *_load(_PIPELINES)]


@cache
def read_schemas(directory: Path) -> dict[tuple[str, str], Object]:
    """Read the schemas of a directory of CRDs by apiVersion and kind."""
    return {
        (api_version, kind): schema
        for document in _load(directory)
        for api_version, kind, schema in to_schemas(document.value)
    }


def _load(directory: Path) -> list[Document]:
    return [
        document
        for file in sorted(directory.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".yaml")
        for document in bounded.read_documents(Source(name=file.name, text=file.read_text("utf-8")))
    ]
