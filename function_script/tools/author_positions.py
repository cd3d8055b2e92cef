"""Mapping of problems from a step's program to the file its author edits, such as a Composition.

A position in a program becomes one in the block of YAML that contains it; a problem with a field of
the input becomes one at that field.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from function_script import documents, objects
from function_script.diagnostics import Diagnostic, Note
from function_script.documents import Document
from function_script.engines.registry import LANGUAGES
from function_script.source import Span, excerpt
from function_script.tools import manifests
from function_script.tools.step_inputs import StepInput
from function_script.values import Object

_TEXT_FIELDS: Final = sorted({language.text_field for language in LANGUAGES.values()})
_MODULE: Final = re.compile(r'modules\["?(?P<name>[^"\]]+)"?\]')


def map_to_source(problem: Diagnostic, step_input: StepInput, programs: Path | None) -> Diagnostic:
    """Return the problem of a step with a position in the author's file.

    ``programs`` is the directory of programs in files, if there is one.
    """
    span = problem.span
    if span is None:
        field = objects.read_path(problem.field)
        # Without a field's path, the problem is the whole step's.
        path = (*step_input.path, *field[1:]) if field else step_input.path[:-1]
        return to_span(problem, step_input.document.span(path), step_input.document)
    holder = _holder(span, step_input)
    if _embedded(span, holder) is None:
        # The program is in a file below ``programs``, and its excerpt is there already.
        directory = manifests.text_at(step_input.value, "fileSystem", "dirPath")
        file = None if programs is None else programs / directory / span.name
        if not directory or file is None or not file.is_file():
            return problem
        return replace(problem, span=replace(span, name=str(file)))
    outer = find_outer(span, step_input)
    if outer is None:
        # The text is quoted or folded: its lines are not lines of the file.
        path = _embedded(span, holder) or ()
        noted = replace(problem, notes=(Note("at", span), *problem.notes))
        if documents.is_folded(holder.document.text, path):
            hint = f"> makes one line of several: write `{span.name}: |`, which keeps them"
            noted = replace(noted, hint=hint)
        return to_span(noted, holder.document.span(path), holder.document)
    return to_span(_mentioning(problem, step_input), outer, holder.document)


def _holder(span: Span, step_input: StepInput) -> StepInput:
    """Return the input that has the text of a span: the step's, or the object's that it names."""
    stored = step_input.stored
    is_own = stored is None or find_text(span, step_input.value) is not None
    if stored is None or is_own or find_text(span, stored.value) is None:
        return step_input
    return StepInput(step=step_input.step, value=stored.value, document=stored)


def _mentioning(problem: Diagnostic, step_input: StepInput) -> Diagnostic:
    """Move the other positions of a problem to its author's file, too."""
    notes = tuple(
        note if isinstance(note, str) else note._replace(span=_outer(note.span, step_input))
        for note in problem.notes
    )
    mention = problem.mention
    if mention is None or not problem.message.endswith(str(mention)):
        return replace(problem, notes=notes)
    outer = _outer(mention, step_input)
    message = f"{problem.message.removesuffix(str(mention))}{outer}"
    return replace(problem, message=message, notes=notes, mention=outer)


def _outer(span: Span, step_input: StepInput) -> Span:
    return find_outer(span, step_input) or span


def to_field(problem: Diagnostic, document: Document) -> Diagnostic:
    """A problem with a field of ``document``, at that field; others unchanged."""
    span = document.span(objects.read_path(problem.field)) if problem.field else None
    return to_span(problem, span, document)


def locate(problem: Diagnostic, document: Document, path: objects.Path = ()) -> Diagnostic:
    """Return the problem at the field at ``path``, or at its nearest ancestor that exists."""
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
    return replace(span, name=_name(step_input.document), line=line, column=column)


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
    if module := _MODULE.fullmatch(name):
        return ("modules", module["name"])
    try:
        path = objects.parse_path(name)
    except ValueError:
        return None
    return path if path and path[0] in _TEXT_FIELDS else None


def _name(document: Document) -> str:
    source = document.origin.source
    return "composition" if source is None else source.name
