"""Tables: lists of rules that each rule enters where it is defined, and those in files."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

_Call = TypeVar("_Call")


class Rules(list[_Call]):
    """Functions in the order of their definitions, in which they are asked."""

    def add(self, call: _Call) -> _Call:
        """Enter a function: a decorator."""
        self.append(call)
        return call


def read_rows(table: str, folder: Path = Path(__file__).parent) -> Iterator[list[str]]:
    """Yield the rows of a table in a folder, with tabs between its columns, without its head."""
    rows = (folder / f"{table}.tsv").read_text(encoding="utf-8").splitlines()[1:]
    yield from (row.split("\t") for row in rows)
