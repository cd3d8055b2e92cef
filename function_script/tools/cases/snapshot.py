"""Snapshots: files with the exact documents that a step must render.

Documents are compared, not texts: authors choose comments and layout.
"""

import difflib
from pathlib import Path

from function_script import documents
from function_script.errors import InputError
from function_script.tools import sources
from function_script.tools.cases import matching
from function_script.values import Object


def find_difference(path: Path, rendered: list[Object]) -> str | None:
    """Return a unified diff from the file to the rendered documents; None if they are equal.

    Raises FatalError if the file cannot be read.
    """
    expected = [document.value for document in sources.read(sources.load_file(path))]
    if matching.is_same([*expected], [*rendered]):
        return None
    lines = difflib.unified_diff(
        documents.to_yaml_stream(expected).splitlines(),
        documents.to_yaml_stream(rendered).splitlines(),
        fromfile=str(path),
        tofile="rendered",
        lineterm="",
    )
    return "\n".join(lines)


def write(path: Path, rendered: list[Object]) -> None:
    """Write the documents to the file. Raises InputError."""
    try:
        path.write_text(documents.to_yaml_stream(rendered), encoding="utf-8")
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise InputError.of(f'cannot write "{path}": {cause}') from error
