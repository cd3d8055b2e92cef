"""Positions of the template for lines of its output, found by rendering once more.

This is slow, and only done for a text that turns out to be wrong.
"""

from typing import Final, TypeAlias

from function_script.engines.gotemplate.errors import GoError, LimitExceededError
from function_script.engines.gotemplate.positions import SourcePart, find_span
from function_script.engines.gotemplate.programs import LoadedProgram
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.sites import Site
from function_script.engines.gotemplate.syntax.nodes import Text
from function_script.source import Span

# Each part of the text, in order, with the site of the operation that wrote it.
Trace: TypeAlias = list[tuple[str, Site]]
# A traced run takes at most this many times as long.
STRETCH: Final = 5.0


def trace(run: Run, data: object) -> Trace:
    """Render once more; return nothing if that fails or exceeds a limit."""
    try:
        return run.trace(data)
    except (GoError, LimitExceededError, RecursionError):
        return []


def find_origin(
    line: int, pieces: Trace, loaded: LoadedProgram, parts: tuple[SourcePart, ...]
) -> Span | None:
    """Return the span that wrote the first non-blank character of a line of the output (from 1)."""
    piece = _find_piece(line, pieces)
    if piece is None:
        return None
    site, offset = piece
    source = loaded.origins[site.template]
    source_parts = parts if source is next(iter(loaded.origins.values())) else ()
    position = site.node.position + (offset if isinstance(site.node, Text) else 0)
    return find_span(source, position, 1, source_parts).span


def _find_piece(line: int, pieces: Trace) -> tuple[Site, int] | None:
    """Return the operation's site that wrote a line of the output, and the offset in its text."""
    current = 1
    for text, site in pieces:
        breaks = text.count("\n")
        if current + breaks < line:
            current += breaks
            continue
        start = 0
        while current < line:
            start = text.index("\n", start) + 1
            current += 1
        for offset in range(start, len(text)):
            if text[offset] == "\n" or not text[offset].isspace():
                return site, offset
    return None
