"""The manual of the toy language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.engines.manual import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator


def entries() -> Iterator[Entry]:
    """Yield the only name: the dollar sign."""
    yield Entry(name="$", section="values", summary="The value of a field: $observed.composite.")
