"""Credentials that a program asks for by name, though its input does not name them.

Called by the rules. Such a program runs, and finds nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from function_script import engines
from function_script.source import span_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.inputs import Step
    from function_script.source import Source, Span

_PART: Final = "credentials"
_QUOTED: Final = r"""["'](?P<name>[^"'\\]+)["']"""
# The getters, where they are given a name that is written out.
_GETTERS: Final = {
    "starlark": re.compile(rf"^[^#\n]*?\bget_credentials\(\s*\w+\s*,\s*{_QUOTED}", re.MULTILINE),
    "jinja": re.compile(rf"\bget_credential_data\(\s*{_QUOTED}"),
    "gotemplate": re.compile(rf"\bgetCredentialData\s+(?:[.$]\s+)?{_QUOTED}"),
}


def find_unlisted(step: Step) -> Iterator[tuple[str, Source, Span]]:
    """The names, and where they stand; none where a program may see all credentials."""
    if step.credentials is None or not step.program.main.text:
        return
    for name, source, span in (*_read(step), *_got(step)):
        if name not in step.credentials:
            yield name, source, span


def _read(step: Step) -> Iterator[tuple[str, Source, Span]]:
    for read in engines.find_reads(step.language, step.program):
        part, *names = read.path
        if part == _PART and len(names) == 1 and isinstance(names[0], str):
            yield names[0], read.source, read.span


def _got(step: Step) -> Iterator[tuple[str, Source, Span]]:
    for source in (step.program.main, *step.program.modules.values()):
        for match in _GETTERS[step.language].finditer(source.text):
            span = span_at(source, match.start("name"), len(match["name"]))
            yield match["name"], source, span
