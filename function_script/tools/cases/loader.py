"""The given parts of a case: objects that stand in it, or files that it names.

Called by the parser. Collects every problem; what cannot be read counts as absent.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from function_script import objects
from function_script.diagnostics import Diagnostic
from function_script.documents import Document
from function_script.errors import FatalError, InputError
from function_script.fields import ObjectReader, ProblemList, type_with_article
from function_script.tools.cases.model import Located, placed
from function_script.tools.render import loading

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.values import Object, Value

_T = TypeVar("_T")


class FileCache:
    """Reads each file once, however many cases name it."""

    def __init__(self) -> None:
        self._documents: dict[Path, list[Document]] = {}
        self._schemas: dict[Path, list[Object]] = {}

    def load(self, path: Path) -> list[Document]:
        """The objects of a file or directory; raises FatalError."""
        if path not in self._documents:
            self._documents[path] = loading.load_all(path)
        return self._documents[path]

    def load_schemas(self, path: Path) -> list[Object]:
        """The OpenAPI documents of a directory; raises FatalError."""
        if path not in self._schemas:
            self._schemas[path] = loading.load_schemas(path)
        return self._schemas[path]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectLoader:
    """Reads parts of the case in ``document``, and keeps what is wrong with them."""

    document: Document
    directory: Path
    files: FileCache
    problems: ProblemList
    failures: list[Diagnostic]

    def path(self, text: str) -> Path:
        """The file that the case calls ``text``."""
        return Path(os.path.normpath(self.directory / text))

    def one(self, fields: ObjectReader, key: str, default: Path | None) -> Document | Object | None:
        """The single object at ``key``; a Document when it stands in a file."""
        found = fields.value.get(key)
        if isinstance(found, dict):
            return found
        path = default if found is None else self._named(fields.at(key), found)
        if path is None:
            return None
        documents = self.tried(fields.at(key), lambda: self.files.load(path))
        if len(documents) == 1:
            return documents[0]
        if documents:
            text = f'"{path}" holds {len(documents)} objects instead of one'
            self.problems.add(fields.at(key), text)
        return None

    def all(self, fields: ObjectReader, key: str, default: Path | None = None) -> list[Located]:
        """The objects at ``key``: an object, a path, or a list of both."""
        found = fields.value.get(key)
        if found is None:
            return [] if default is None else self._load(fields.at(key), default)
        items = found if isinstance(found, list) else [found]
        return [
            one
            for index, item in enumerate(items)
            for one in self._item(
                fields.at(key) + (f"[{index}]" if isinstance(found, list) else ""), item
            )
        ]

    def value(self, fields: ObjectReader, key: str, default: Path | None = None) -> Object | None:
        """The single object at ``key``, wherever it stands."""
        found = self.one(fields, key, default)
        return found.value if isinstance(found, Document) else found

    def values(self, fields: ObjectReader, key: str, default: Path | None = None) -> list[Object]:
        """The objects at ``key`` alone."""
        return [item.value for item in self.all(fields, key, default)]

    def schemas(self, fields: ObjectReader, default: Path | None) -> list[Object]:
        """OpenAPI documents: a directory, an object or a list of objects."""
        found = fields.value.get("schemas")
        if found is None or isinstance(found, str):
            path = default if found is None else self.path(found)
            if path is None:
                return []
            return self.tried(fields.at("schemas"), lambda: self.files.load_schemas(path))
        return [item.value for item in self.all(fields, "schemas")]

    def are_faulty(self) -> bool:
        """Whether anything is wrong so far."""
        return bool(self.problems.texts or self.failures)

    def error(self) -> InputError:
        """Everything that is wrong."""
        found = [self._diagnostic(text, hint) for text, hint in self.problems.texts]
        return InputError(*found, *self.failures)

    def _item(self, at: str, item: Value) -> list[Located]:
        if isinstance(item, dict):
            return [Located(value=item)]
        path = self._named(at, item)
        return [] if path is None else self._load(at, path)

    def _load(self, at: str, path: Path) -> list[Located]:
        documents = self.tried(at, lambda: self.files.load(path))
        return [Located(value=document.value, span=document.span()) for document in documents]

    def _named(self, at: str, found: Value) -> Path | None:
        if isinstance(found, str):
            return self.path(found)
        self.problems.add(at, f"must be a path or an object, not {type_with_article(found)}")
        return None

    def tried(self, at: str, load: Callable[[], list[_T]]) -> list[_T]:
        """What ``load`` gives; its problems are at ``at`` unless they have a place already."""
        try:
            return load()
        except FatalError as error:
            path = objects.parse_path(at)
            self.failures.extend(
                problem if problem.span else placed(problem, self.document, path)
                for problem in error.diagnostics
            )
            return []

    def _diagnostic(self, text: str, hint: str | None) -> Diagnostic:
        at = text.partition(": ")[0]
        return placed(Diagnostic(message=text, hint=hint), self.document, objects.parse_path(at))
