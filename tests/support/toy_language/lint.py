"""The analyses of the toy language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from function_script.engines.lint import FieldAccess, Lint
from function_script.texts.source import span_at

from .engine import expressions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.request.program import Program

_PATH: Final = re.compile(r"=\$(?P<path>\S*)")


class ToyLint(Lint):
    """It knows the names of all resources, and every field that a program reads."""

    def find_accesses(self, program: Program) -> Iterator[FieldAccess]:
        """Find the fields behind dollar signs."""
        for _, source in expressions(program):
            for match in _PATH.finditer(source.text):
                span = span_at(source, match.start("path"), len(match["path"]))
                yield FieldAccess(tuple(match["path"].split(".")), source, span)

    def find_composed_names(self, program: Program) -> frozenset[str]:
        """Return the names of the expressions."""
        return frozenset(name for name, _ in expressions(program))


LINT: Final = ToyLint()
