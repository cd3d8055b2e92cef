"""Files with the exact documents a step is to give: compared, written first, written anew.

Called once for each step that has one. Documents are compared, not texts: comments and layout are
the author's.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from function_script import documents
from function_script.errors import InputError
from function_script.tools import sources
from function_script.tools.cases import matching

if TYPE_CHECKING:
    from pathlib import Path

    from function_script.values import Object


def find_difference(path: Path, found: list[Object]) -> str | None:
    """A unified diff from the file to what was found; None when they agree.

    Raises FatalError for a file that cannot be read.
    """
    expected = [document.value for document in sources.read(sources.load_file(path))]
    if matching.is_same([*expected], [*found]):
        return None
    lines = difflib.unified_diff(
        documents.to_yaml_stream(expected).splitlines(),
        documents.to_yaml_stream(found).splitlines(),
        fromfile=str(path),
        tofile="rendered",
        lineterm="",
    )
    return "\n".join(lines)


def write(path: Path, found: list[Object]) -> None:
    """Write the documents as they are expected from now on. Raises InputError."""
    try:
        path.write_text(documents.to_yaml_stream(found), encoding="utf-8")
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise InputError.of(f'cannot write "{path}": {cause}') from error
