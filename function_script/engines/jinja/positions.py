"""Positions in templates: from violations and tracebacks to diagnostics with spans.

A line is that of compiled code. A column is that of the word that the problem is about, else that
of the operation that failed: the code generator has noted where each is written.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from types import FrameType, TracebackType

from jinja2 import Template

from function_script.engines.jinja import policy, tokens
from function_script.engines.jinja.compiler import CALL, FILTER, Operation
from function_script.engines.jinja.environment import Environment
from function_script.texts.diagnostics import Diagnostic, Note
from function_script.texts.source import Source, Span, span_at

# The most lines that a statement is followed over.
_MAX_LINES = 20
# Longer statements are cut: a search in them may take a long time.
_MAX_STATEMENT = 4_096
_MAX_NOTES = 5
# A word is not searched for farther behind the beginning of its node.
_MAX_DISTANCE = 500
_TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{[{%].*|^(?:(?!\{[{%]).)*[%}]\}", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A line of a source in which a statement begins.

    ``is_written``: what failed there was to be written into the main text.
    """

    source: Source
    line: int
    operation: Operation | None = None
    is_written: bool = False

    @property
    def offset(self) -> int:
        """Return the number of characters in front of the line."""
        return sum(len(line) + 1 for line in _split(self.source.text)[: self.line - 1])

    def statement(self) -> str:
        """Return the text from here to the end of the tag that begins or continues in this line."""
        lines = _split(self.source.text)[self.line - 1 : self.line - 1 + _MAX_LINES]
        ends = (number for number, line in enumerate(lines, 1) if "}}" in line or "%}" in line)
        return "\n".join(lines[: next(ends, 1)])[:_MAX_STATEMENT]

    def text_before(self, name: str | None) -> str | None:
        """Return what the line has in front of the tag with a word; None if it is unclear."""
        span = self.span(name)
        # The span may begin with the tag.
        before = _line(self.source, span.line)[: (span.column or 1) + 1]
        text, tag, _ = before.rpartition("{{")
        return text if tag else None

    def span(self, name: str | None = None) -> Span:
        """Return the span of the word ``name`` if it is certain, else of the line's tags."""
        begin = self.offset
        words = _find_words(name, self.statement()) if name else []
        if self.operation is not None and len(words) != 1:
            token_list = tokens.read(Environment(), self.source.text)
            place, operands = _find_ranges(self.operation, token_list)
            if not words and name and self.operation.operator == FILTER:
                # The value that the filter gets comes from another line.
                text = self.source.text[self.operation.first : self.operation.own]
                return span_at(self.source, self.operation.first, len(text.rstrip("| \t\n")))
            if not words:
                return span_at(self.source, place.start, max(1, len(place)))
            # Of several words, the last one that the operation has read.
            words = [word for word in words if begin + word.start() in operands][-1:]
        if len(words) == 1:
            return span_at(self.source, begin + words[0].start(), len(words[0][0]))
        tags = list(_TAG.finditer(_line(self.source, self.line)))
        if not tags:
            return span_of_line(self.source, self.line)
        return span_at(self.source, begin + tags[0].start(), tags[-1].end() - tags[0].start())


def _find_ranges(operation: Operation, words: tokens.TokenList) -> tuple[range, range]:
    """Return the place of an operation, and the range of its operands."""
    starts = [token.offset for token in words.tokens]
    # The last operand ends with the lookup or the word that begins there.
    index = bisect_right(starts, operation.last) - 1
    closing = {".": 1, "[": 2}.get(words.tokens[index].text, 0)
    end = words.tokens[min(index + closing, len(words.tokens) - 1)].end
    operands = range(operation.first, end)
    if not operation.operator:
        return operands, operands
    if operation.operator == CALL:
        return range(operation.first, operation.own), operands
    if operation.operator == FILTER:
        name = words.tokens[bisect_right(starts, operation.own) - 1]
        return range(name.offset, name.end), operands
    # The operator stands before its operand.
    index = bisect_right(starts, operation.first) - 1
    while index > 0 and words.tokens[index].text != operation.operator:
        index -= 1
    return range(words.tokens[index].offset, words.tokens[index].end), operands


