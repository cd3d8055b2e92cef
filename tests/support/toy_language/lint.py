"""The analyses of the toy language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from function_script.engines.lint import FieldAccess, Lint
from function_script.texts.source import span_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.request.program import Program

_PATH: Final = re.compile(r": \$(?P<path>.*)$", re.MULTILINE)


class ToyLint(Lint):
    """It knows the name of the only resource, and every field that a program reads."""

    def find_reads(self, program: Program) -> Iterator[FieldAccess]:
        """Find the fields behind dollar signs."""
        for match in _PATH.finditer(program.main.text):
            span = span_at(program.main, match.start("path"), len(match["path"]))
            yield FieldAccess(tuple(match["path"].split(".")), program.main, span)

    def find_composed_names(self, _program: Program) -> frozenset[str]:
        """Return the name of the ConfigMap."""
        return frozenset({"config"})


LINT: Final = ToyLint()
