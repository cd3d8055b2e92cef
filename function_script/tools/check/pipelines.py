"""Mistakes in the frame of a Composition that has steps of ours: its mode, type and steps."""

from collections.abc import Iterator
from typing import Final

from function_script import inputs, objects
from function_script.diagnostics import Diagnostic
from function_script.documents import Document
from function_script.errors import InputError
from function_script.tools import author_positions, manifests
from function_script.tools.render import steps
from function_script.values import Value

# Fields of the mode that Crossplane 2 does not have.
_OF_RESOURCES: Final = ("resources", "patchSets")


def find_errors(document: Document) -> Iterator[Diagnostic]:
    """Yield what no engine can run."""
    if not _is_ours(document):
        return
    try:
        steps.parse(document.value)
    except InputError as error:
        for problem in error.diagnostics:
            yield _located(problem, document)


def find_warnings(document: Document) -> Iterator[Diagnostic]:
    """Yield fields beside a pipeline that Crossplane does not read."""
    spec = manifests.object_at(document.value, "spec")
    if not _is_ours(document) or "pipeline" not in spec:
        return
    for key in _OF_RESOURCES:
        if key in spec:
            problem = Diagnostic(
                message=f"spec.{key}: nothing reads it in mode Pipeline",
                hint="compose these resources in a step",
                field=f"spec.{key}",
            )
            yield _located(problem, document)


def _located(problem: Diagnostic, document: Document) -> Diagnostic:
    return author_positions.locate(problem, document, objects.read_path(problem.field))


def _is_ours(document: Document) -> bool:
    """Report whether a document is a Composition with an input of ours, wherever it is."""
    kind = manifests.text_at(document.value, "kind")
    return kind == manifests.COMPOSITION[1] and _has_input(document.value)


def _has_input(value: Value) -> bool:
    if isinstance(value, dict):
        is_input = objects.api_version_and_kind(value) in inputs.KINDS
        return is_input or any(map(_has_input, value.values()))
    return isinstance(value, list) and any(map(_has_input, value))
