"""Mapping of problems from a step's program to the file its author edits, such as a Composition.

A position in a program becomes one in the block of YAML that contains it; a problem with a field of
the input becomes one at that field.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from function_script import documents
from function_script.documents import Document
from function_script.engines.registry import LANGUAGES
from function_script.inputs.files import find_directory
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic, Note
from function_script.texts.source import Span
from function_script.tools import manifests
from function_script.tools.step_inputs import StepInput

_TEXT_FIELDS: Final = {"modules", *(language.text_field for language in LANGUAGES.values())}


def file_of(document: Document) -> Path:
    """Return the path of the file that has a document, by which others are found beside it."""
    source = document.origin.source
    return Path() if source is None else Path(source.name)


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
    block = _find_block(span, step_input)
    if block is None:
        # The excerpt of a program in a file is there already.
        return replace(problem, span=_in_file(span, step_input, programs))
    document, path = block
    outer = find_outer(span, step_input)
    if outer is None:
        # The text is quoted or folded: its lines are not lines of the file.
        noted = replace(problem, notes=(Note("at", span), *problem.notes))
        if documents.is_folded(document.text, path):
            hint = f"> makes one line of several: write `{span.name}: |`, which keeps them"
            # A problem's own hint says more of it.
            noted = replace(noted, hint=problem.hint or hint)
        return to_span(noted, document.span(path), document)
    # The other positions of the problem are the author's file's, too.
    notes = tuple(
        note
        if isinstance(note, str)
        else note._replace(span=find_outer(note.span, step_input) or note.span)
        for note in problem.notes
    )
    return to_span(replace(problem, notes=notes), outer, document)


def to_author(span: Span, step_input: StepInput, programs: Path | None) -> Span | None:
    """Return the position in the author's file of a position in the program of a step.

    It is that of the whole text where its lines are not lines of the file. A program that is
    neither in the input nor in a file below ``programs`` has its own positions.
    """
    block = _find_block(span, step_input)
    if block is None:
        return _in_file(span, step_input, programs)
    document, path = block
    return find_outer(span, step_input) or document.span(path)


def _in_file(span: Span, step_input: StepInput, programs: Path | None) -> Span:
    """Return the span with the name of the file below ``programs``, if it is in one."""
    dir_path = manifests.text_at(step_input.value, "fileSystem", "dirPath")
    if programs is None or not dir_path:
        return span
    root = programs.resolve()
    directory = find_directory(root, dir_path)
    if directory is None or not (directory / span.name).is_file():
        return span
    if directory.is_relative_to(root):
        directory = programs / directory.relative_to(root)
    return replace(span, name=str(directory / span.name))


def _find_block(span: Span, step_input: StepInput) -> tuple[Document, objects.Path] | None:
    """Return the document and the path in it of the text that contains a span; None for a file's.

    The document is the step's, or that of the object which the step's input refers to.
    """
    if path := find_text(span, step_input.value):
        return step_input.document, (*step_input.path, *path)
    stored = step_input.stored
    path = None if stored is None else find_text(span, stored.value)
    return None if stored is None or path is None else (stored, path)


def locate(problem: Diagnostic, document: Document, path: objects.Path | None = None) -> Diagnostic:
    """Return the problem at ``path``, by default its field, or at the nearest that exists above."""
    path = objects.read_path(problem.field) if path is None else path
    return to_span(problem, document.span(path), document)


def locate_all(problems: Iterable[Diagnostic], document: Document) -> list[Diagnostic]:
    """`locate` every problem at its field, in one pass."""
    located = [*problems]
    # There is seldom one, and many rules have none.
    if not located:
        return []
    spans = document.span_each(objects.read_path(each.field) for each in located)
    return [to_span(each, span, document) for each, span in zip(located, spans, strict=True)]


def find_outer(span: Span, step_input: StepInput) -> Span | None:
    """Return the position in the author's file of a position in a program, or None.

    None for a program that is not in the input, or whose lines are not in the file as they are.
    """
    block = _find_block(span, step_input)
    if block is None:
        return None
    document, path = block
    embedding = documents.find_embedded_text(document.text, path)
    if embedding is None:
        return None
    line, column = embedding.outer(span.line, span.column)
    source = document.origin.source
    name = "composition" if source is None else source.name
    return replace(span, name=name, line=line + document.first_line - 1, column=column)


def find_text(span: Span, value: Object) -> objects.Path | None:
    """Return the path in the input ``value`` of the text that contains a span; None for a file.

    Engines call a text by its field: ``script``, ``inline.templates[0]``, ``modules[lib.star]``.
    """
    field, _, rest = span.name.partition("[")
    path = (field, rest[:-1]) if rest and field in _TEXT_FIELDS else objects.read_path(span.name)
    is_text = path[:1] and path[0] in _TEXT_FIELDS
    return path if is_text and isinstance(objects.find_path(value, path), str) else None


def to_span(problem: Diagnostic, span: Span | None, document: Document) -> Diagnostic:
    """Return the problem at a position in ``document``; unchanged without one."""
    return problem if span is None else problem.at(document.origin.source, span)
