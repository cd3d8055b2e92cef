"""The origin of a stream's text: a template that rendered it, or the file of its author.

Maps positions in the text to positions that the author can edit.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from function_script.documents.errors import (
    DuplicateKeyError,
    TooLargeError,
    YamlError,
    YamlSyntaxError,
    find_early_end,
    find_missing_bar,
)
from function_script.documents.rendered_lines import Rendering
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import DocumentError, FatalError, LimitError
from function_script.texts.source import Piece, Source, Span

_MAX_NOTE_COLUMNS = 160


class TextOrigin:
    """The text of a stream, with its ``source`` or with ``locate``.

    ``source`` is the file that holds this very text. ``locate`` maps a 1-based line of ``text`` to
    the place in the template that rendered it. Neither: positions stay those of the text.
    ``explain`` returns the place to correct and a hint for a line of another language, or None.
    ``trace`` returns the pieces of the text.
    """

    def __init__(
        self,
        text: str,
        *,
        source: Source | None = None,
        locate: Callable[[int], Span | None] | None = None,
        explain: Callable[[int], tuple[Span, str] | None] | None = None,
        trace: Callable[[], Sequence[Piece]] = tuple,
    ) -> None:
        self.text = text
        self.source = source
        self._locate = locate
        self._explain = explain
        self._rendering = Rendering(text, trace)

    def span(self, line: int, column: int | None = None, width: int = 1) -> Span | None:
        """Map a 1-based line and column, and a width, to the author's text.

        In a template it is what wrote the text there: literal text, or an expression. Where that is
        unknown, as in a macro, it is the line that rendered the text's line; the column is exact
        only if that line seems to be copied literally.
        """
        if self.source is not None:
            return Span(name=self.source.name, line=line, column=column, width=width)
        if column is not None and (part := self._rendering.find_span(line, column, width)):
            return part
        span = None if self._locate is None else self._locate(line)
        if span is None or column is None:
            return span
        # A line is literal if it is as long as the template's and begins in the same column.
        lines = self.text.split("\n")
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        indentation = len(text) - len(text.lstrip())
        if (span.column, span.width) != (indentation + 1, len(text.strip())):
            return span
        return replace(span, column=column, width=width)

    def error(
        self,
        error: YamlError,
        *,
        first_line: int,
        what: str,
        read: Callable[[str], object] | None = None,
    ) -> FatalError:
        """Convert a YamlError; ``first_line`` is the 1-based line where the parsed text begins.

        ``what`` names the text in the message, such as ``document 2``. ``read`` reads the text of a
        document, to try what may mend it.
        """
        syntax_error = error
        lines = self.text.splitlines()
        if not isinstance(error, TooLargeError):
            own = lines[first_line - 1 :]
            bar = find_missing_bar(own, error.line) if self.source is not None else None
            error = bar or find_early_end(own, error.line) or error
        line = first_line + error.line
        span = self.span(line, error.column + 1)
        if self.source is not None:
            message = f"cannot read {what}: {error.message}"
            diagnostic = Diagnostic(message=message, hint=error.hint).at(self.source, span)
            return _fatal_error(error, diagnostic)
        where = f"line {line}" if self._locate is None else f"line {line} of the rendered text"
        message = f"cannot read {what}, {where}: {error.message}"
        reason = None
        if self._explain is not None and isinstance(error, YamlSyntaxError):
            reason = self._explain(line)
        if reason is None and read is not None:
            reason = self._rendering.explain(first_line, syntax_error, read)
        if isinstance(error, DuplicateKeyError) and error.column and span is not None:
            first = (first_line + error.first[0], error.first[1] + 1)
            if self._rendering.is_repeated(first, (line, error.column + 1)):
                repeated = "this text wrote both: in a loop, items begin with `- ` or keys differ"
                reason = span, repeated
        span, hint = reason or (span, error.hint if self._rendering.is_own(line) else None)
        numbers = range(max(1, line - 1), min(len(lines), line + 1) + 1)
        notes = tuple(f"rendered {n}: {lines[n - 1][:_MAX_NOTE_COLUMNS]}" for n in numbers)
        diagnostic = Diagnostic(message=message, span=span, hint=hint, notes=notes)
        return _fatal_error(error, diagnostic)


def _fatal_error(error: YamlError, diagnostic: Diagnostic) -> FatalError:
    if isinstance(error, TooLargeError):
        return LimitError(diagnostic, limit=error.limit)
    return DocumentError(replace(diagnostic, code=error.code))
