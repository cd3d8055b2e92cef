"""Load the objects of a case, which are in its file or in files that it names, and its program.

The program is the Composition above the case, one that it names, or a step's input.
All problems are collected; what cannot be read counts as absent.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from function_script.documents import Document
from function_script.request import objects
from function_script.request.reader import ObjectReader
from function_script.request.values import Object, Value, type_phrase
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError, InputError
from function_script.texts.problems import ProblemList
from function_script.tools import author_positions, local_pool
from function_script.tools.cases.model import Located, is_case_input
from function_script.tools.project import Project
from function_script.tools.render import loading
from function_script.tools.render.positions import Origin

_T = TypeVar("_T")

_MAX_PROBLEMS: Final = 100
_FILE: Final = "composition.yaml"
# The root of a repository; directories above it are not searched.
_BOUNDARY: Final = ".git"


def find_above(directory: Path) -> Path | None:
    """Return the nearest directory at or above with a Composition, up to a repository's root."""
    here = directory.resolve()
    for each in (here, *here.parents):
        if (each / _FILE).is_file():
            # People see the path as they would type it.
            relative = Path(os.path.relpath(each))
            return each if ".." in relative.parts else relative
        if (each / _BOUNDARY).exists():
            break
    return None


class FileCache:
    """Loads each file once, however many cases name it; ``paths`` has those it looked for.

    ``project`` has the files that every case may read.
    """

    def __init__(self, project: Project) -> None:
        self._documents: dict[Path, list[Document]] = {}
        self._schemas: dict[Path, list[Object]] = {}
        self._inputs: set[tuple[int, int]] = set()
        self.project = project
        self.paths: set[Path] = set()

    def load(self, path: Path, project: Project) -> list[Document]:
        """Load the objects of a file or directory that is in ``project``. Raises FatalError."""
        # For a file that is loaded already, too: this case may have another project.
        project.resolve(path)
        self.add_input(path)
        if path not in self._documents:
            self._documents[path] = loading.load_all(path, project)
        return self._documents[path]

    def add_input(self, path: Path) -> None:
        """Add a file or directory that a case reads."""
        self.paths.add(path)
        self._inputs |= _identify(path)

    def is_input(self, path: Path) -> bool:
        """Report whether a case reads a file, or would read it if it were there."""
        # A case that reads a directory reads every file below it.
        places = (path, *path.absolute().parents)
        return is_case_input(path) or any(_identify(each) & self._inputs for each in places)

    def load_schemas(self, path: Path, project: Project) -> list[Object]:
        """Load the OpenAPI documents of a directory in ``project``. Raises FatalError."""
        project.resolve(path)
        self.add_input(path)
        if path not in self._schemas:
            self._schemas[path] = loading.load_schemas(path, project)
        return self._schemas[path]


