"""From what went wrong to an error with a place in the author's text.

Called when a program does not compile or a run fails. Compiled code keeps the lines of the
template; the column is that of the word the problem is about.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from jinja2 import Template

from function_script.diagnostics import Diagnostic
from function_script.engines.jinja.environment import Environment
from function_script.source import Source, Span, excerpt

if TYPE_CHECKING:
    from types import FrameType, TracebackType

    from function_script.engines.jinja.tree import Finding

# How far a statement is followed that goes on over several lines.
_MAX_LINES = 20
_NEWLINE = re.compile(r"\r\n|\r|\n")
_MAX_NOTES = 5


class Place(NamedTuple):
    """A line of a source, where a statement begins."""

    source: Source
    line: int

    def statement(self) -> list[str]:
        """The lines from here to the end of the tag that begins or goes on here."""
        lines = _NEWLINE.split(self.source.text)[self.line - 1 : self.line - 1 + _MAX_LINES]
        for count, line in enumerate(lines, 1):
            if "}}" in line or "%}" in line:
                return lines[:count]
        return lines[:1]

    def span(self, name: str | None = None) -> Span:
        """This line, or where its statement has the word ``name``."""
        for offset, line in enumerate(self.statement()):
            found = _find_word(name, line) if name else None
            if found is not None:
                column, width = found.start("name") + 1, len(found["name"])
                return Span(
                    name=self.source.name, line=self.line + offset, column=column, width=width
                )
        return Span(name=self.source.name, line=self.line)


def _find_word(name: str, line: str) -> re.Match[str] | None:
    """The word where it is looked up or called; else where it stands alone."""
    word = rf"(?P<name>{re.escape(name)})"
    edges = (r"(?<![\w])", r"(?![\w])")
    after_a_dot = re.search(rf"(?<=[.|])\s*{word}{edges[1]}", line)
    return after_a_dot or re.search(f"{edges[0]}{word}{edges[1]}", line) or re.search(word, line)


def to_diagnostic(
    place: Place | None,
    message: str,
    *,
    name: str | None = None,
    hint: str | None = None,
    notes: tuple[str, ...] = (),
) -> Diagnostic:
    """The problem at its place, with the lines around it."""
    if place is None:
        return Diagnostic(message=message, hint=hint, notes=notes)
    span = place.span(name)
    shown = excerpt(place.source, span)
    return Diagnostic(message=message, span=span, excerpt=shown, hint=hint, notes=notes)


def of_finding(source: Source, finding: Finding) -> Diagnostic:
    """Why a template does not compile."""
    place = Place(source, finding.line)
    message = f"cannot compile template: {finding.message}"
    return to_diagnostic(place, message, name=finding.name, hint=finding.hint)


def of_traceback(traceback: TracebackType | None) -> list[Place]:
    """Where the templates were when this was raised, the main template first."""
    places: list[Place] = []
    while traceback is not None:
        place = _place(traceback.tb_frame, traceback.tb_lineno)
        if place is not None and place not in places[-1:]:
            places.append(place)
        traceback = traceback.tb_next
    return places


def of_generator(frame: FrameType | None) -> Place | None:
    """Where a template's generator has got to."""
    return None if frame is None else _place(frame, frame.f_lineno)


def _place(frame: FrameType, line: int) -> Place | None:
    template = frame.f_globals.get("__jinja_template__")
    if not isinstance(template, Template) or not isinstance(template.environment, Environment):
        return None
    source = template.environment.sources[str(template.name)]
    return Place(source, template.get_corresponding_lineno(line))


def callers(places: list[Place]) -> tuple[str, ...]:
    """One note for each place the failing one was called from, the nearest first."""
    return tuple(f"called from {place.source.name}:{place.line}" for place in places[-2::-1])[
        :_MAX_NOTES
    ]
