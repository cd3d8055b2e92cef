"""Move problems from a step's program to the file its author edits, such as a Composition.

Called for errors only. A position in a program becomes one in the block of YAML that holds it;
a problem with a field of the input becomes one at that field.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from function_script import documents, objects
from function_script.diagnostics import Note
from function_script.engines.registry import LANGUAGES
from function_script.source import Span, excerpt
from function_script.tools import manifests

if TYPE_CHECKING:
    from pathlib import Path

    from function_script.diagnostics import Diagnostic
    from function_script.documents import Document
    from function_script.tools.step_inputs import StepInput

_TEXT_FIELDS: Final = sorted({language.text_field for language in LANGUAGES.values()})
_MODULE: Final = re.compile(r'modules\["?(?P<name>[^"\]]+)"?\]')


def map_to_source(problem: Diagnostic, found: StepInput, programs: Path | None) -> Diagnostic:
    """The problem of a step where its author can mend it; always with a position.

    ``programs`` is the directory of programs in files, if there is one.
    """
    span = problem.span
    if span is None:
        field = objects.read_path(problem.field)
        # Without a field's path, the problem is the whole step's.
        path = (*found.path, *field[1:]) if field else found.path[:-1]
        return _at(problem, found.document.span(path), found.document)
    if _embedded(span, found) is None:
        return _in_file(problem, span, found, programs)
    outer = find_outer(span, found)
    if outer is None:
        # Quoted or folded: its lines do not stand in the file one by one.
        noted = replace(problem, notes=(Note("at", span), *problem.notes))
        return _at(noted, found.document.span(_embedded(span, found) or ()), found.document)
    return _at(_mentioning(problem, found), outer, found.document)


def _mentioning(problem: Diagnostic, found: StepInput) -> Diagnostic:
    """Move the other positions of a problem to its author's file, too."""
    notes = tuple(
        note if isinstance(note, str) else note._replace(span=_outer(note.span, found))
        for note in problem.notes
    )
    mention = problem.mention
    if mention is None or not problem.message.endswith(str(mention)):
        return replace(problem, notes=notes)
    outer = _outer(mention, found)
    message = f"{problem.message.removesuffix(str(mention))}{outer}"
    return replace(problem, message=message, notes=notes, mention=outer)


def _outer(span: Span, found: StepInput) -> Span:
    return find_outer(span, found) or span


def to_field(problem: Diagnostic, document: Document) -> Diagnostic:
    """A problem with a field of ``document``, at that field; others unchanged."""
    span = document.span(objects.read_path(problem.field)) if problem.field else None
    return _at(problem, span, document)


def find_outer(span: Span, found: StepInput) -> Span | None:
    """Where a place in a program of ``found`` is in its file.

    None for a program that is not in the input, or whose lines do not stand there as they are.
    """
    path = _embedded(span, found)
    if path is None:
        return None
    embedding = documents.find_embedded_text(found.document.text, path)
    if embedding is None:
        return None
    line, column = embedding.outer(span.line, span.column)
    line += found.document.first_line - 1
    return replace(span, name=_name(found.document), line=line, column=column)


def _embedded(span: Span, found: StepInput) -> objects.Path | None:
    """The path in the document of the text that a span is in; None for a file's."""
    path = _path(span.name)
    if path is None or not isinstance(objects.find_path(found.value, path), str):
        return None
    return (*found.path, *path)


def _at(problem: Diagnostic, span: Span | None, document: Document) -> Diagnostic:
    source = document.origin.source
    if span is None:
        return problem
    return replace(problem, span=span, excerpt=None if source is None else excerpt(source, span))


def _path(name: str) -> objects.Path | None:
    """The path below the input of the text that engines call ``name``; None for a file."""
    if module := _MODULE.fullmatch(name):
        return ("modules", module["name"])
    try:
        path = objects.parse_path(name)
    except ValueError:
        return None
    return path if path and path[0] in _TEXT_FIELDS else None


def _in_file(
    problem: Diagnostic, span: Span, found: StepInput, programs: Path | None
) -> Diagnostic:
    """A position in a file of ``programs``; what is shown of it came with the problem."""
    directory = manifests.text_at(found.value, "fileSystem", "dirPath")
    if programs is None or not directory:
        return problem
    path = programs / directory / span.name
    return replace(problem, span=replace(span, name=str(path))) if path.is_file() else problem


def _name(document: Document) -> str:
    source = document.origin.source
    return "composition" if source is None else source.name
