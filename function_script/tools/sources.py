"""Sources of the tools' arguments: files, directories, packages (.xpkg), or "-" for stdin.

Directories are searched at any depth.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from function_script.documents import Document
from function_script.request import objects
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError, InputError
from function_script.texts.source import Source
from function_script.tools import bounded
from function_script.tools.project import STDIN, SUFFIXES, Project


def split(arguments: Iterable[str]) -> list[str]:
    """Split arguments that hold several sources, joined by commas."""
    return [source for argument in arguments for source in argument.split(",") if source]


def load(sources: Iterable[str], project: Project) -> list[Document]:
    """Load every object of every source, in order; raises InputError or DocumentError."""
    documents: list[Document] = []
    for each in load_each(sources, project):
        if isinstance(each, FatalError):
            raise each
        documents.append(each)
    return documents


def load_each(sources: Iterable[str], project: Project) -> Iterator[Document | FatalError]:
    """Load like ``load``; an error takes the place of each unreadable document and file.

    Raises InputError for a source that is named and cannot be opened.
    """
    for source in sources:
        if source == STDIN or not Path(source).is_dir():
            yield from _read_each(load_text(source, project))
            continue
        for path in project.find_files(Path(source), SUFFIXES):
            try:
                text = load_file(path, project)
            except InputError as error:
                yield error
            else:
                yield from _read_each(text)


def _read_each(source: Source) -> list[Document | FatalError]:
    try:
        return bounded.read_each(source)
    except FatalError as error:
        return [error]


def refuse_lists(documents: Iterable[Document]) -> list[Document]:
    """Return the documents; raises InputError for a List of kubectl, whose items nothing finds."""
    documents = [*documents]
    for each in documents:
        if objects.api_version_and_kind(each.value) == ("v1", "List"):
            message = f"cannot load document {each.number}: it is a List"
            problem = Diagnostic(message=message, hint="write its items as documents of their own")
            raise InputError(problem.at(each.origin.source, each.span(("kind",))))
    return documents


def read_one(
    source: Source,
    failure: str = "",
    *,
    noun: str = "object",
    expected: str = "one",
    hint: str | None = None,
) -> Document:
    """Read the only object of a text; raises InputError, which begins with ``failure``."""
    documents = bounded.read_documents(source)
    if len(documents) != 1:
        failure = failure or f"cannot read {source.name}"
        text = f"{failure}: it holds {len(documents)} {noun}s instead of {expected}"
        raise InputError.of(text, hint=hint)
    return documents[0]


def load_argument(source: str) -> Source:
    """Load the text of a file that the command line names, or of stdin; raises InputError."""
    return load_text(source, Project(named=[Path(source)]))


def load_text(source: str, project: Project) -> Source:
    """Load the text of a file or of stdin; raises InputError."""
    return load_stdin() if source == STDIN else load_file(Path(source), project)


def load_stdin() -> Source:
    """Load the text of stdin; raises InputError."""
    try:
        text = sys.stdin.read()
        # Without a locale, bytes that are not UTF-8 are decoded to halves of surrogate pairs.
        text.encode()
    except UnicodeError as error:
        raise InputError.of("cannot read stdin: it is not UTF-8 text") from error
    return Source(name="stdin", text=text)


def load_file(path: Path, project: Project) -> Source:
    """Load a file's text, or a package's objects as one text; raises InputError."""
    if path.suffix != ".xpkg":
        return project.load(path)
    from function_script.tools.xpkg import inspector  # noqa: PLC0415 - slow to import, seldom needed

    with project.open(path) as file:
        return Source(name=str(path), text=inspector.read_package(path, file))
