"""Load the files of a rendering from the paths on the command line.

A directory in place of the first file is an example: its files have fixed names.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from function_script.documents import Document
from function_script.request import objects
from function_script.request.values import Object, Value
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import DocumentError, FatalError, InputError, LimitError
from function_script.texts.source import Span
from function_script.tools import author_positions, bounded, local_pool, manifests, sources, xrds
from function_script.tools.project import SUFFIXES, Project
from function_script.tools.render import RenderInputs
from function_script.tools.render.requirements import PipelineInputs
from function_script.tools.render.xr import resolve_claim
from function_script.tools.validate.packages import PackageSchemas


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelinePaths:
    """The paths that Compositions and Operations share.

    ``context`` maps keys to files, ``context_values`` keys to YAML. ``programs`` is the directory
    of programs in files; None: the usual one. ``project`` has the files that may be read.
    """

    functions: Path | None = None
    required: Sequence[Path] = ()
    schemas: Path | None = None
    credentials: Path | None = None
    context: Sequence[tuple[str, Path]] = ()
    context_values: Sequence[tuple[str, str]] = ()
    programs: Path | None = None
    project: Project = field(default_factory=Project)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderPaths(PipelinePaths):
    """The paths of an XR, its Composition and what exists.

    ``crds`` are the sources of the schemas of composed resources, see `sources.load`. Packages that
    they name are fetched if it ``fetches``.
    """

    xr: Path
    composition: Path
    observed: Path | None = None
    xrd: Path | None = None
    crds: Sequence[str] = ()
    fetches: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationPaths(PipelinePaths):
    """The paths of an Operation, and of the resource that a WatchOperation watches."""

    operation: Path
    watched: Path | None = None


_Paths = TypeVar("_Paths", bound=PipelinePaths)
_Inputs = TypeVar("_Inputs", bound=PipelineInputs)


def find_render_paths(directory: Path, project: Project) -> RenderPaths:
    """Return the paths of an example: xr.yaml, composition.yaml and optional files.

    Raises InputError if there is no such directory.
    """
    paths = RenderPaths(
        project=project,
        xr=directory / "xr.yaml",
        composition=directory / "composition.yaml",
        observed=_existing(directory / "observed.yaml"),
        xrd=_existing(directory / "xrd.yaml")
        or find_xrd(directory / "composition.yaml", directory / "xr.yaml", project),
        crds=find_crds(directory),
    )
    return _with_files(paths, directory)


def find_operation_paths(directory: Path, project: Project) -> OperationPaths:
    """Return the paths of an example: operation.yaml and optional files.

    Raises InputError if there is no such directory.
    """
    paths = OperationPaths(
        project=project,
        operation=directory / "operation.yaml",
        watched=_existing(directory / "watched.yaml"),
    )
    return _with_files(paths, directory)


def _with_files(paths: _Paths, directory: Path) -> _Paths:
    """Add the files of an example that Compositions and Operations share."""
    if not directory.is_dir():
        raise InputError.of(f'cannot read "{directory}": no such file or directory')
    required = _existing(directory / "required.yaml")
    # A file's key is its path: keys such as ``example.org/zone`` have parts.
    context = directory / "context"
    files = paths.project.find_files(context) if context.is_dir() else []
    names = [path.relative_to(context).with_suffix("").as_posix() for path in files]
    return replace(
        paths,
        functions=find_functions(directory),
        required=() if required is None else (required,),
        schemas=_existing(directory / "schemas"),
        credentials=_existing(directory / "credentials.yaml"),
        # Hidden files are those that Finder and editors leave behind.
        context=[pair for pair in zip(names, files, strict=True) if "/." not in f"/{pair[0]}"],
    )


def _existing(path: Path) -> Path | None:
    return path if path.exists() else None


def find_xrd(composition: Path, xr: Path, project: Project) -> Path | None:
    """Return the file beside a Composition that defines the XR in a file, if there is just one."""
    if not xr.is_file():
        return None
    documents: list[Document] = []
    # The rendering reports an XR that cannot be read.
    with suppress(FatalError):
        documents = sources.load([str(xr)], project)
    return xrds.find_file(composition.parent, documents[0].value, project) if documents else None


def find_functions(directory: Path) -> Path | None:
    """Return the file with the Functions beside a pipeline, if there is one."""
    return _existing(directory / "functions.yaml")


def find_crds(directory: Path) -> list[str]:
    """Return the directory with the CRDs of composed resources beside a Composition, if any."""
    path = directory / "crds"
    return [str(path)] if path.is_dir() else []


def list_files(paths: RenderPaths) -> list[Path]:
    """Return every file and directory that rendering reads, and that may be read."""
    optional = (
        paths.functions,
        paths.observed,
        paths.schemas,
        paths.credentials,
        paths.xrd,
        paths.programs or local_pool.programs_beside(paths.composition),
    )
    context = [path for _, path in paths.context]
    files = (paths.xr, paths.composition, *paths.required, *context, *optional)
    files = (*files, *map(Path, paths.crds))
    return [path for path in files if path is not None and paths.project.allows(path)]


def load_shared(paths: PipelinePaths, inputs: _Inputs) -> _Inputs:
    """Load what Compositions and Operations share into ``inputs``. Raises FatalError."""
    project = paths.project
    credentials = [] if paths.credentials is None else [paths.credentials]
    return replace(
        inputs,
        required=[document.value for document in _load_with_kinds(paths.required, project)],
        credentials=[
            document.value for path in credentials for document in load_all(path, project)
        ],
        schemas=[] if paths.schemas is None else load_schemas(paths.schemas, project),
        context=load_context(paths.context, paths.context_values, project),
    )


def load_inputs(
    paths: RenderPaths, composition: Document, xr: Document, notes: list[str] | None = None
) -> RenderInputs:
    """Load the inputs of a rendering from their files. Raises FatalError.

    ``notes`` gets sentences about packages whose schemas are not at hand.
    """
    project = paths.project
    observed = [] if paths.observed is None else _load_with_kinds([paths.observed], project)
    xrd = None if paths.xrd is None else load_xrd(paths.xrd, project)
    packages = PackageSchemas(fetches=paths.fetches, notes=[] if notes is None else notes)
    definitions = packages.load_beside(paths.crds, project)
    composite = resolve_claim(xr.value, xrd)
    observed = [each for each in observed if not _is_printed(each.value, composite)]
    inputs = RenderInputs(
        xr=composite,
        composition=composition.value,
        observed=[document.value for document in observed],
        xrd=xrd,
        definitions=[*filter(None, [xrd]), *definitions],
        spans=[document.span() for document in observed],
    )
    return load_shared(paths, inputs)


def load_xrd(path: Path, project: Project) -> Object:
    """Load an XRD of which Crossplane can make a CRD. Raises FatalError."""
    from function_script.tools.validate import catalog  # noqa: PLC0415 - slow to import

    document = load_one(path, "an XRD", project)
    if not xrds.is_xrd(document.value):
        raise InputError(author_positions.locate(xrds.refuse_type(document.value), document))
    catalog.check_definitions([document])
    return document.value


def _is_printed(manifest: Object, xr: Object) -> bool:
    """Report whether an observed object is the XR or other output of ``render``, fed back."""
    is_ours = manifests.text_at(manifest, "apiVersion").startswith("render.crossplane.io/")
    return is_ours or manifests.reference(manifest) == manifests.reference(xr)


def load_one(path: Path, what: str, project: Project) -> Document:
    """Load the single object in a file. Raises InputError or DocumentError."""
    documents = load_all(path, project)
    if len(documents) != 1:
        raise InputError.of(
            f'cannot load {what} from "{path}": it holds {len(documents)} objects instead of one',
            span=documents[1].span() if documents else Span(name=str(path), line=1),
            hint="name one of its files" if path.is_dir() and documents else None,
        )
    return documents[0]


def load_all(path: Path, project: Project) -> list[Document]:
    """Load the objects in a file, or in a directory's YAML files in the order of their names.

    Raises FatalError, also for a List.
    """
    files = project.find_files(path, SUFFIXES, is_deep=False) if path.is_dir() else [path]
    if not files:
        raise InputError.of(f'cannot load "{path}": the directory has no .yaml or .yml file')
    texts = (sources.load_file(file, project) for file in files)
    return sources.refuse_lists(
        document for text in texts for document in bounded.read_documents(text)
    )


def _load_with_kinds(paths: Iterable[Path], project: Project) -> list[Document]:
    """Load all files and directories. Raises InputError for objects without a kind."""
    documents = [document for path in paths for document in load_all(path, project)]
    problems = [
        author_positions.locate(
            Diagnostic(message=f"cannot load document {document.number}: its kind is missing"),
            document,
        )
        for document in documents
        if not objects.api_version_and_kind(document.value)[1]
    ]
    if problems:
        raise InputError(*problems)
    return documents


def load_schemas(path: Path, project: Project) -> list[Object]:
    """Load OpenAPI documents: a .json file, or every one below a directory."""
    files = project.find_files(path, [".json"]) if path.is_dir() else [path]
    files = [file for file in files if file.suffix == ".json" or not file.exists()]
    if not files:
        raise InputError.of(f'cannot load schemas from "{path}": there is no .json file')
    schemas: list[Object] = []
    for file in files:
        try:
            schemas.append(bounded.read_object(project.load(file).text))
        except ValueError as error:
            raise InputError.of(f'cannot load a schema from "{file}": {error}') from error
    return schemas


def load_context(
    files: Iterable[tuple[str, Path]], values: Iterable[tuple[str, str]], project: Project
) -> Object:
    """Load the first step's context from keys and files or YAML; values win over files."""
    context: Object = {}
    for key, path in files:
        context[key] = _parse_value(project.load(path).text, f'"{path}"')
    for key, text in values:
        context[key] = _parse_value(text, f'the context value "{key}"')
    return context


def _parse_value(text: str, what: str) -> Value:
    try:
        return bounded.read_value(text)
    except (DocumentError, LimitError) as error:
        raise InputError.of(f"cannot load context from {what}: {error}") from error