def _identify(path: Path) -> set[tuple[int, int]]:
    """Return what all names of a file have in common; nothing if there is no file."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return set()
    return {(status.st_dev, status.st_ino)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectLoader:
    """Loads objects of the case in ``document``, and collects problems.

    ``project`` has the files that the case may read: those that the command line names, and those
    below the directory of its Composition, if that is above the case. ``failures`` are errors of
    files, each with the path of the field that names the file, if one does.
    """

    document: Document
    directory: Path
    files: FileCache
    project: Project
    problems: ProblemList = field(default_factory=ProblemList)
    failures: list[tuple[str | None, Diagnostic]] = field(default_factory=list)

    def path(self, text: str) -> Path:
        """Return the path of a file that the case names."""
        return Path(os.path.normpath(self.directory / text))

    def one(self, fields: ObjectReader, key: str, default: Path | None = None) -> Located | None:
        """Load the single object at ``key``, from the case or from a file."""
        value = fields.value.get(key)
        if isinstance(value, dict):
            return self.own(value, fields.at(key))
        path = default if value is None else self._path_of(fields.at(key), value)
        if path is None:
            return None
        failures = len(self.failures)
        located = self.load(fields.at(key), path)
        if len(located) == 1:
            return located[0]
        # A file without an object is an empty context, and no XR.
        if located or (key != "context" and len(self.failures) == failures):
            text = f'"{path}" holds {len(located)} objects instead of one'
            self.problems.add(fields.at(key), text)
        return None

    def all(self, fields: ObjectReader, key: str, default: Path | None = None) -> list[Located]:
        """Load the objects at ``key``: an object, a path, or a list of both."""
        value = fields.value.get(key)
        if value is None:
            return [] if default is None else self.load(fields.at(key), default)
        items = value if isinstance(value, list) else [value]
        located: list[Located] = []
        for index, item in enumerate(items):
            at = fields.at(key) + (f"[{index}]" if isinstance(value, list) else "")
            if isinstance(item, dict):
                located.append(self.own(item, at))
            elif (path := self._path_of(at, item)) is not None:
                located += self.load(at, path)
        return located

    def value(self, fields: ObjectReader, key: str, default: Path | None = None) -> Object | None:
        """Load the single object at ``key``, from the case or from a file."""
        item = self.one(fields, key, default)
        return None if item is None else item.value

    def own(self, value: Object, at: str) -> Located:
        """Return an object of the case's own file; ``at`` is its path there."""
        return Located(value=value, document=self.document, at=objects.read_path(at))

    def values(self, fields: ObjectReader, key: str, default: Path | None = None) -> list[Object]:
        """Load the objects at ``key`` without their positions."""
        return [item.value for item in self.all(fields, key, default)]

    def schemas(self, fields: ObjectReader, default: Path | None) -> list[Object]:
        """Load OpenAPI documents: a directory, an object or a list of objects."""
        value = fields.value.get("schemas")
        if value is None or isinstance(value, str):
            path = default if value is None else self.path(value)
            if path is None:
                return []
            return self.attempt(
                fields.at("schemas"), lambda: self.files.load_schemas(path, self.project)
            )
        return [item.value for item in self.all(fields, "schemas")]

    def find_directory(self, fields: ObjectReader) -> Path | None:
        """Return the directory of the Composition; None if the Composition is in the case."""
        composition = fields.value.get("composition")
        if isinstance(composition, str):
            return self.path(composition).parent
        if composition is not None or fields.value.get("input") is not None:
            return None
        return find_above(self.directory)

    def find_origin(self, fields: ObjectReader, directory: Path | None) -> Origin | None:
        """Load the Composition, or the ``input`` that takes its place."""
        if fields.value.get("input") is not None:
            if fields.value.get("composition") is not None:
                fields.problems.add("input", "there can be a Composition or an input, not both")
            step_input = self.one(fields, "input")
            return None if step_input is None else self.locate_programs(step_input, is_input=True)
        path = None if directory is None else directory / _FILE
        item = self.one(fields, "composition", path)
        if item is not None:
            return self.locate_programs(item)
        if path is None and fields.value.get("composition") is None:
            text = f"is required, as there is no {_FILE} in this directory or above"
            fields.problems.add("composition", text)
        return None

    def locate_programs(self, item: Located, *, is_input: bool = False) -> Origin:
        """Return the origin of a Composition or an input, with the programs in files beside it."""
        path = local_pool.programs_beside(author_positions.file_of(item.document))
        if path is not None:
            try:
                self.project.resolve(path)
                self.files.add_input(path)
            except InputError as error:
                self.failures.extend((None, problem) for problem in error.diagnostics)
        return Origin(document=item.document, programs=path, at=item.at, is_input=is_input)

    def error(self) -> InputError:
        """Build the error with the first problems, and the number of the others."""
        problems = [(problem.path, problem.to_diagnostic()) for problem in self.problems]
        all_problems = [*problems, *self.failures]
        # To find a position reads the document up to there.
        diagnostics = [
            problem
            if problem.span or at is None
            else author_positions.locate(problem, self.document, objects.read_path(at))
            for at, problem in all_problems[:_MAX_PROBLEMS]
        ]
        if others := len(all_problems) - len(diagnostics):
            diagnostics.append(Diagnostic(message=f"{others} more problems are not shown"))
        return InputError(*diagnostics)

    def load(self, at: str, path: Path) -> list[Located]:
        """Load the objects of a file or a directory, which the field ``at`` names."""
        documents = self.attempt(at, lambda: self.files.load(path, self.project))
        return [Located(value=document.value, document=document) for document in documents]

    def _path_of(self, at: str, value: Value) -> Path | None:
        if isinstance(value, str):
            return self.path(value)
        self.problems.add(at, f"must be a path or an object, not {type_phrase(value)}")
        return None

    def attempt(self, at: str, load: Callable[[], list[_T]]) -> list[_T]:
        """Call ``load`` and collect its problems; those without a position are at ``at``."""
        try:
            return load()
        except FatalError as error:
            self.failures.extend((at, problem) for problem in error.diagnostics)
            return []
