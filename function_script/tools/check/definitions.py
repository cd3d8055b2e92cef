"""The schemas that fields are compared with, and the XRs that are validated by them.

Without an option of the command, the XRD is looked for in the Composition's directory. When two
XRDs define the XR, neither is taken. XRs are those in a file, and xr.yaml beside it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Final

from function_script.documents import Document
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts import spelling
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError
from function_script.texts.problems import Problem, suggest
from function_script.tools import (
    author_positions,
    manifests,
    sources,
    step_inputs,
    structural_schema,
    xrds,
)
from function_script.tools.check import rules
from function_script.tools.check.report import Report
from function_script.tools.project import Project
from function_script.tools.validate.packages import PackageSchemas

# Where `render` and `test` look for an XR.
_XR_FILES: Final = ("xr.yaml", "xr.yml")
_API_KINDS: Final = (
    *("CompositeResourceDefinition", "Composition", "CompositionRevision", "EnvironmentConfig"),
    *("ManagedResourceActivationPolicy", "ManagedResourceDefinition", "Usage"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definitions:
    """XRDs, and ``manifests`` with CRDs; ``notes`` say which packages have no schemas.

    Files beside a Composition are those of ``project``.
    """

    project: Project
    xrds: Sequence[Object] = ()
    manifests: Sequence[Object] = ()
    notes: Sequence[str] = ()

    def find_xrd_of(self, composition: Document, others: Iterable[Document] = ()) -> Object | None:
        """Return the XRD of a Composition's XRs, as `find_xrd`."""
        type_ = manifests.composed_type(composition.value)
        xrd = self.find_xrd(composition, type_, others)
        # A claim's kind has a schema in the XRD too, and is no XR.
        return xrd if manifests.text_at(xrd or {}, "spec", "names", "kind") == type_[1] else None

    def find_xrd(
        self, document: Document, type_: tuple[str, str], others: Iterable[Document]
    ) -> Object | None:
        """Return the XRD of an XR's or a claim's type; None unless one has its version.

        It is near a ``document``; ``others`` are the documents of the same file.
        """
        api_version, kind = type_
        for candidates in self._candidates(document, others, kind):
            matches = [
                xrd for xrd in candidates if xrds.find_schema(xrd, api_version, kind) is not None
            ]
            if matches:
                return matches[0] if len(matches) == 1 else None
        return None

    def find_misnamed_type(
        self, document: Document, others: Iterable[Document]
    ) -> Iterator[Diagnostic]:
        """Yield the problem of a type of XRs that the only XRD of its group near it has almost."""
        is_composition = _is_of_api(document)
        read_type = manifests.composed_type if is_composition else objects.api_version_and_kind
        api_version, kind = read_type(document.value)
        group = manifests.group(api_version)
        candidates = chain.from_iterable(self._candidates(document, others, ""))
        near = [each for each in candidates if manifests.text_at(each, "spec", "group") == group]
        # The first type is an XR's, the others are those of other versions and of claims.
        schemas = xrds.to_schemas(near[0]) if len(near) == 1 else ()
        # A version without a name has another mistake.
        types = [each[:2] for each in schemas if not each[0].endswith("/")]
        name = types[0][1] if types else ""
        if spelling.nearest(kind, [name]) or kind in {each for _, each in types}:
            versions = [version for version, each in types if each == name]
            field, words = ("apiVersion", versions) if kind == name else ("kind", [name])
            hint = f"write {words[0]}, or mend the XRD" if len(words) == 1 else None
            text = f"the XRD of this group has {' and '.join(words)}"
            path = f"spec.compositeTypeRef.{field}" if is_composition else field
            yield Problem(path, text, hint).to_diagnostic()

    def _candidates(
        self, document: Document, others: Iterable[Document], kind: str
    ) -> Iterator[Sequence[Object]]:
        """Yield XRDs that may be of a kind, those first that count first.

        The last are those in files beside it; `validate` reports those it cannot read.
        """
        yield self.xrds
        yield [other.value for other in others if xrds.is_xrd(other.value)]
        directory = author_positions.file_of(document).parent
        yield _load_beside(directory, self.project).get(kind, [])


def load(
    xrd: Path | None, crds: Sequence[Path], project: Project, *, fetches: bool = False
) -> Definitions:
    """Load the definitions in a file and in directories, and in packages that these name.

    It ``fetches`` packages that the cache lacks. Raises InputError or DocumentError.
    """
    packages = PackageSchemas(fetches=fetches)
    loaded = packages.load_beside([*map(str, crds)], project)
    documents = sources.load([str(xrd)] if xrd else [], project)
    values = [*(document.value for document in documents), *loaded]
    return Definitions(
        xrds=[value for value in values if xrds.is_xrd(value)],
        manifests=[value for value in loaded if not xrds.is_xrd(value)],
        notes=packages.notes,
        project=project,
    )


@lru_cache(maxsize=100)
def _load_beside(directory: Path, project: Project) -> Mapping[str, list[Object]]:
    """Return the XRDs in a directory by the kinds that they define; "" has all of them.

    Thousands of Compositions and XRs may be beside them.
    """
    by_kind = defaultdict(list)
    for path in xrds.find_files(directory):
        with suppress(FatalError):
            for each in sources.load([str(path)], project):
                if xrds.is_xrd(each.value):
                    for kind in {"", *(kind for _, kind, _ in xrds.to_schemas(each.value))}:
                        by_kind[kind].append(each.value)
    return by_kind


