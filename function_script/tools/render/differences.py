"""What differs between two renderings, as a unified diff of each document that changed.

Called when something is rendered again. Documents are paired by what they are, so that a new one
in between does not make all that follow it differ.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, TypeAlias

from function_script import documents, objects
from function_script.tools import manifests

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from function_script.values import Object

# What a document is, and how many of the same came before it.
_Key: TypeAlias = tuple[str, str, str, str, int]


def find(before: Sequence[Object], after: Sequence[Object]) -> str:
    """The diff's lines, each with its newline; "" when all documents are the same."""
    old, new = _keyed(before), _keyed(after)
    keys = [*new, *(key for key in old if key not in new)]
    return "".join(
        line
        for key in keys
        if old.get(key) != new.get(key)
        for line in _lines(key, old.get(key), new.get(key))
    )


def _keyed(found: Sequence[Object]) -> dict[_Key, Object]:
    keyed: dict[_Key, Object] = {}
    for manifest in found:
        type_ = objects.api_version_and_kind(manifest)
        place = (manifests.namespace(manifest), manifests.name(manifest))
        number = 0
        while (*type_, *place, number) in keyed:
            number += 1
        keyed[(*type_, *place, number)] = manifest
    return keyed


def _lines(key: _Key, old: Object | None, new: Object | None) -> Iterator[str]:
    _, kind, namespace, name, number = key
    title = " ".join(part for part in (kind, f"{namespace}/{name}".strip("/")) if part)
    title += f" {number + 1}" if number else ""
    for line in difflib.unified_diff(
        _text(old),
        _text(new),
        fromfile=title if old is not None else "nothing",
        tofile=title if new is not None else "nothing",
        lineterm="",
    ):
        yield f"{line}\n"


def _text(manifest: Object | None) -> list[str]:
    return [] if manifest is None else documents.to_yaml_stream([manifest]).splitlines()[1:]
