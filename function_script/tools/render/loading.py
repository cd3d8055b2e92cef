"""From paths on the command line to everything there is to render.

Called once. A directory in place of the XR is an example: its files have fixed names.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from function_script import objects
from function_script.diagnostics import Diagnostic
from function_script.errors import DocumentError, InputError, LimitError
from function_script.source import excerpt
from function_script.tools import bounded, local_pool, sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from function_script.documents import Document
    from function_script.source import Excerpt, Span
    from function_script.values import Object, Value

_SUFFIXES: Final = {".yaml", ".yml"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Where everything is. ``context`` maps a key to a file, ``context_values`` to YAML."""

    xr: Path
    composition: Path
    functions: Path | None = None
    observed: Path | None = None
    required: Sequence[Path] = ()
    schemas: Path | None = None
    credentials: Path | None = None
    xrd: Path | None = None
    context: Sequence[tuple[str, Path]] = ()
    context_values: Sequence[tuple[str, str]] = ()
    programs: Path | None = None


def in_directory(directory: Path) -> Paths:
    """The paths of an example: xr.yaml, composition.yaml, and what else there is.

    Raises InputError when there is no such directory.
    """
    if not directory.is_dir():
        raise InputError.of(f'cannot read "{directory}": no such file or directory')

    def found(name: str) -> Path | None:
        path = directory / name
        return path if path.exists() else None

    required = found("required.yaml")
    return Paths(
        xr=directory / "xr.yaml",
        composition=directory / "composition.yaml",
        functions=found("functions.yaml"),
        observed=found("observed.yaml"),
        required=() if required is None else (required,),
        schemas=found("schemas"),
        credentials=found("credentials.yaml"),
        xrd=found("xrd.yaml"),
        context=_context_files(directory / "context"),
    )


def _context_files(directory: Path) -> list[tuple[str, Path]]:
    """Files by their key, which is their path: keys such as ``example.org/zone`` have parts."""
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return [(str(path.relative_to(directory).with_suffix("")), path) for path in files]


def files_of(paths: Paths) -> list[Path]:
    """Every file and directory that is read."""
    paths = with_programs(paths)
    single = (paths.functions, paths.observed, paths.schemas, paths.credentials, paths.xrd)
    found = [paths.xr, paths.composition, *paths.required, *(path for _, path in paths.context)]
    return [*found, *(path for path in (*single, paths.programs) if path is not None)]


def with_programs(paths: Paths) -> Paths:
    """The same with the directory of programs in files, unless it was given."""
    if paths.programs is not None:
        return paths
    return replace(paths, programs=local_pool.programs_beside(paths.composition))


def load_one(path: Path, what: str) -> Document:
    """The single object in a file; raises InputError or DocumentError."""
    found = load_all(path)
    if len(found) != 1:
        raise InputError.of(
            f'cannot load {what} from "{path}": it holds {len(found)} objects instead of one'
        )
    return found[0]


def load_all(path: Path) -> list[Document]:
    """Every object in a file, or in a directory's YAML files in the order of their names."""
    if not path.is_dir():
        return _load_file(path)
    files = sorted(item for item in path.iterdir() if item.suffix in _SUFFIXES and item.is_file())
    if not files:
        raise InputError.of(f'cannot load "{path}": the directory has no .yaml or .yml file')
    return [document for item in files for document in _load_file(item)]


def load_values(paths: Iterable[Path]) -> list[Object]:
    """The objects of all files and directories, one after the other."""
    return [document.value for path in paths for document in load_all(path)]


def load_objects(paths: Iterable[Path]) -> list[Object]:
    """The same; raises InputError for an object without a kind, which no API server has."""
    found = [document for path in paths for document in load_all(path)]
    problems = [
        Diagnostic(
            message=f"cannot load document {document.number}: its kind is missing",
            span=(span := document.span()),
            excerpt=_excerpt(document, span),
        )
        for document in found
        if not objects.api_version_and_kind(document.value)[1]
    ]
    if problems:
        raise InputError(*problems)
    return [document.value for document in found]


def _excerpt(document: Document, span: Span | None) -> Excerpt | None:
    source = document.origin.source
    return None if source is None or span is None else excerpt(source, span)


def load_schemas(directory: Path) -> list[Object]:
    """OpenAPI documents: every .json file below ``directory``, which may be one itself."""
    is_file = directory.suffix == ".json" and directory.is_file()
    files = [directory] if is_file else sorted(directory.rglob("*.json"))
    if not files:
        raise InputError.of(f'cannot load schemas from "{directory}": there is no .json file')
    return [_load_json(path) for path in files]


def load_context(files: Iterable[tuple[str, Path]], values: Iterable[tuple[str, str]]) -> Object:
    """The first step's context, from keys and files or YAML; values win over files."""
    context: Object = {}
    for key, path in files:
        context[key] = _parse_value(_read(path), f'"{path}"')
    for key, text in values:
        context[key] = _parse_value(text, f'the context value "{key}"')
    return context


def _load_file(path: Path) -> list[Document]:
    return sources.read(sources.load_file(path))


def _read(path: Path) -> str:
    return sources.load_file(path).text


def _parse_value(text: str, what: str) -> Value:
    try:
        return bounded.read_value(text)
    except (DocumentError, LimitError) as error:
        raise InputError.of(f"cannot load context from {what}: {error}") from error


def _load_json(path: Path) -> Object:
    try:
        found = bounded.read_json(_read(path))
    except ValueError as error:
        raise InputError.of(f'cannot load a schema from "{path}": {error}') from error
    if not isinstance(found, dict):
        raise InputError.of(f'cannot load a schema from "{path}": it is no object')
    return found
