"""The inputs of a pipeline's steps: each is checked like a resource of its own.

An input of ours is also parsed as when it runs, and its program compiled, so that what a schema
cannot say shows here and not in the cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from function_script import diagnostics, documents, engines, inputs, objects
from function_script.diagnostics import Diagnostic
from function_script.errors import FatalError, InputError
from function_script.source import Span
from function_script.tools import manifests
from function_script.tools.validate.findings import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.documents import Document
    from function_script.values import Object

_PIPELINES: Final[dict[str, objects.Path]] = {
    "Composition": ("spec", "pipeline"),
    "Operation": ("spec", "pipeline"),
    "CronOperation": ("spec", "operationTemplate", "spec", "pipeline"),
    "WatchOperation": ("spec", "operationTemplate", "spec", "pipeline"),
}
_GROUPS: Final = ("apiextensions.crossplane.io", "ops.crossplane.io")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepInput:
    """An input, the name of its step, and where in ``document`` it stands."""

    step: str
    value: Object
    document: Document
    path: objects.Path


def find(document: Document) -> Iterator[StepInput]:
    """The inputs of all steps of a Composition or an Operation; none of any other object."""
    api_version, kind = objects.api_version_and_kind(document.value)
    if kind not in _PIPELINES or manifests.group(api_version) not in _GROUPS:
        return
    pipeline = _PIPELINES[kind]
    steps = objects.find_path(document.value, pipeline)
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        value = step.get("input") if isinstance(step, dict) else None
        if isinstance(value, dict):
            path = (*pipeline, index, "input")
            yield StepInput(
                step=manifests.text_at(step, "step"), value=value, document=document, path=path
            )


def is_ours(value: Object) -> bool:
    """Whether an input is of a kind that this function runs."""
    return objects.api_version_and_kind(value) in inputs.KINDS


def problems(found: StepInput) -> Iterator[Problem]:
    """What would stop the step before its program runs."""
    try:
        step = inputs.parse_without_sources(found.value)
    except InputError as error:
        for diagnostic in error.diagnostics:
            yield _field_problem(diagnostic)
        return
    if not step.program.main.text:
        return
    try:
        engines.get(step.language).check(step.program, step.limits)
    except FatalError as error:
        for diagnostic in error.diagnostics:
            yield _program_problem(diagnostic, found)


def _field_problem(diagnostic: Diagnostic) -> Problem:
    """A problem whose message begins with the field's path, seen from inside the input."""
    path, _, text = diagnostic.message.partition(": ")
    field = path.removeprefix("input").removeprefix(".")
    line = diagnostics.to_line((Diagnostic(message=text, hint=diagnostic.hint),))
    return Problem(type="schema", field=field, message=f"{field}: {line}")


def _program_problem(diagnostic: Diagnostic, found: StepInput) -> Problem:
    span = diagnostic.span
    field = "" if span is None else span.name
    if span is not None:
        span = _outer(span, found) or span
    line = Diagnostic(message=diagnostic.message, span=span, hint=diagnostic.hint)
    return Problem(type="program", field=field, message=diagnostics.to_line((line,)))


def _outer(span: Span, found: StepInput) -> Span | None:
    """The place in the file that holds the Composition; None where the text is not in it as is."""
    try:
        path = objects.parse_path(span.name.replace("modules[", 'modules["').replace("]", '"]'))
    except ValueError:
        return None
    source = found.document.origin.source
    embedding = documents.find_embedding(found.document.key, (*found.path, *path))
    if embedding is None or source is None:
        return None
    line, column = embedding.outer(span.line, span.column)
    line += found.document.first_line - 1
    return Span(name=source.name, line=line, column=column, width=span.width)
