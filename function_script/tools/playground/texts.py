"""The objects in the page's texts, by the file name of each text."""

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
    """Read the objects of one text; none if there is no such text."""
    return sources.read(Source(name=name, text=files.get(name, "")))


def values(files: Mapping[str, str], name: str) -> list[Object]:
    """Read the objects of one text as plain values."""
    return [document.value for document in load(files, name)]


def load_one(files: Mapping[str, str], name: str, what: str) -> Document:
    """Read the single object of a text; raises InputError unless there is exactly one."""
    documents = load(files, name)
    if len(documents) != 1:
        raise InputError.of(
            f'cannot load {what} from "{name}": it holds {len(documents)} objects instead of one'
        )
    return documents[0]
