"""Find the files to check: the arguments, and Crossplane's files below a directory.

An argument is read whatever is in it. Below a directory, only files are read that can have a
pipeline or an input of ours.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from function_script import inputs
from function_script.documents import Document
from function_script.request.values import Object
from function_script.texts.errors import FatalError, InputError, cause_of
from function_script.texts.source import Source
from function_script.tools import bounded, manifests, sources, step_inputs, xrds
from function_script.tools.project import STDIN, SUFFIXES, Project

# A file without one of these words has nothing to check.
_KINDS: Final = ("Composition", "Operation", "CompositeResourceDefinition")
_WORDS: Final = re.compile("|".join((*_KINDS, *(kind for _, kind in inputs.LANGUAGES))))
# Only `snapshot` writes this field of a list.
_UNREAD: Final = "unread"
_SEPARATOR: Final = re.compile(r"^---", re.MULTILINE)
_FIELD: Final = re.compile(
    r"^(apiVersion|kind):[ \t]*[\"']?([\w./-]+)[\"']?[ \t\r]*(?:#.*)?$", re.MULTILINE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file's documents, or the error of reading them, or the reason to leave it out.

    ``is_list``: a list of Kubernetes in it is left out.
    """

    name: str
    documents: Sequence[Document] = ()
    error: FatalError | None = None
    skipped: str = ""
    is_list: bool = False


def find(arguments: Iterable[str], project: Project, ignored: Sequence[str]) -> Iterator[File]:
    """Find the files that ``arguments`` name, and those to check below directories.

    ``ignored`` are patterns of the shell for paths below a directory, and for names of files and
    folders; ``*`` also matches slashes. Raises InputError for an argument that does not exist.
    """
    for argument in arguments:
        if argument == STDIN or not Path(argument).is_dir():
            file = _read(sources.load_text(argument, project))
            yield file
            for each in _find_lists(file):
                error = InputError.of(f"cannot read {file.name}: {each.skipped}")
                yield File(name=file.name, error=error)
            continue
        directory = Path(argument)
        for path in project.find_files(directory, SUFFIXES):
            if not _is_ignored(path.relative_to(directory), ignored):
                yield from _look_into(path, project)


def _is_ignored(path: Path, patterns: Sequence[str]) -> bool:
    candidates = [path, *path.parents[:-1]]
    return any(
        fnmatchcase(text, pattern.removeprefix("./").removesuffix("/"))
        for pattern in patterns
        for candidate in candidates
        for text in (candidate.as_posix(), candidate.name)
    )


def _look_into(path: Path, project: Project) -> Iterator[File]:
    try:
        # Only words are looked for; a file that has them is read strictly below.
        text = project.read(path).decode("utf-8", "replace")
    except InputError as error:
        cause = error.__cause__
        if isinstance(cause, OSError):
            yield File(name=str(path), skipped=cause_of(cause))
        else:
            yield File(name=str(path), error=error)
        return
    if not _WORDS.search(text):
        return
    # The apiVersion and kind of each document, if they are lines of their own.
    headers: list[Object] = [
        {match[1]: match[2] for match in _FIELD.finditer(document)}
        for document in _SEPARATOR.split(text)
    ]
    is_of_chart = any(
        folder.name == "templates" and (folder.parent / "Chart.yaml").is_file()
        for folder in path.absolute().parents
    )
    if is_of_chart:
        # It is a template, and not YAML yet.
        if any(map(_has_steps, headers)):
            yield File(name=str(path), skipped="it is a template of a Helm chart")
        return
    try:
        file = _read(sources.load_file(path, project))
    except InputError as error:
        file = File(name=str(path), error=error)
    is_ours = any(_has_steps(header) or xrds.is_xrd(header) for header in headers)
    # A file of another tool may be no YAML that is read here, which is no mistake.
    if is_ours or file.error is None:
        yield file
        yield from _find_lists(file)


def _find_lists(file: File) -> Iterator[File]:
    """Yield the reason for which lists in a file are left out, if one has something to check."""
    for document in file.documents:
        items = manifests.objects_at(document.value, "items")
        # A dump of `snapshot` may lie beside what it is the cluster of.
        is_dump = _UNREAD in document.value
        if not is_dump and any(_has_steps(each) or xrds.is_xrd(each) for each in items):
            reason = "it has a List: write its items as documents of their own"
            yield File(name=file.name, skipped=reason, is_list=True)
            return


def _read(source: Source) -> File:
    try:
        return File(name=source.name, documents=bounded.read_documents(source))
    except FatalError as error:
        return File(name=source.name, error=error)


def _has_steps(header: Object) -> bool:
    return step_inputs.has_pipeline(header) or inputs.is_meant_for_us(header)
