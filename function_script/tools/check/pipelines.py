"""Mistakes in the frame of a pipeline: its mode, steps and template, inputs, plain scalars."""

from collections.abc import Iterator, Sequence
from typing import Final

from function_script import inputs
from function_script.documents import Document, plain_scalars
from function_script.request import objects
from function_script.request.reader import format_path
from function_script.request.values import Value
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.texts.problems import Problem
from function_script.tools import author_positions, manifests, step_inputs
from function_script.tools.render import steps

# Fields of the mode that Crossplane 2 does not have.
_OF_RESOURCES: Final = ("resources", "patchSets")
# The fields of an accepted design; the API server drops them.
_REVISION_FIELDS: Final = ("functionRevisionRef", "functionRevisionSelector")
_TEMPLATE_METADATA: Final = ("spec", "operationTemplate", "metadata")


def find_errors(document: Document) -> Iterator[Diagnostic]:
    """Yield what no engine can run in a Composition with steps of ours."""
    if not _is_ours(document):
        return
    for check in (steps.parse, steps.check_reference):
        try:
            check(document.value)
        except InputError as error:
            yield from error.diagnostics


def find_unread_fields(document: Document) -> Iterator[Diagnostic]:
    """Yield fields beside a pipeline that Crossplane does not read."""
    spec = manifests.object_at(document.value, "spec")
    if not _is_ours(document) or "pipeline" not in spec:
        return
    for key in _OF_RESOURCES:
        if key in spec:
            text = "nothing reads it in mode Pipeline"
            yield Problem(f"spec.{key}", text, "compose these resources in a step").to_diagnostic()


def _is_ours(document: Document) -> bool:
    """Report whether a document is a Composition with an input of ours, wherever it is."""
    kind = manifests.text_at(document.value, "kind")
    return kind == manifests.COMPOSITION[1] and _has_input(document.value)


def _has_input(value: Value) -> bool:
    if isinstance(value, dict):
        is_input = objects.api_version_and_kind(value) in inputs.LANGUAGES
        return is_input or any(map(_has_input, value.values()))
    return isinstance(value, list) and any(map(_has_input, value))


def find_revisions(document: Document) -> Iterator[Diagnostic]:
    """Yield a problem for each step that selects a revision of its function.

    Crossplane has no fields for that.
    """
    for path, step in step_inputs.find_steps(document):
        for name in _REVISION_FIELDS:
            if step.get(name) is not None and "functionRef" in step:
                yield Problem(
                    format_path((*path, name)),
                    "Crossplane 2.4 and earlier have no such field: the step calls the active "
                    "revision of its function",
                    "install the other version as a second Function, and give its name in "
                    "functionRef",
                ).to_diagnostic()


def find_template_metadata(document: Document) -> Iterator[Diagnostic]:
    """Yield a problem for each field in the metadata of an operationTemplate.

    The CRDs declare it as an object without fields, so the API server refuses or drops them.
    """
    for key in manifests.object_at(document.value, *_TEMPLATE_METADATA):
        yield Problem(
            ".".join((*_TEMPLATE_METADATA, key)),
            "no cluster keeps this field: kubectl refuses it, and for other clients the API server "
            "drops it",
            "take it out",
        ).to_diagnostic()


def find_plain_scalars(
    document: Document, ours: Sequence[step_inputs.StepInput]
) -> Iterator[Diagnostic]:
    """Find the plain scalars of a document with inputs of ours that YAML 1.1 reads as another type.

    In our own inputs every such scalar is found. Elsewhere only those are that stand where a text
    is needed, since `enabled: no` is mostly meant as it is read.
    """
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
            yield author_positions.to_span(
                Diagnostic(message=scalar.message, hint=scalar.hint), span, document
            )


def _lines_of(document: Document, step_input: step_inputs.StepInput) -> tuple[int, int]:
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
