"""The schemas that a check may compare with: of the XR a Composition is for, and of CRDs.

Called once for a run of the command. Without being told, the XRD is looked for beside the
Composition; when two could be meant, none is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from function_script import objects
from function_script.errors import FatalError
from function_script.tools import manifests, sources, structural_schema, xrds
from function_script.tools.check import machinery
from function_script.tools.validate.catalog import Catalog

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from function_script.documents import Document
    from function_script.values import Object

_BESIDE: Final = ("definition.yaml", "definition.yml", "xrd.yaml", "xrd.yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definitions:
    """What was given: XRDs, and CRDs by the kinds they define."""

    xrds: Sequence[Object] = ()
    crds: Catalog = field(default_factory=Catalog)

    def find_xr(self, composition: Document, others: Iterable[Document] = ()) -> Object | None:
        """The schema of the XR that a Composition is for; None when nobody knows it for sure.

        ``others`` are the documents of the same file, such as a package's.
        """
        reference = manifests.object_at(composition.value, "spec", "compositeTypeRef")
        source = composition.origin.source
        within = [document.value for document in others if xrds.is_xrd(document.value)]
        beside = [] if source is None else _beside(Path(source.name))
        for candidates in (self.xrds, within, beside):
            found = [schema for xrd in candidates for schema in _schemas(xrd, reference)]
            if len(found) == 1:
                return found[0]
            if found:
                return None
        return None

    def find_composed(self, api_version: str, kind: str) -> Object | None:
        """The schema of a composed resource."""
        return self.crds.find(api_version, kind)


def load(xrd: Path | None, crds: Sequence[Path]) -> Definitions:
    """The definitions in a file and in directories; raises InputError or DocumentError."""
    given = _values([xrd] if xrd else [])
    found = _values(crds)
    return Definitions(
        xrds=[value for value in (*given, *found) if xrds.is_xrd(value)],
        crds=Catalog(value for value in found if not xrds.is_xrd(value)),
    )


def _values(paths: Iterable[Path]) -> list[Object]:
    return [document.value for document in sources.load(map(str, paths))]


def _beside(composition: Path) -> list[Object]:
    """XRDs in the Composition's directory; what cannot be read is for `validate` to tell."""
    found: list[Object] = []
    for name in _BESIDE:
        path = composition.parent / name
        if path.is_file():
            try:
                found += [document.value for document in sources.load([str(path)])]
            except FatalError:
                continue
    return [value for value in found if xrds.is_xrd(value)]


def _schemas(xrd: Object, reference: Object) -> list[Object]:
    """The schema of the XR that ``reference`` names, if the XRD states one for it."""
    wanted = objects.api_version_and_kind(reference)
    if wanted[1] != manifests.text_at(xrd, "spec", "names", "kind"):
        return []
    return [
        _tolerant(schema, xrds.scope_of(xrd))
        for api_version, kind, schema in xrds.to_schemas(xrd)
        if (api_version, kind) == wanted and _is_stated(xrd, api_version)
    ]


def _is_stated(xrd: Object, api_version: str) -> bool:
    """Whether the author has written what the XR's spec is made of."""
    version = api_version.rpartition("/")[2]
    return any(
        manifests.object_at(each, "schema", "openAPIV3Schema", "properties", "spec", "properties")
        for each in manifests.objects_at(xrd, "spec", "versions")
        if each.get("name") == version
    )


def _tolerant(schema: Object, scope: str) -> Object:
    """The schema with the fields of every version of Crossplane, of which anything may be read."""
    fields = dict(structural_schema.properties(schema))
    for part, names in machinery.fields(scope).items():
        stated = fields.get(part, {})
        known: Object = {**structural_schema.properties(stated), **{name: {} for name in names}}
        fields[part] = {**stated, "properties": known}
    return {**schema, "properties": {**fields}}
