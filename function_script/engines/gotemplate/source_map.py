"""Positions of the template for lines of its output, found by rendering once more.

This is slow, and only done for a text that turns out to be wrong.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from function_script.engines.gotemplate.errors import GoError, LimitExceededError
from function_script.engines.gotemplate.positions import SourcePart, find_span
from function_script.engines.gotemplate.programs import LoadedProgram
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.syntax.nodes import Text
from function_script.texts.source import Piece, Source, Span

# A traced run takes at most this many times as long.
STRETCH: Final = 5.0


def trace(
    run: Run, data: object, loaded: LoadedProgram, parts: tuple[SourcePart, ...]
) -> Sequence[Piece]:
    """Render once more; return the pieces of the text, none if that fails or exceeds a limit."""
    try:
        return tuple(_pieces(run, data, loaded, parts))
    except (GoError, LimitExceededError, RecursionError):
        return ()


def _pieces(
    run: Run, data: object, loaded: LoadedProgram, parts: tuple[SourcePart, ...]
) -> Iterator[Piece]:
    left, right = loaded.settings.delims
    # A text in an action may have the delimiter in it.
    closing = re.compile(rf'"(?:\\.|[^"\\])*"|`[^`]*`|(?P<close>{re.escape(right)})')
    main = next(iter(loaded.origins.values()))
    for text, site in run.trace(data):
        source = loaded.origins[site.template]
        start, expression = site.node.position, None
        end = start + len(text)
        if not isinstance(site.node, Text):
            start = max(source.text.rfind(left, 0, start + 1), 0)
            close = next(
                match
                for match in closing.finditer(source.text, site.node.position)
                if match["close"]
            )
            end = close.end()
            expression = source.text[start + len(left) : close.start()].strip("- \t\r\n")
        yield Piece(
            text=text,
            source=source.text,
            start=start,
            end=end,
            locate=_locator(source, parts if source is main else ()),
            expression=expression,
            filter_form="{} {}",
        )


def _locator(source: Source, parts: tuple[SourcePart, ...]) -> Callable[[int, int], Span]:
    return lambda offset, width: find_span(source, offset, width, parts).span


def find_origin(line: int, pieces: Sequence[Piece]) -> Span | None:
    """Return the span that wrote the first non-blank character of a line of the output (from 1)."""
    current = 1
    for piece in pieces:
        breaks = piece.text.count("\n")
        if current + breaks < line:
            current += breaks
            continue
        start = 0
        while current < line:
            start = piece.text.index("\n", start) + 1
            current += 1
        for offset in range(start, len(piece.text)):
            if piece.text[offset] == "\n" or not piece.text[offset].isspace():
                if piece.expression is None:
                    return piece.locate(piece.start + offset, 1)
                return replace(piece.span, width=1)
    return None
