"""Load the objects of a case, which are in its file or in files that it names, and its program.

The program is the Composition above the case, one that it names, or a step's input.
All problems are collected; what cannot be read counts as absent.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from function_script import objects
from function_script.diagnostics import Diagnostic
from function_script.documents import Document
from function_script.errors import FatalError, InputError
from function_script.problems import ProblemList
from function_script.reader import ObjectReader
from function_script.tools import sources
from function_script.tools.cases.model import Located, Program, locate
from function_script.tools.render import error_positions, loading
from function_script.tools.render.runtimes.local import OURS
from function_script.tools.render.steps import Step
from function_script.values import Object, Value, type_phrase

_T = TypeVar("_T")

_FILE: Final = "composition.yaml"
# The root of a repository; directories above it are not searched.
_BOUNDARY: Final = ".git"


class FileCache:
    """Loads each file once, however many cases name it; ``paths`` has those it looked for."""

    def __init__(self) -> None:
        self._documents: dict[Path, list[Document]] = {}
        self._schemas: dict[Path, list[Object]] = {}
        self.paths: set[Path] = set()

    def load(self, path: Path) -> list[Document]:
        """Load the objects of a file or directory. Raises FatalError."""
        self.paths.add(path)
        if path not in self._documents:
            self._documents[path] = loading.load_all(path)
        return self._documents[path]

    def load_schemas(self, path: Path) -> list[Object]:
        """Load the OpenAPI documents of a directory. Raises FatalError."""
        self.paths.add(path)
        if path not in self._schemas:
            self._schemas[path] = loading.load_schemas(path)
        return self._schemas[path]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectLoader:
    """Loads objects of the case in ``document``, and collects problems."""

    document: Document
    directory: Path
    files: FileCache
    problems: ProblemList
    failures: list[Diagnostic]

    def path(self, text: str) -> Path:
        """Return the path of a file that the case names."""
        return Path(os.path.normpath(self.directory / text))

    def one(self, fields: ObjectReader, key: str, default: Path | None) -> Document | Object | None:
        """Load the single object at ``key``; a Document if it is in a file."""
        value = fields.value.get(key)
        if isinstance(value, dict):
            return value
        path = default if value is None else self._path_of(fields.at(key), value)
        if path is None:
            return None
        documents = self.attempt(fields.at(key), lambda: self.files.load(path))
        if len(documents) == 1:
            return documents[0]
        if documents:
            text = f'"{path}" holds {len(documents)} objects instead of one'
            self.problems.add(fields.at(key), text)
        return None

    def all(self, fields: ObjectReader, key: str, default: Path | None = None) -> list[Located]:
        """Load the objects at ``key``: an object, a path, or a list of both."""
        value = fields.value.get(key)
        if value is None:
            return [] if default is None else self._load(fields.at(key), default)
        items = value if isinstance(value, list) else [value]
        located: list[Located] = []
        for index, item in enumerate(items):
            at = fields.at(key) + (f"[{index}]" if isinstance(value, list) else "")
            if isinstance(item, dict):
                located.append(Located(value=item))
            elif (path := self._path_of(at, item)) is not None:
                located += self._load(at, path)
        return located

    def value(self, fields: ObjectReader, key: str, default: Path | None = None) -> Object | None:
        """Load the single object at ``key``, from the case or from a file."""
        item = self.one(fields, key, default)
        return item.value if isinstance(item, Document) else item

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
            return self.attempt(fields.at("schemas"), lambda: self.files.load_schemas(path))
        return [item.value for item in self.all(fields, "schemas")]

    def find_directory(self, fields: ObjectReader) -> Path | None:
        """Return the directory of the Composition; None if the Composition is in the case."""
        composition = fields.value.get("composition")
        if isinstance(composition, str):
            return self.path(composition).parent
        if composition is not None or fields.value.get("input") is not None:
            return None
        here = self.directory.resolve()
        for directory in (here, *here.parents):
            if (directory / _FILE).is_file():
                # People see the path as they would type it.
                relative = Path(os.path.relpath(directory))
                return directory if ".." in relative.parts else relative
            if (directory / _BOUNDARY).exists():
                break
        return None

    def read_program(
        self, fields: ObjectReader, directory: Path | None, xr: Object | None
    ) -> Program | None:
        """Load the Composition, or build one around ``input`` for this XR."""
        if fields.value.get("input") is not None:
            if fields.value.get("composition") is not None:
                fields.problems.add("input", "there can be a Composition or an input, not both")
            return self._read_input(fields, xr or {})
        path = None if directory is None else directory / _FILE
        item = self.one(fields, "composition", path)
        if item is None:
            if path is None and fields.value.get("composition") is None:
                text = f"is required, as there is no {_FILE} in this directory or above"
                fields.problems.add("composition", text)
            return None
        if isinstance(item, Document):
            return _program(item.value, item, ())
        return _program(item, self.document, ("composition",))

    def read_request_program(self, fields: ObjectReader, step_input: Value) -> Program | None:
        """Build a Composition around the input of a request, or around ``input`` instead."""
        if fields.value.get("input") is not None:
            return self._read_input(fields, {})
        return Program(
            composition=_composition_around(step_input if isinstance(step_input, dict) else {}, {}),
            document=self.document,
            find_input=lambda _: ("request", "input"),
            root=_root(self.document),
        )

    def has_problems(self) -> bool:
        """Report whether there is a problem so far."""
        return bool(self.problems or self.failures)

    def error(self) -> InputError:
        """Build the error with all problems."""
        diagnostics = (
            locate(problem.to_diagnostic(), self.document, objects.read_path(problem.path))
            for problem in self.problems
        )
        return InputError(*diagnostics, *self.failures)

    def _load(self, at: str, path: Path) -> list[Located]:
        documents = self.attempt(at, lambda: self.files.load(path))
        return [Located(value=document.value, span=document.span()) for document in documents]

    def _path_of(self, at: str, value: Value) -> Path | None:
        if isinstance(value, str):
            return self.path(value)
        self.problems.add(at, f"must be a path or an object, not {type_phrase(value)}")
        return None

    def _read_input(self, fields: ObjectReader, xr: Object) -> Program | None:
        item = self.one(fields, "input", None)
        if item is None:
            return None
        is_file = isinstance(item, Document)
        document = item if isinstance(item, Document) else self.document
        value = item.value if isinstance(item, Document) else item
        return Program(
            composition=_composition_around(value, xr),
            document=document,
            find_input=lambda _: () if is_file else ("input",),
            root=_root(document),
        )

    def attempt(self, at: str, load: Callable[[], list[_T]]) -> list[_T]:
        """Call ``load`` and collect its problems; those without a position are at ``at``."""
        try:
            return load()
        except FatalError as error:
            path = objects.parse_path(at)
            self.failures.extend(
                problem if problem.span else locate(problem, self.document, path)
                for problem in error.diagnostics
            )
            return []


def _program(composition: Object, document: Document, at: objects.Path) -> Program:
    def find_input(step: Step) -> objects.Path:
        return (*at, *error_positions.composition_input_path(step))

    return Program(
        composition=composition, document=document, find_input=find_input, root=_root(document)
    )


def _composition_around(value: Object, xr: Object) -> Object:
    api_version, kind = objects.api_version_and_kind(xr)
    step: Object = {"step": "input", "functionRef": {"name": OURS}, "input": value}
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "input"},
        "spec": {
            "compositeTypeRef": {"apiVersion": api_version, "kind": kind},
            "mode": "Pipeline",
            "pipeline": [step],
        },
    }


def _root(document: Document) -> Path | None:
    """Return the directory of programs in files, beside the file that names them."""
    source = document.origin.source
    return None if source is None else sources.programs_beside(Path(source.name))
