"""Unified diffs of the documents that differ between two renderings.

Documents are paired by type and name, so that a new one does not make those after it differ.
"""

import difflib
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from function_script import documents, objects
from function_script.tools import manifests
from function_script.values import Object

# Type, namespace and name, and how many documents of the same came before.
_Key: TypeAlias = tuple[str, str, str, str, int]


def find(before: Sequence[Object], after: Sequence[Object]) -> str:
    """Return the diff's lines with their newlines; "" if all documents are the same."""
    old, new = _by_key(before), _by_key(after)
    keys = [*new, *(key for key in old if key not in new)]
    return "".join(
        line
        for key in keys
        if old.get(key) != new.get(key)
        for line in _lines(key, old.get(key), new.get(key))
    )


def _by_key(manifests_: Sequence[Object]) -> dict[_Key, Object]:
    by_key: dict[_Key, Object] = {}
    for manifest in manifests_:
        type_ = objects.api_version_and_kind(manifest)
        name = (manifests.namespace(manifest), manifests.name(manifest))
        number = 0
        while (*type_, *name, number) in by_key:
            number += 1
        by_key[(*type_, *name, number)] = manifest
    return by_key


def _lines(key: _Key, old: Object | None, new: Object | None) -> Iterator[str]:
    _, kind, namespace, name, number = key
    title = " ".join(part for part in (kind, f"{namespace}/{name}".strip("/")) if part)
    title += f" {number + 1}" if number else ""
    for line in difflib.unified_diff(
        _yaml_lines(old),
        _yaml_lines(new),
        fromfile=title if old is not None else "nothing",
        tofile=title if new is not None else "nothing",
        lineterm="",
    ):
        yield f"{line}\n"


def _yaml_lines(manifest: Object | None) -> list[str]:
    return [] if manifest is None else documents.to_yaml_stream([manifest]).splitlines()[1:]
