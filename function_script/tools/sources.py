"""Sources of the tools' arguments: files, directories, packages (.xpkg), or "-" for stdin.

Directories are searched at any depth.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from function_script.documents import Document
from function_script.errors import FatalError, InputError
from function_script.source import Source
from function_script.tools import bounded, local_pool

STDIN: Final = "-"

_SUFFIXES: Final = {".yaml", ".yml"}


def split(arguments: Iterable[str]) -> list[str]:
    """Split arguments that hold several sources, joined by commas."""
    return [source for argument in arguments for source in argument.split(",") if source]


def load(sources: Iterable[str]) -> list[Document]:
    """Load every object of every source, in order; raises InputError or DocumentError."""
    return [document for text in load_texts(sources) for document in read(text)]


def load_each(sources: Iterable[str]) -> Iterator[Document | FatalError]:
    """Load like ``load``; an error takes the place of each unreadable document and file.

    Raises InputError for a source that is named and cannot be opened.
    """
    for source in sources:
        if source == STDIN or not Path(source).is_dir():
            yield from _read_each(load_text(source))
            continue
        for path in find_files(Path(source)):
            try:
                text = load_file(path)
            except InputError as error:
                yield error
            else:
                yield from _read_each(text)


def _read_each(source: Source) -> list[Document | FatalError]:
    try:
        return bounded.read_each(source)
    except FatalError as error:
        return [error]


def read(source: Source) -> list[Document]:
    """Read the objects of one text; empty and comment-only documents are left out."""
    return bounded.read_documents(source)


def load_texts(sources: Iterable[str]) -> Iterator[Source]:
    """Load the texts of all sources, one for each file; raises InputError."""
    for source in sources:
        if source != STDIN and Path(source).is_dir():
            yield from (load_file(path) for path in find_files(Path(source)))
        else:
            yield load_text(source)


def load_text(source: str) -> Source:
    """Load the text of a file or of stdin; raises InputError."""
    if source != STDIN:
        return load_file(Path(source))
    try:
        text = sys.stdin.read()
        # Without a locale, bytes that are not UTF-8 are decoded to halves of surrogate pairs.
        text.encode()
    except UnicodeError as error:
        raise InputError.of("cannot read stdin: it is not UTF-8 text") from error
    return Source(name="stdin", text=text)


def load_file(path: Path) -> Source:
    """Load a file's text, or a package's objects as one text; raises InputError."""
    if path.suffix != ".xpkg":
        return bounded.load_file(path)
    from function_script.tools import xpkg  # noqa: PLC0415 - slow to import, seldom needed

    return Source(name=str(path), text=xpkg.read_package(path))


def programs_beside(path: Path) -> Path | None:
    """Return the default directory of programs in files, ``programs/`` next to a Composition."""
    return local_pool.programs_beside(path)


def find_files(directory: Path) -> list[Path]:
    """Return the YAML files below a directory, at any depth, sorted by path; raises InputError."""
    try:
        # Path.rglob skips what it cannot read.
        with os.scandir(directory):
            pass
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise InputError.of(f'cannot read "{directory}": {cause}') from error
    paths = sorted(path for path in directory.rglob("*") if path.suffix in _SUFFIXES)
    return [path for path in paths if path.is_file()]
