"""The CRDs of the input kinds, written from their common fields and from what differs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from function_script import documents
from function_script.texts.source import Source
from function_script.tools import manifests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.request.values import Object

_HERE: Final = Path(__file__).resolve().parent
_COMMON: Final = _HERE / "input_crd.yaml"
_KINDS: Final = _HERE / "input_kinds.yaml"
_HEAD: Final = (
    "# Written by `make goldens` from docs/generate/input_crd.yaml and input_kinds.yaml.\n"
)
_COMMENT: Final = re.compile(r"\A(#.*\n)+")
_LINE: Final = re.compile(r"^( *)<<(\w+)>>\n", re.MULTILINE)
_MAIN: Final = re.compile(r"^( *)main:\n(?:\1  .*\n)+", re.MULTILINE)
_WORD: Final = re.compile(r"<<(\w+)>>")


def texts(kinds: str = _KINDS.read_text()) -> dict[str, str]:
    """Return the YAML of each CRD by its file name, in the order of the reference page."""
    common = _COMMENT.sub("", _COMMON.read_text())
    return {
        f"script.fn.crossplane.io_{manifests.text_at(kind, 'plural')}.yaml": _fill(common, kind)
        for kind in _read(_KINDS.name, kinds)
    }


def values() -> list[Object]:
    """Return the CRDs in the same order."""
    return [crd for name, text in texts().items() for crd in _read(name, text)]


def _fill(common: str, kind: Object) -> str:
    def lines(match: re.Match[str]) -> str:
        text = manifests.text_at(kind, match[2])
        return "".join(f"{match[1]}{line}\n" for line in text.splitlines())

    text = _LINE.sub(lines, common if "main" in kind else _MAIN.sub("", common))
    return _HEAD + _WORD.sub(lambda match: manifests.text_at(kind, match[1]), text)


def _read(name: str, text: str) -> Iterator[Object]:
    for document in documents.read_source(Source(name=name, text=text)):
        yield document.value
