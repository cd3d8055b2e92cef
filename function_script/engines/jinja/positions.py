"""From what went wrong to an error with a place in the author's text.

Called when a program does not compile or a run fails. Compiled code keeps the lines of the
template, but no columns: those are found by searching for the word the problem is about.
"""

from __future__ import annotations

import dis
import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from jinja2 import Template

from function_script.diagnostics import Diagnostic, Note
from function_script.engines.jinja.environment import Environment
from function_script.source import Source, Span, excerpt

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType, TracebackType

    from function_script.engines.jinja.tree import Violation

# How far a statement is followed that goes on over several lines.
_MAX_LINES = 20
# Longer statements get no columns: searching them may take a long time.
_MAX_STATEMENT = 4_096
_MAX_CODE = 64 * 1024
_MAX_NOTES = 5
_PAIRS = {")": "(", "]": "["}
_NEWLINE = re.compile(r"\r\n|\r|\n")
_TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{[{%].*|^(?:(?!\{[{%]).)*[%}]\}", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Where compiled code has got to: an instruction of a template's function."""

    code: CodeType
    offset: int
    template: Template


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A line of a source, where a statement begins."""

    source: Source
    line: int
    point: Point | None = None

    def statement(self) -> str:
        """The text from here to the end of the tag that begins or goes on in this line."""
        lines = _split(self.source.text)[self.line - 1 : self.line - 1 + _MAX_LINES]
        for count, line in enumerate(lines, 1):
            if "}}" in line or "%}" in line:
                return "\n".join(lines[:count])[:_MAX_STATEMENT]
        return "\n".join(lines[:1])[:_MAX_STATEMENT]

    def span(self, name: str | None = None) -> Span:
        """Where the statement has the word ``name``, if that is certain; else this line's tags."""
        found = self._find(name) if name else None
        if found is None:
            return _tags(self.source, self.line)
        before, start, end = found.string[: found.start()], found.start(), found.end()
        line, column = self.line + before.count("\n"), start - before.rfind("\n")
        return Span(name=self.source.name, line=line, column=column, width=end - start)

    def _find(self, name: str) -> re.Match[str] | None:
        words = _find_words(name, self.statement())
        if len(words) <= 1:
            return words[0] if words else None
        # Several: code mentions its words in the order of the text, so the last mention before
        # the failing instruction is the one.
        number = _mentions(self.point, self.line, name) if self.point is not None else 0
        return words[number - 1] if 1 <= number <= len(words) else None


def whole_line(source: Source, line: int) -> Span:
    """A line without the blanks around it."""
    text = _line(source, line)
    begin = len(text) - len(text.lstrip())
    return _columns(Span(name=source.name, line=line), begin, len(text.rstrip()))


def _tags(source: Source, line: int) -> Span:
    """A line from its first tag to its last; without tags, the whole line."""
    tags = list(_TAG.finditer(_line(source, line)))
    if not tags:
        return whole_line(source, line)
    return _columns(Span(name=source.name, line=line), tags[0].start(), tags[-1].end())


def _line(source: Source, line: int) -> str:
    lines = _split(source.text)
    return lines[line - 1] if 0 < line <= len(lines) else ""


@lru_cache(maxsize=4)
def _split(text: str) -> list[str]:
    """The lines, of which many are asked for one after another."""
    return _NEWLINE.split(text)


def _columns(span: Span, begin: int, end: int) -> Span:
    return replace(span, column=begin + 1, width=end - begin) if begin < end else span


def _find_words(name: str, statement: str) -> list[re.Match[str]]:
    """The word inside of tags: where it is looked up or piped to, else wherever it stands."""
    tags = [range(*tag.span()) for tag in _TAG.finditer(statement)]
    word = rf"(?<!\w){re.escape(name)}(?!\w)"
    if not name[:1].isalnum():
        # Of "=" and "}" those are meant that are not part of "==" or "}}".
        word = rf"(?<![=!<>{{}}]){re.escape(name)}(?![=}}])"
    for pattern in (rf"(?<=[.|]){word}|(?<=[.|] ){word}", word, re.escape(name)):
        found = [
            match
            for match in re.finditer(pattern, statement)
            if any(match.start() in tag for tag in tags)
        ]
        if found:
            return found
    return []


def _mentions(point: Point, line: int, name: str) -> int:
    """How often the code of this line has loaded ``name`` up to the failing instruction.

    Zero when the code is too long to look: disassembling it would take its square.
    """
    if len(point.code.co_code) > _MAX_CODE:
        return 0
    line_of = _lines(point.template)
    count, current, variable = 0, 0, ""
    for instruction in dis.get_instructions(point.code):
        if instruction.offset > point.offset:
            break
        if instruction.positions is not None and instruction.positions.lineno is not None:
            current = line_of(instruction.positions.lineno)
        if instruction.opname.startswith(("LOAD_FAST", "LOAD_DEREF")):
            variable = str(instruction.argval)
        # A function begins by resolving the names it uses, before it comes to any statement.
        elif instruction.opname == "LOAD_CONST" and variable != "resolve":
            count += str(instruction.argval) == name and current == line
    return count


def _lines(template: Template) -> Callable[[int], int]:
    """What Jinja's own get_corresponding_lineno does, without reading its table every time."""
    lines = template.debug_info
    starts = [code_line for _, code_line in lines]

    def line_of(code_line: int) -> int:
        index = bisect_right(starts, code_line) - 1
        return lines[index][0] if index >= 0 else 1

    return line_of


def to_diagnostic(
    place: Place | None, message: str, *, name: str | None = None, hint: str | None = None
) -> Diagnostic:
    """The problem at its place, with the lines around it."""
    if place is None:
        return Diagnostic(message=message, hint=hint)
    span = place.span(name)
    shown = excerpt(place.source, span)
    return Diagnostic(message=message, span=span, excerpt=shown, hint=hint)


def of_finding(source: Source, finding: Violation) -> Diagnostic:
    """Why a template does not compile."""
    place = Place(source=source, line=finding.line)
    message = f"cannot compile template: {finding.message}"
    diagnostic = to_diagnostic(place, message, name=finding.name, hint=finding.hint)
    offset = finding.offset
    if finding.name in _PAIRS:
        offset = _surplus(source, finding.line, finding.name)
    if offset is not None:
        span = _at_offset(source, offset)
        diagnostic = replace(diagnostic, span=span, excerpt=excerpt(source, span))
    if finding.opened is None:
        return diagnostic
    tag, line = finding.opened
    note = Note(f'"{tag}" begins at', Span(name=source.name, line=line))
    return replace(diagnostic, notes=(note,))


def _surplus(source: Source, line: int, close: str) -> int | None:
    """Where in a line and the rest of its tag the first bracket is that closes nothing."""
    lines = _NEWLINE.split(source.text)
    start = sum(len(text) + 1 for text in lines[: line - 1])
    text = "\n".join(lines[line - 1 : line - 1 + _MAX_LINES])
    for tag in _TAG.finditer(text[:_MAX_STATEMENT]):
        depth = 0
        for offset, character in enumerate(tag[0][:-2], start + tag.start()):
            depth += (character == _PAIRS[close]) - (character == close)
            if depth < 0:
                return offset
    return None


def _at_offset(source: Source, offset: int) -> Span:
    before = "\n".join(_NEWLINE.split(source.text))[:offset]
    column = offset - before.rfind("\n")
    return Span(name=source.name, line=before.count("\n") + 1, column=column)


def of_traceback(traceback: TracebackType | None) -> list[Place]:
    """Where the templates were when this was raised, the main template first."""
    places: list[Place] = []
    while traceback is not None:
        place = _place(traceback.tb_frame, traceback.tb_lineno, traceback.tb_lasti)
        if place is not None:
            places.append(place)
        traceback = traceback.tb_next
    return places


def of_generator(frame: FrameType | None) -> Place | None:
    """Where a template's generator has got to."""
    return None if frame is None else _place(frame, frame.f_lineno, frame.f_lasti)


def _place(frame: FrameType, line: int, offset: int) -> Place | None:
    template = frame.f_globals.get("__jinja_template__")
    if not isinstance(template, Template) or not isinstance(template.environment, Environment):
        return None
    source = template.environment.sources[str(template.name)]
    point = Point(code=frame.f_code, offset=offset, template=template)
    return Place(source=source, line=template.get_corresponding_lineno(line), point=point)


def callers(places: list[Place]) -> tuple[Note, ...]:
    """One note for each place the failing one was called from, the nearest first."""
    lines = [Span(name=place.source.name, line=place.line) for place in places[::-1]]
    before = dict.fromkeys(line for line in lines if line != lines[0])
    return tuple(Note("called from", line) for line in before)[:_MAX_NOTES]
