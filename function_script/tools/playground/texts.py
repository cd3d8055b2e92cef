"""The objects in the page's texts, by the name that each text has in a folder.

Called by the workbench, and to make a case of what stands on the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.errors import InputError
from function_script.source import Source
from function_script.tools import sources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.documents import Document
    from function_script.values import Object


def load(files: Mapping[str, str], name: str) -> list[Document]:
    """The objects of one text; none when there is no such text."""
    return sources.read(Source(name=name, text=files.get(name, "")))


def values(files: Mapping[str, str], name: str) -> list[Object]:
    """The same as plain values."""
    return [document.value for document in load(files, name)]


def load_one(files: Mapping[str, str], name: str, what: str) -> Document:
    """The single object of a text; raises InputError when it holds none or several."""
    found = load(files, name)
    if len(found) != 1:
        raise InputError.of(
            f'cannot load {what} from "{name}": it holds {len(found)} objects instead of one'
        )
    return found[0]
