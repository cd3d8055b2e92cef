"""Load the objects of a case: objects in its file, or files that it names.

All problems are collected; what cannot be read counts as absent.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from function_script import objects
from function_script.diagnostics import Diagnostic
from function_script.documents import Document
from function_script.errors import FatalError, InputError
from function_script.problems import ProblemList
from function_script.reader import ObjectReader
from function_script.tools.cases.model import Located, locate
from function_script.tools.render import loading
from function_script.values import Object, Value, type_phrase

_T = TypeVar("_T")


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