def files_beside(file: Path) -> list[Path]:
    """Return the files that a Composition in ``file`` is checked with."""
    return [*xrds.find_files(file.parent), *map(file.with_name, _XR_FILES)]


def find_other_version(xrd: Object, composition: Document) -> Iterator[Diagnostic]:
    """Yield the problem of a Composition for a version that is not the referenceable one."""
    versions = manifests.objects_at(xrd, "spec", "versions")
    names = [each.get("name") for each in versions if each.get("referenceable") is True]
    group, version = manifests.composed_type(composition.value)[0].rsplit("/", 1)
    if len(names) == 1 and names[0] != version:
        text = f"Crossplane selects no Composition of it: {group}/{names[0]} is referenceable"
        yield Problem("spec.compositeTypeRef.apiVersion", text).to_diagnostic()


def find_schema(xrd: Object, composition: Document) -> Object | None:
    """Return the schema of a Composition's XR, with the fields of any Crossplane.

    None for an XRD that has no fields yet.
    """
    schema = xrds.find_schema(xrd, *manifests.composed_type(composition.value)) or {}
    fields = dict(structural_schema.properties(schema))
    own = xrds.crossplane_fields(xrds.scope_of(xrd))
    # An XRD may be unfinished: without fields of spec, any field of spec would be unknown.
    if structural_schema.properties(fields.get("spec", {})).keys() <= {*own["spec"]}:
        return None
    # Any version of Crossplane may run the program, and adds its own fields.
    for part, names in own.items():
        added: Object = {name: {} for name in names}
        below = structural_schema.properties(fields[part])
        fields[part] = {**fields[part], "properties": {**below, **added}}
    return {**schema, "properties": {**fields}}


@dataclass(frozen=True, slots=True, kw_only=True)
class XrChecker:
    """Validates every XR once into a report, however many Compositions are beside it.

    ``files`` were checked.
    """

    definitions: Definitions
    report: Report
    files: set[Path] = field(default_factory=set)

    def check(self, name: str, documents: Sequence[Document]) -> bool:
        """Check the XRs in the file ``name``, and in the XR's file beside it.

        Report whether there was one with its XRD.
        """
        path = Path(name)
        has_xr = self._is_new(path) and self._check_documents(path, documents)
        names = (*_XR_FILES, "xrd.yaml") if any(map(_is_of_api, documents)) else ()
        for other in map(path.with_name, names):
            if other.is_file() and self._is_new(other):
                try:
                    loaded = sources.load([str(other)], self.definitions.project)
                except FatalError as error:
                    self.report.add(rules.YAML, error.diagnostics)
                else:
                    has_xr |= self._check_documents(other, loaded)
        return has_xr

    def _is_new(self, path: Path) -> bool:
        """Report whether a file was not checked before."""
        is_new = path.resolve() not in self.files
        self.files.add(path.resolve())
        return is_new

    def _check_documents(self, path: Path, documents: Sequence[Document]) -> bool:
        """Check XRs; without their XRD, those of a file of XRs for what any XRD refuses."""
        from function_script.tools import xr_validation  # noqa: PLC0415 - slow to import

        definitions = [each for each in documents if xrds.is_xrd(each.value)]
        has_xr = False
        for document in documents:
            type_ = objects.api_version_and_kind(document.value)
            misspelt = author_positions.locate_all(_find_misspelt_kind(document), document)
            self.report.add(rules.COMPOSITION, misspelt)
            is_xr = all(type_) and not _is_of_api(document)
            if xrds.is_xrd(document.value):
                mistakes = xr_validation.find_mistakes(document.value)
                self.report.add(rules.XR, author_positions.locate_all(mistakes, document))
            # To find an XRD reads files, which a Composition need not wait for.
            if not is_xr and path.name not in _XR_FILES:
                continue
            xrd = self.definitions.find_xrd(document, type_, definitions)
            if xrd is None and path.name in _XR_FILES:
                misshapen = [
                    *manifests.find_misshapen(document.value),
                    *self.definitions.find_misnamed_type(document, definitions),
                ]
                self.report.add(rules.XR, author_positions.locate_all(misshapen, document))
            elif xrd is not None and is_xr:
                has_xr = True
                verdict = xr_validation.validate(document.value, xrd)
                self.report.rules += verdict.notes
                errors = author_positions.locate_all(verdict.errors, document)
                self.report.add(rules.XR, errors)
                warnings = author_positions.locate_all(verdict.warnings, document)
                self.report.add(rules.XR_FIELD, warnings)
        return has_xr


def _find_misspelt_kind(document: Document) -> Iterator[Diagnostic]:
    """Yield the problem of a kind that is one of Crossplane's but for a typo."""
    api_version, kind = objects.api_version_and_kind(document.value)
    is_ours = manifests.group(api_version) == manifests.group(manifests.COMPOSITION[0])
    if is_ours and kind not in _API_KINDS and (hint := suggest(kind, _API_KINDS)):
        yield Problem("kind", f"there is no {kind} in {api_version}", hint).to_diagnostic()


def _is_of_api(document: Document) -> bool:
    return xrds.is_xrd(document.value) or (
        step_inputs.has_pipeline(document.value)
        and manifests.text_at(document.value, "kind") == "Composition"
    )
