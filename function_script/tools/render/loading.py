"""Load the files of a rendering from the paths on the command line.

A directory in place of the first file is an example: its files have fixed names.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypedDict

from function_script import objects
from function_script.diagnostics import Diagnostic
from function_script.documents import Document
from function_script.errors import DocumentError, InputError, LimitError
from function_script.source import Span, excerpt
from function_script.tools import bounded, local_pool, sources
from function_script.values import Object, Value

_SUFFIXES: Final = {".yaml", ".yml"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelinePaths:
    """The paths that Compositions and Operations share.

    ``context`` maps keys to files, ``context_values`` keys to YAML. ``programs`` is the directory
    of programs in files; None: the usual one.
    """

    functions: Path | None = None
    required: Sequence[Path] = ()
    schemas: Path | None = None
    credentials: Path | None = None
    context: Sequence[tuple[str, Path]] = ()
    context_values: Sequence[tuple[str, str]] = ()
    programs: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderPaths(PipelinePaths):
    """The paths of an XR, its Composition and what exists."""

    xr: Path
    composition: Path
    observed: Path | None = None
    xrd: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationPaths(PipelinePaths):
    """The paths of an Operation, and of the resource that a WatchOperation watches."""

    operation: Path
    watched: Path | None = None


class _SharedPaths(TypedDict):
    functions: Path | None
    required: Sequence[Path]
    schemas: Path | None
    credentials: Path | None
    context: Sequence[tuple[str, Path]]


class SharedInputs(TypedDict):
    """The inputs that Compositions and Operations share, as keyword arguments."""

    required: Sequence[Object]
    credentials: Sequence[Object]
    schemas: Sequence[Object]
    context: Object


def find_render_paths(directory: Path) -> RenderPaths:
    """Return the paths of an example: xr.yaml, composition.yaml and optional files.

    Raises InputError if there is no such directory.
    """
    return RenderPaths(
        xr=directory / "xr.yaml",
        composition=directory / "composition.yaml",
        observed=_existing(directory / "observed.yaml"),
        xrd=_existing(directory / "xrd.yaml"),
        **_find_shared_paths(directory),
    )


def find_operation_paths(directory: Path) -> OperationPaths:
    """Return the paths of an example: operation.yaml and optional files.

    Raises InputError if there is no such directory.
    """
    return OperationPaths(
        operation=directory / "operation.yaml",
        watched=_existing(directory / "watched.yaml"),
        **_find_shared_paths(directory),
    )


def _find_shared_paths(directory: Path) -> _SharedPaths:
    if not directory.is_dir():
        raise InputError.of(f'cannot read "{directory}": no such file or directory')
    required = _existing(directory / "required.yaml")
    # A file's key is its path: keys such as ``example.org/zone`` have parts.
    context = directory / "context"
    files = sorted(path for path in context.rglob("*") if path.is_file())
    return {
        "functions": _existing(directory / "functions.yaml"),
        "required": () if required is None else (required,),
        "schemas": _existing(directory / "schemas"),
        "credentials": _existing(directory / "credentials.yaml"),
        "context": [(str(path.relative_to(context).with_suffix("")), path) for path in files],
    }


def _existing(path: Path) -> Path | None:
    return path if path.exists() else None


def list_files(paths: RenderPaths) -> list[Path]:
    """Return every file and directory that rendering reads."""
    optional = (
        paths.functions,
        paths.observed,
        paths.schemas,
        paths.credentials,
        paths.xrd,
        paths.programs or local_pool.programs_beside(paths.composition),
    )
    context = [path for _, path in paths.context]
    return [
        *(paths.xr, paths.composition, *paths.required, *context),
        *(path for path in optional if path is not None),
    ]


def load_shared(paths: PipelinePaths) -> SharedInputs:
    """Load what Compositions and Operations share. Raises FatalError."""
    return {
        "required": load_objects(paths.required),
        "credentials": load_values([paths.credentials] if paths.credentials else []),
        "schemas": [] if paths.schemas is None else load_schemas(paths.schemas),
        "context": load_context(paths.context, paths.context_values),
    }


def load_one(path: Path, what: str) -> Document:
    """Load the single object in a file. Raises InputError or DocumentError."""
    documents = load_all(path)
    if len(documents) != 1:
        raise InputError(
            Diagnostic(
                message=f'cannot load {what} from "{path}": it holds {len(documents)} objects '
                "instead of one",
                span=documents[1].span() if documents else Span(name=str(path), line=1),
                hint="write each into a file of its own" if documents else None,
            )
        )
    return documents[0]


def load_all(path: Path) -> list[Document]:
    """Load the objects in a file, or in a directory's YAML files in the order of their names."""
    if not path.is_dir():
        return sources.read(sources.load_file(path))
    files = sorted(item for item in path.iterdir() if item.suffix in _SUFFIXES and item.is_file())
    if not files:
        raise InputError.of(f'cannot load "{path}": the directory has no .yaml or .yml file')
    return [document for file in files for document in sources.read(sources.load_file(file))]


def load_values(paths: Iterable[Path]) -> list[Object]:
    """Load the objects of all files and directories, one after the other."""
    return [document.value for path in paths for document in load_all(path)]


def load_objects(paths: Iterable[Path]) -> list[Object]:
    """`load_values`, but raise InputError for an object without a kind."""
    documents = [document for path in paths for document in load_all(path)]
    problems = [
        Diagnostic(
            message=f"cannot load document {document.number}: its kind is missing",
            span=(span := document.span()),
            excerpt=excerpt(source, span) if span and (source := document.origin.source) else None,
        )
        for document in documents
        if not objects.api_version_and_kind(document.value)[1]
    ]
    if problems:
        raise InputError(*problems)
    return [document.value for document in documents]


def load_schemas(path: Path) -> list[Object]:
    """Load OpenAPI documents: a .json file, or every one below a directory."""
    is_file = path.suffix == ".json" and path.is_file()
    files = [path] if is_file else sorted(path.rglob("*.json"))
    if not files:
        raise InputError.of(f'cannot load schemas from "{path}": there is no .json file')
    schemas: list[Object] = []
    for file in files:
        try:
            schema = bounded.read_json(sources.load_file(file).text)
        except ValueError as error:
            raise InputError.of(f'cannot load a schema from "{file}": {error}') from error
        if not isinstance(schema, dict):
            raise InputError.of(f'cannot load a schema from "{file}": it is no object')
        schemas.append(schema)
    return schemas


def load_context(files: Iterable[tuple[str, Path]], values: Iterable[tuple[str, str]]) -> Object:
    """Load the first step's context from keys and files or YAML; values win over files."""
    context: Object = {}
    for key, path in files:
        context[key] = _parse_value(sources.load_file(path).text, f'"{path}"')
    for key, text in values:
        context[key] = _parse_value(text, f'the context value "{key}"')
    return context


def _parse_value(text: str, what: str) -> Value:
    try:
        return bounded.read_value(text)
    except (DocumentError, LimitError) as error:
        raise InputError.of(f"cannot load context from {what}: {error}") from error
