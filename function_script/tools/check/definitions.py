"""The schemas that fields are compared with: of a Composition's XR, and of other kinds.

Without an option of the command, the XRD is looked for in the Composition's directory. When two
XRDs define the XR, neither is taken.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from function_script import objects
from function_script.documents import Document
from function_script.errors import FatalError
from function_script.tools import manifests, sources, structural_schema, xrds
from function_script.tools.validate.catalog import Catalog
from function_script.values import Object

_FILES: Final = ("definition.yaml", "definition.yml", "xrd.yaml", "xrd.yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definitions:
    """XRDs, and CRDs by the kinds they define. ``has_crds``: some were given."""

    xrds: Sequence[Object] = ()
    crds: Catalog = field(default_factory=Catalog)
    has_crds: bool = False

    def find_xr(self, composition: Document, others: Iterable[Document] = ()) -> Object | None:
        """Return the schema of a Composition's XR; None when it is not certain.

        ``others`` are the documents of the same file, such as a package's.
        """
        reference = manifests.object_at(composition.value, "spec", "compositeTypeRef")
        for candidates in self._candidates(composition, others):
            schemas = [schema for xrd in candidates for schema in _schemas(xrd, reference)]
            if schemas:
                return schemas[0] if len(schemas) == 1 else None
        return None

    def find_xrd(self, xr: Document, others: Iterable[Document] = ()) -> Object | None:
        """Return the XRD of an XR; None when there is none with its version, or not a single one.

        ``others`` are the documents of the same file.
        """
        type_ = objects.api_version_and_kind(xr.value)
        for candidates in self._candidates(xr, others):
            matches = [xrd for xrd in candidates if _defines_xr(xrd, *type_)]
            if matches:
                return matches[0] if len(matches) == 1 else None
        return None

    def _candidates(
        self, document: Document, others: Iterable[Document]
    ) -> Iterator[Sequence[Object]]:
        """Yield XRDs, those first that count first."""
        yield self.xrds
        yield [other.value for other in others if xrds.is_xrd(other.value)]
        source = document.origin.source
        if source is not None:
            yield _read_directory(Path(source.name).parent)

    def find_composed(self, api_version: str, kind: str) -> Object | None:
        """Return the schema of a composed resource."""
        return self.crds.find(api_version, kind)


def load(xrd: Path | None, crds: Sequence[Path]) -> Definitions:
    """Load the definitions in a file and in directories; raises InputError or DocumentError."""
    values = _values(crds)
    return Definitions(
        xrds=[value for value in (*_values([xrd] if xrd else []), *values) if xrds.is_xrd(value)],
        crds=Catalog(value for value in values if not xrds.is_xrd(value)),
        has_crds=any(not xrds.is_xrd(value) for value in values),
    )


def _values(paths: Iterable[Path]) -> list[Object]:
    return [document.value for document in sources.load(map(str, paths))]


def find_xrds(directory: Path) -> list[Path]:
    """Return the files of a Composition's directory that may hold its XRD."""
    return [path for name in _FILES if (path := directory / name).is_file()]


def _read_directory(directory: Path) -> list[Object]:
    """Return the XRDs in files of the usual names; `validate` reports those it cannot read."""
    values: list[Object] = []
    for path in find_xrds(directory):
        try:
            values += _values([path])
        except FatalError:
            continue
    return [value for value in values if xrds.is_xrd(value)]


def _defines_xr(xrd: Object, api_version: str, kind: str) -> bool:
    """Report whether an XRD has this version of this kind of XR, not of claim."""
    is_xr = kind == manifests.text_at(xrd, "spec", "names", "kind")
    return is_xr and xrds.find_schema(xrd, api_version, kind) is not None


def _schemas(xrd: Object, reference: Object) -> list[Object]:
    """Return the schema of the XR that ``reference`` names, if the XRD has one for it."""
    xr = objects.api_version_and_kind(reference)
    if xr[1] != manifests.text_at(xrd, "spec", "names", "kind"):
        return []
    return [
        _tolerant(schema, xrds.scope_of(xrd))
        for api_version, kind, schema in xrds.to_schemas(xrd)
        if (api_version, kind) == xr and _has_spec(xrd, api_version)
    ]


def _has_spec(xrd: Object, api_version: str) -> bool:
    """Report whether the XRD declares fields of the XR's spec."""
    version = api_version.rpartition("/")[2]
    return any(
        manifests.object_at(each, "schema", "openAPIV3Schema", "properties", "spec", "properties")
        for each in manifests.objects_at(xrd, "spec", "versions")
        if each.get("name") == version
    )


def _tolerant(schema: Object, scope: str) -> Object:
    """Return the schema with the fields that any version of Crossplane adds."""
    fields = dict(structural_schema.properties(schema))
    for part, names in xrds.crossplane_fields(scope).items():
        own = fields.get(part, {})
        added: Object = {name: {} for name in names}
        fields[part] = {**own, "properties": {**structural_schema.properties(own), **added}}
    return {**schema, "properties": {**fields}}
