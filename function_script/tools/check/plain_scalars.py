"""Plain scalars that YAML 1.1 reads as another type: in documents with steps of ours, and in them.

In our own inputs every such scalar is found. Elsewhere, and in templates of function-go-templating,
only those are that stand where a text is needed, since `enabled: no` is mostly meant as it is read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from function_script import inputs
from function_script.documents import Document, plain_scalars
from function_script.request import objects
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.source import Span, excerpt
from function_script.tools import author_positions
from function_script.tools.step_inputs import StepInput


def find_in_document(document: Document, ours: Sequence[StepInput]) -> Iterator[Diagnostic]:
    """Find the scalars of a file's document, which has inputs of ours."""
    kinds = [objects.api_version_and_kind(each.value) for each in ours]
    ranges = [
        _lines_of(document, each)
        for each, kind in zip(ours, kinds, strict=True)
        if kind in inputs.LANGUAGES and kind != inputs.PEERS
    ]
    for scalar in plain_scalars.find(document.text):
        is_in_input = any(first <= scalar.line < end for first, end in ranges)
        if scalar.is_certain or is_in_input:
            line = document.first_line + scalar.line
            span = document.origin.span(line, scalar.column + 1)
            yield author_positions.to_span(_problem(scalar), span, document)


def find_in_program(step: inputs.Step) -> Iterator[Diagnostic]:
    """Find the scalars of the documents that a template writes out."""
    is_ours = step.dialect == "script"
    for source, text in step.language.lint.find_documents(step.program):
        for first, document in _split(text):
            for scalar in plain_scalars.find(document):
                # A boolean is often meant in a resource.
                if scalar.is_certain or (is_ours and not scalar.text.isalpha()):
                    line = first + scalar.line + 1
                    width = len(scalar.text)
                    span = Span(name=source.name, line=line, column=scalar.column + 1, width=width)
                    problem = _problem(scalar)
                    yield replace(problem, span=span, excerpt=excerpt(source, span))


def _lines_of(document: Document, step_input: StepInput) -> tuple[int, int]:
    """Return the first line of an input in the document's text, and the line after it; 0-based."""
    lines = document.text.split("\n")
    if not step_input.path:
        return 0, len(lines)
    span = document.span(step_input.path)
    if span is None:
        return 0, 0
    first = span.line - document.first_line
    column = span.column or 1
    end = first + 1
    # The input ends where a line begins further left, or at its key's column.
    while end < len(lines) and (
        not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) >= column
    ):
        end += 1
    return first, end


def _split(text: str) -> Iterator[tuple[int, str]]:
    """Yield the documents of a text with their first lines, 0-based: one may not be YAML."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("---")]
    for first, end in zip([0, *(start + 1 for start in starts)], [*starts, None], strict=True):
        yield first, "\n".join(lines[first:end])


def _problem(scalar: plain_scalars.PlainScalar) -> Diagnostic:
    return Diagnostic(message=scalar.message, hint=scalar.hint)
