"""Mapping of problems from a step's program to the file its author edits, such as a Composition.

A position in a program becomes one in the block of YAML that contains it; a problem with a field of
the input becomes one at that field.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from function_script import documents
from function_script.documents import Document
from function_script.engines.registry import LANGUAGES
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic, Note
from function_script.texts.source import Span, excerpt
from function_script.tools import manifests
from function_script.tools.step_inputs import StepInput

_TEXT_FIELDS: Final = sorted({language.text_field for language in LANGUAGES.values()})
_NAMED_TEXT: Final = re.compile(
    rf'(?P<field>modules|{"|".join(_TEXT_FIELDS)})\["?(?P<name>[^"\]]+)"?\]'
)


def map_to_source(problem: Diagnostic, step_input: StepInput, programs: Path | None) -> Diagnostic:
    """Return the problem of a step with a position in the author's file.

    ``programs`` is the directory of programs in files, if there is one.
    """
    span = problem.span
    if span is None:
        field = objects.read_path(problem.field)
        # Without a field's path, the problem is the whole step's.
        at = (*step_input.path, *field[1:]) if field else step_input.path[:-1]
        return to_span(problem, step_input.document.span(at), step_input.document)
    holder = _holder(span, step_input)
    path = _embedded(span, holder)
    if path is None:
        # The excerpt of a program in a file is there already.
        return replace(problem, span=_in_file(span, step_input, programs))
    outer = find_outer(span, step_input)
    if outer is None:
        # The text is quoted or folded: its lines are not lines of the file.
        noted = replace(problem, notes=(Note("at", span), *problem.notes))
        if documents.is_folded(holder.document.text, path):
            hint = f"> makes one line of several: write `{span.name}: |`, which keeps them"
            # A problem's own hint says more of it.
            noted = replace(noted, hint=problem.hint or hint)
        return to_span(noted, holder.document.span(path), holder.document)
    return to_span(_with_notes(problem, step_input), outer, holder.document)


def to_author(span: Span, step_input: StepInput, programs: Path | None) -> Span | None:
    """Return the position in the author's file of a position in the program of a step.

    It is that of the whole text where its lines are not lines of the file. A program that is
    neither in the input nor in a file below ``programs`` has its own positions.
    """
    holder = _holder(span, step_input)
    path = _embedded(span, holder)
    if path is None:
        return _in_file(span, step_input, programs)
    return find_outer(span, step_input) or holder.document.span(path)


def _in_file(span: Span, step_input: StepInput, programs: Path | None) -> Span:
    """Return the span with the name of the file below ``programs``, if it is in one."""
    directory = manifests.text_at(step_input.value, "fileSystem", "dirPath")
    file = None if programs is None else programs / directory / span.name
    return replace(span, name=str(file)) if directory and file and file.is_file() else span


def _holder(span: Span, step_input: StepInput) -> StepInput:
    """Return the input that has the text of a span: the step's, or the object's that it names."""
    stored = step_input.stored
    is_own = stored is None or find_text(span, step_input.value) is not None
    if stored is None or is_own or find_text(span, stored.value) is None:
        return step_input
    return StepInput(step=step_input.step, value=stored.value, document=stored)


def _with_notes(problem: Diagnostic, step_input: StepInput) -> Diagnostic:
    """Move the other positions of a problem to its author's file, too."""
    notes = tuple(
        note
        if isinstance(note, str)
        else note._replace(span=find_outer(note.span, step_input) or note.span)
        for note in problem.notes
    )
    return replace(problem, notes=notes)


def locate(problem: Diagnostic, document: Document, path: objects.Path | None = None) -> Diagnostic:
    """Return the problem at ``path``, by default its field, or at the nearest that exists above."""
    path = objects.read_path(problem.field) if path is None else path
    return to_span(problem, document.span(path), document)


def find_outer(span: Span, step_input: StepInput) -> Span | None:
    """Return the position in the author's file of a position in a program, or None.

    None for a program that is not in the input, or whose lines are not in the file as they are.
    """
    step_input = _holder(span, step_input)
    path = _embedded(span, step_input)
    if path is None:
        return None
    embedding = documents.find_embedded_text(step_input.document.text, path)
    if embedding is None:
        return None
    line, column = embedding.outer(span.line, span.column)
    line += step_input.document.first_line - 1
    source = step_input.document.origin.source
    name = "composition" if source is None else source.name
    return replace(span, name=name, line=line, column=column)


def _embedded(span: Span, step_input: StepInput) -> objects.Path | None:
    """Return the path in the document of the text that contains a span; None for a file's."""
    path = find_text(span, step_input.value)
    return None if path is None else (*step_input.path, *path)


def find_text(span: Span, value: Object) -> objects.Path | None:
    """Return the path in the input ``value`` of the text that contains a span; None for a file."""
    path = _path(span.name)
    return path if path is not None and isinstance(objects.find_path(value, path), str) else None


def to_span(problem: Diagnostic, span: Span | None, document: Document) -> Diagnostic:
    """Return the problem at a position in ``document``; unchanged without one."""
    source = document.origin.source
    if span is None:
        return problem
    return replace(problem, span=span, excerpt=None if source is None else excerpt(source, span))


def _path(name: str) -> objects.Path | None:
    """Return the path below the input of the text that engines call ``name``; None for a file."""
    if text := _NAMED_TEXT.fullmatch(name):
        return (text["field"], text["name"])
    try:
        path = objects.parse_path(name)
    except ValueError:
        return None
    return path if path and path[0] in _TEXT_FIELDS else None
