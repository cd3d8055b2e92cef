"""Positions in a program's sources, as its author knows them: file or field, line and column.

Those of lines of the output are found by rendering once more. This is slow, and only done for a
text that turns out to be wrong.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from function_script.engines.gotemplate.errors import GoError, LimitExceededError
from function_script.engines.gotemplate.programs import JoinedSource, LoadedProgram
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.syntax.nodes import Action, Site
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.source import Piece, Source, Span, span_at


class Finding(NamedTuple):
    """A problem with a part of a source, in characters, and a hint."""

    position: int
    width: int
    message: str
    hint: str

    def to_diagnostic(self, source: Source) -> Diagnostic:
        """Return it with its place as the author knows it."""
        place = find_span(source, self.position, self.width)
        return place.to_diagnostic(self.message, self.hint)


class SourceSpan(NamedTuple):
    """A span and the source it is in."""

    span: Span
    source: Source

    def to_diagnostic(self, message: str, hint: str | None) -> Diagnostic:
        """Return a problem with this place."""
        return Diagnostic(message=message, hint=hint).at(self.source, self.span)


def find_span(source: Source, position: int, width: int) -> SourceSpan:
    """Return the span at a position, in characters; ``width`` is cut at the end of the line.

    In a joined text it is a span of the part that has the line.
    """
    span = span_at(source, position, width)
    if not isinstance(source, JoinedSource):
        return SourceSpan(span, source)
    part, line = source.parts[0], span.line
    for following in source.parts[1:]:
        # The lines of the part, and the one that joins the next part.
        lines = part.text.count("\n") + 2
        if line <= lines:
            break
        part, line = following, line - lines
    return SourceSpan(replace(span, name=part.name, line=line), part)


# Lines of the output

# A traced run takes at most this many times as long.
STRETCH: Final = 5.0


def trace(run: Run, data: object, loaded: LoadedProgram) -> Sequence[Piece]:
    """Render once more; return the pieces of the text, none if that fails or exceeds a limit."""
    try:
        parts = run.trace(data)
    except (GoError, LimitExceededError, RecursionError):
        return ()
    return [_to_piece(text, site, loaded) for text, site in parts]


def _to_piece(text: str, site: Site, loaded: LoadedProgram) -> Piece:
    source, node = loaded.origins[site.template], site.node
    start, end, expression = node.position, node.position + len(text), None
    if isinstance(node, Action):
        # A mark that trims stands in front of the delimiter.
        left, right = loaded.settings.delims
        start, close = node.left, source.text.index(right, node.right)
        end = close + len(right)
        expression = source.text[start + len(left) : close].strip("- \t\r\n")
    return Piece(
        text=text,
        source=source.text,
        start=start,
        end=end,
        locate=lambda offset, width: find_span(source, offset, width).span,
        expression=expression,
        filter_form="{} {}",
    )


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
