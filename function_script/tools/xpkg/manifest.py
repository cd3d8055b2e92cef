"""Build package.yaml: a package's metadata and its objects, checked and joined.

The checks are those of Crossplane's own package linter. Other files of a project with a
Configuration are left out and listed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from function_script.documents import Document
from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.sprig import semver
from function_script.request import objects
from function_script.request.reader import ObjectReader
from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.texts.problems import ProblemList
from function_script.tools import author_positions, bounded, manifests
from function_script.tools.author_positions import file_of
from function_script.tools.project import SUFFIXES, Project
from function_script.tools.xpkg import references

FILE_NAME: Final = "package.yaml"
EXAMPLES_NAME: Final = ".up/examples.yaml"
# The layer of examples has this name in Crossplane's command for historical reasons.
EXAMPLES_LAYER: Final = "upbound"

_META_GROUP: Final = "meta.pkg.crossplane.io"
_META: Final = {
    (f"{_META_GROUP}/v1", "Function"),
    (f"{_META_GROUP}/v1beta1", "Function"),
    (f"{_META_GROUP}/v1", "Configuration"),
}
# The types of objects in a package of each kind.
_CONTENT: Final = {
    "Function": {("apiextensions.k8s.io/v1", "CustomResourceDefinition")},
    "Configuration": {
        ("apiextensions.crossplane.io/v1", "CompositeResourceDefinition"),
        ("apiextensions.crossplane.io/v2", "CompositeResourceDefinition"),
        ("apiextensions.crossplane.io/v1", "Composition"),
        ("apiextensions.crossplane.io/v1alpha1", "ManagedResourceActivationPolicy"),
        ("ops.crossplane.io/v1alpha1", "Operation"),
        ("ops.crossplane.io/v1alpha1", "CronOperation"),
        ("ops.crossplane.io/v1alpha1", "WatchOperation"),
    },
}
_CONTENT_PHRASE: Final = {
    "Function": "one Function and CustomResourceDefinitions only",
    "Configuration": "one Configuration, XRDs, Compositions, Operations of every kind and "
    "ManagedResourceActivationPolicies",
}
# An object of these groups that a Configuration cannot have is a mistake, not another file.
_OWN_GROUPS: Final = {"apiextensions.crossplane.io", "ops.crossplane.io", _META_GROUP}
# The cluster that `render` and `test` run with: its objects are no part of a package.
_CLUSTER_FILES: Final = {"observed.yaml", "required.yaml"}
_DEPENDENCY: Final = ("apiVersion", "configuration", "function", "package", "provider", "version")
_PREFIX: Final = "function-"
_IGNORE_FILE: Final = "leave the file out: --ignore PATTERN"
_IGNORE: Final = "leave the others out: --ignore PATTERN"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The paths of a package's content.

    ``package_root`` has crossplane.yaml; ``input_crds`` is read for a Function only; ``examples``
    is a directory or a file; ``ignore`` are patterns of paths below ``package_root``. Links in
    these directories stay below one of them, or lead to what is ``allowed``.
    """

    package_root: Path
    input_crds: Path = Path("input_crds")
    examples: Path | None = None
    ignore: tuple[str, ...] = ()
    allowed: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package: its name, the texts of its two files, and the project files that are left out.

    ``other_functions`` are those that its steps call and none of its dependencies installs.
    ``files`` are those that were read.
    """

    name: str
    text: str
    examples: str | None
    left_out: tuple[str, ...]
    other_functions: tuple[str, ...]
    files: frozenset[Path]


def load(contents: Contents) -> Package:
    """Read everything that belongs into the package. Raises InputError with every problem."""
    paths = (contents.package_root, contents.input_crds, contents.examples)
    named = [path for path in paths if path is not None]
    project = Project(named=named, allowed=contents.allowed)
    documents = list(_documents(contents.package_root, contents, project))
    metas = [document for document in documents if _gvk(document) in _META]
    if len(metas) != 1:
        files = dict.fromkeys(span.name for each in metas if (span := each.span()) is not None)
        wrong = (each.span() for each in documents if file_of(each).name == "crossplane.yaml")
        raise InputError.of(
            f'cannot build the package: "{contents.package_root}" holds {len(metas)} objects of '
            f"kind Function or Configuration ({_META_GROUP}/v1) instead of one",
            span=None if metas else next(wrong, None),
            hint=f"{_IGNORE}: {', '.join(files)}" if metas else None,
        )
    (meta,) = metas
    kind = _gvk(meta)[1]
    if kind == "Function":
        documents += _documents(contents.input_crds, contents, project)
    # An object of Crossplane's own groups that the package cannot have is a problem below.
    content = [document for document in documents if kind == "Function" or _is_own(document)]
    examples: list[Document] = []
    path = contents.examples
    if path is not None and path.is_dir():
        own = Contents(package_root=path, ignore=contents.ignore)
        examples += _documents(path, own, project)
    elif path is not None and path.is_file():
        examples += _read(path, project)
    elif path is not None:
        raise InputError.of(f'cannot build the package: there are no examples at "{path}"')
    problems = [*_metadata_problems(meta), *_problems(meta.value, content)]
    problems += [
        Diagnostic(
            message="cannot put an example into the package: it has no apiVersion or no kind",
            span=document.span(),
            hint=_IGNORE_FILE,
        )
        for document in examples
        if not all(_gvk(document))
    ]
    if problems:
        raise InputError(*problems)
    inside = {id(document) for document in content}
    spans = (document.span() for document in documents if id(document) not in inside)
    return Package(
        name=manifests.name(meta.value),
        text=_join([meta, *(document for document in content if document is not meta)]),
        examples=None if path is None else _join(examples),
        left_out=tuple(dict.fromkeys(span.name for span in spans if span is not None)),
        other_functions=_other_functions(meta.value, content),
        files=frozenset(map(file_of, (*documents, *examples))),
    )


def _other_functions(meta: Object, content: Iterable[Document]) -> tuple[str, ...]:
    names = set()
    for each in manifests.objects_at(meta, "spec", "dependsOn"):
        with suppress(InputError):
            package = manifests.text_at(each, "package") or manifests.text_at(each, "function")
            # The version is a field of its own.
            names.add(references.parse(f"{package}:any").object_name)
    calls = dict.fromkeys(
        manifests.text_at(step, "functionRef", "name")
        for document in content
        for step in manifests.objects_at(document.value, "spec", "pipeline")
    )
    return tuple(name for name in calls if name not in names)


def _documents(directory: Path, contents: Contents, project: Project) -> Iterator[Document]:
    if not directory.is_dir():
        raise InputError.of(
            f'cannot build the package: there is no directory "{directory}"',
            hint="run it in the project's directory, or pass --package-root or --input-crds",
        )
    examples = None if contents.examples is None else contents.examples.resolve()
    for path in project.find_files(directory, SUFFIXES):
        below = path.relative_to(directory)
        # A file is where its directory is, also if it is a link to another one.
        real = path.parent.resolve() / path.name
        is_example = examples is not None and real.is_relative_to(examples)
        if not is_example and not _is_ignored(below, contents.ignore):
            yield from _read(path, project)


def _is_ignored(below: Path, patterns: tuple[str, ...]) -> bool:
    """Report whether a pattern matches, or the path is hidden as environments and CI files are."""
    is_hidden = any(part.startswith(".") for part in below.parts)
    return is_hidden or any(fnmatchcase(below.as_posix(), pattern) for pattern in patterns)


def _read(path: Path, project: Project) -> list[Document]:
    return bounded.read_documents(project.load(path)) if path.suffix in SUFFIXES else []


def _is_own(document: Document) -> bool:
    """Report whether an object is one for Crossplane, and not of the cluster of a test."""
    is_cluster = file_of(document).name in _CLUSTER_FILES
    return not is_cluster and manifests.group(_gvk(document)[0]) in _OWN_GROUPS


def _gvk(document: Document) -> tuple[str, str]:
    return objects.api_version_and_kind(document.value)


def _metadata_problems(meta: Document) -> list[Diagnostic]:
    """Return what Crossplane cannot read in the metadata of a package, and misspelt fields."""
    problems = ProblemList()
    fields = ObjectReader(meta.value, "", problems)
    if metadata := fields.object("metadata", required=True):
        metadata.text("name", required=True)
    spec = fields.object("spec") or ObjectReader({}, "spec", problems)
    spec.refuse_misspelt("crossplane", "dependsOn")
    if crossplane := spec.object("crossplane"):
        crossplane.parsed("version", _check_constraint)
    for item in spec.objects("dependsOn"):
        item.refuse_misspelt(*_DEPENDENCY)
        if "package" in item.value:
            item.choice("kind", {**_CONTENT, "Provider": set()}, required=True, exact=True)
        item.parsed("version", _check_constraint)
    diagnostics = (problem.to_diagnostic("cannot build the package: ") for problem in problems)
    return author_positions.locate_all(diagnostics, meta)


def _check_constraint(text: str) -> None:
    """Raise ValueError unless a text is a digest, or a constraint on versions."""
    try:
        if not text.startswith("sha256:"):
            # Crossplane reads it with the library that sprig has.
            semver.check_version(text, "0")
    except CallError as error:
        raise ValueError(f'"{text}" is no constraint on versions') from error


def _problems(meta: Object, content: list[Document]) -> Iterator[Diagnostic]:
    """Yield the problems of the metadata, then those of the objects, ``meta`` among them."""
    name, kind = manifests.name(meta), manifests.text_at(meta, "kind")
    if kind == "Function" and not name.startswith(_PREFIX):
        yield Diagnostic(
            message=f'cannot build package "{name}": the name of a function begins with "{_PREFIX}"'
        )
    for document in content:
        if _gvk(document) not in _CONTENT[kind] | _META:
            yield Diagnostic(
                message=f"cannot put {manifests.describe(document.value)} into the package: "
                f"it takes {_CONTENT_PHRASE[kind]}",
                span=document.span(),
                # Another kind may be a misspelt one.
                hint=_IGNORE_FILE if _gvk(document)[1] == "EnvironmentConfig" else None,
            )
    names = Counter(_identity(document) for document in content)
    for document in content:
        if names.pop(_identity(document), 1) > 1:
            yield Diagnostic(
                message=f"cannot put {manifests.describe(document.value)} into the package: "
                "there are several of this name",
                span=document.span(),
                hint=_IGNORE,
            )


def _identity(document: Document) -> tuple[str, str, str]:
    api_version, kind = _gvk(document)
    return manifests.group(api_version), kind, manifests.name(document.value)


def _join(documents: Iterable[Document]) -> str:
    """Join documents to a stream with a separator before the first and after the last.

    Crossplane's reader drops the text before the first and after the last separator.
    """
    bodies = (document.text.strip("\n") for document in documents)
    return "---\n" + "".join(f"{body}\n---\n" for body in bodies)