def span_of_line(source: Source, line: int) -> Span:
    """Return the span of a line without the blanks around it."""
    text = _line(source, line)
    span = Span(name=source.name, line=line)
    begin, width = len(text) - len(text.lstrip()), len(text.strip())
    return replace(span, column=begin + 1, width=width) if width else span


def _line(source: Source, line: int) -> str:
    lines = _split(source.text)
    return lines[line - 1] if 0 < line <= len(lines) else ""


@lru_cache(maxsize=4)
def _split(text: str) -> list[str]:
    """Split a text into lines; cached, because one text is asked for many lines."""
    return text.split("\n")


def _find_words(name: str, statement: str) -> list[re.Match[str]]:
    """Find the word inside of tags: as a looked-up or piped name, else anywhere in a tag."""
    tags = [range(*tag.span()) for tag in _TAG.finditer(statement)]
    word = rf"(?<!\w){re.escape(name)}(?!\w)"
    if not name[:1].isalnum():
        # Do not match "=" and "}" inside of "==" and "}}".
        word = rf"(?<![=!<>{{}}]){re.escape(name)}(?![=}}])"
    # A looked-up name is more certain than a variable, and the part of a longer word the least.
    for pattern in (rf"(?<=[.|]){word}|(?<=[.|] ){word}", word, re.escape(name)):
        matches = [
            match
            for match in re.finditer(pattern, statement)
            if any(match.start() in tag for tag in tags)
        ]
        if matches:
            return matches
    return []


def to_diagnostic(
    source: Source, violation: policy.Violation, prefix: str = "cannot compile template: "
) -> Diagnostic:
    """Return the diagnostic for a part of a template."""
    offset, width, word = violation.offset, violation.width, violation.name
    position = -1 if word is None else source.text.find(word, offset, offset + _MAX_DISTANCE)
    if word is not None and position >= 0:
        offset, width = position, len(word)
    if width is None:
        span = Position(source=source, line=tokens.line_at(source.text, offset)).span()
    else:
        span = span_at(source, offset, width)
    notes: tuple[Note, ...] = ()
    if violation.open_tag is not None:
        tag, begin = violation.open_tag
        line = tokens.line_at(source.text, begin)
        notes = (Note(f'"{tag}" begins at', Span(name=source.name, line=line)),)
    return Diagnostic(
        message=f"{prefix}{violation.message}",
        hint=violation.hint,
        notes=notes,
    ).at(source, span)


def find_positions(traceback: TracebackType | None) -> list[Position]:
    """Return the positions of all templates in a traceback, the main template first."""
    positions: list[Position] = []
    while traceback is not None:
        position = _position(traceback.tb_frame, traceback.tb_lineno, traceback.tb_lasti)
        if position is not None:
            positions.append(position)
        traceback = traceback.tb_next
    return positions


def current_position(frame: FrameType | None) -> Position | None:
    """Return the current position of a template's generator."""
    return None if frame is None else _position(frame, frame.f_lineno, frame.f_lasti)


def _position(frame: FrameType, line: int, offset: int) -> Position | None:
    template = frame.f_globals.get("__jinja_template__")
    if not isinstance(template, Template) or not isinstance(template.environment, Environment):
        return None
    source = template.environment.sources[str(template.name)]
    # Two bytes of code are one unit.
    code_line, _, column, _ = next(islice(frame.f_code.co_positions(), offset // 2, None))
    noted = template.environment.operations[str(template.name)]
    return Position(
        source=source,
        line=tokens.line_at(source.text, template.get_corresponding_lineno(line)),
        operation=noted.get((code_line or 0, column or 0)),
        is_written=line in template.environment.writing_lines[str(template.name)],
    )


def caller_notes(stack: list[Position]) -> tuple[Note, ...]:
    """Return one note for each caller of the failing position, the nearest first."""
    spans = [Span(name=each.source.name, line=each.line) for each in stack[::-1]]
    callers = dict.fromkeys(span for span in spans if span != spans[0])
    return tuple(Note("called from", span) for span in callers)[:_MAX_NOTES]
