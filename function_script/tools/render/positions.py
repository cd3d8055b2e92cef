"""Move problems from a step's program to the file its author edits: the Composition.

Called for errors only. A position in a program becomes one in the block of YAML that holds it;
a problem with a field of the input becomes one at that field.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from function_script import documents, objects
from function_script.source import Span, excerpt
from function_script.tools import manifests

if TYPE_CHECKING:
    from pathlib import Path

    from function_script.diagnostics import Diagnostic
    from function_script.documents import Document
    from function_script.tools.render.steps import Step

_MODULE: Final = re.compile(r'modules\["?(?P<name>[^"\]]+)"?\]')
_FIELD: Final = re.compile(r"(?P<path>(?:input|spec)\b[^\s:]*): ")


def to_composition(
    problem: Diagnostic, step: Step, composition: Document, programs: Path | None
) -> Diagnostic:
    """The problem of a step where its author can mend it; always with a position.

    ``programs`` is the directory of programs in files, if there is one.
    """
    input_path: objects.Path = ("spec", "pipeline", step.index, "input")
    span = problem.span
    if span is None:
        return _at_field(problem, composition, ("spec", "pipeline", step.index))
    path = _path(span.name)
    if path is None or not isinstance(objects.find_path(step.input, path), str):
        return _in_file(problem, span, step, programs)
    embedding = documents.find_embedding(composition.key, (*input_path, *path))
    if embedding is None:
        # Quoted or folded: its lines do not stand in the file one by one.
        noted = replace(problem, notes=(f"at {span}", *problem.notes))
        return _at(noted, composition.span((*input_path, *path)), composition)
    line, column = embedding.outer(span.line, span.column)
    line += composition.first_line - 1
    outer = replace(span, name=_name(composition), line=line, column=column)
    return _at(problem, outer, composition)


def to_field(problem: Diagnostic, composition: Document) -> Diagnostic:
    """A problem whose message begins with a field's path, at that field; others unchanged."""
    return _at_field(problem, composition, ())


def _at_field(problem: Diagnostic, composition: Document, base: objects.Path) -> Diagnostic:
    path = base
    if field := _FIELD.match(problem.message):
        try:
            path = (*base, *objects.parse_path(field["path"]))
        except ValueError:
            path = base
    return _at(problem, composition.span(path) if path else None, composition)


def _at(problem: Diagnostic, span: Span | None, composition: Document) -> Diagnostic:
    source = composition.origin.source
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
    return path if path and path[0] in {"script", "inline"} else None


def _in_file(problem: Diagnostic, span: Span, step: Step, programs: Path | None) -> Diagnostic:
    """A position in a file of ``programs``; what is shown of it came with the problem."""
    directory = manifests.text_at(step.input or {}, "fileSystem", "dirPath")
    if programs is None or not directory:
        return problem
    path = programs / directory / span.name
    return replace(problem, span=replace(span, name=str(path))) if path.is_file() else problem


def _name(composition: Document) -> str:
    source = composition.origin.source
    return "composition" if source is None else source.name
