"""The caller's metadata as a mapping of texts, read only by whoever asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from function_script.server.http2.heads import Head


class Metadata(Mapping[str, str]):
    """Names are in lower case; nothing is decoded before it is asked for."""

    __slots__ = ("_head",)

    def __init__(self, head: Head) -> None:
        self._head = head

    def __getitem__(self, name: str) -> str:
        return self._head[name.encode()].decode("ascii", "replace")

    def __iter__(self) -> Iterator[str]:
        return (name.decode("ascii") for name in self._head if name[:1] != b":")

    def __len__(self) -> int:
        return sum(1 for _ in self)
