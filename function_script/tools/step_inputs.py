"""The inputs of a pipeline's steps, and where in their author's file each of them stands.

Called by the tools that look at Compositions and Operations without running them, and by those
that give problems the position their author knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from function_script import inputs, objects
from function_script.tools import manifests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.documents import Document
    from function_script.inputs import Step
    from function_script.limits import Limits
    from function_script.source import Span
    from function_script.values import Object

_PIPELINES: Final[dict[str, objects.Path]] = {
    "Composition": ("spec", "pipeline"),
    "Operation": ("spec", "pipeline"),
    "CronOperation": ("spec", "operationTemplate", "spec", "pipeline"),
    "WatchOperation": ("spec", "operationTemplate", "spec", "pipeline"),
}
_OPERATIONS: Final = "ops.crossplane.io"
_GROUPS: Final = ("apiextensions.crossplane.io", _OPERATIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepInput:
    """An input, the name of its step, and where in ``document`` it stands.

    ``path`` is empty when the document is the input itself.
    """

    step: str
    value: Object
    document: Document
    path: objects.Path = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherStep:
    """A step of another function, and where it stands."""

    step: str
    function: str
    span: Span | None


def has_pipeline(value: Object) -> bool:
    """Whether an object is a Composition or an Operation, whose steps may have inputs."""
    api_version, kind = objects.api_version_and_kind(value)
    return kind in _PIPELINES and manifests.group(api_version) in _GROUPS


def is_of_operation(found: StepInput) -> bool:
    """Whether the step is one of an Operation, or of the template of one."""
    api_version = manifests.text_at(found.document.value, "apiVersion")
    return manifests.group(api_version) == _OPERATIONS


def find(document: Document) -> Iterator[StepInput]:
    """The inputs of all steps of a Composition or an Operation; none of any other object."""
    if not has_pipeline(document.value):
        return
    pipeline = _PIPELINES[manifests.text_at(document.value, "kind")]
    steps = objects.find_path(document.value, pipeline)
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        value = step.get("input") if isinstance(step, dict) else None
        if isinstance(value, dict):
            path = (*pipeline, index, "input")
            yield StepInput(
                step=manifests.text_at(step, "step"), value=value, document=document, path=path
            )


def find_others(document: Document) -> list[OtherStep]:
    """The steps of a pipeline that have no input of ours."""
    if not has_pipeline(document.value):
        return []
    pipeline = _PIPELINES[manifests.text_at(document.value, "kind")]
    steps = objects.find_path(document.value, pipeline)
    return [
        OtherStep(
            step=manifests.text_at(step, "step"),
            function=_function(step),
            span=document.span((*pipeline, index)),
        )
        for index, step in enumerate(steps if isinstance(steps, list) else ())
        if isinstance(step, dict) and not is_ours(manifests.object_at(step, "input"))
    ]


def _function(step: Object) -> str:
    """What a step calls: a Function's name, or in newer versions of Crossplane an image."""
    return manifests.text_at(step, "functionRef", "name") or manifests.text_at(step, "function")


def find_ours(document: Document) -> list[StepInput]:
    """The inputs of ours in a document, which may also be one itself."""
    if has_pipeline(document.value):
        return [each for each in find(document) if is_ours(each.value)]
    alone = StepInput(step="", value=document.value, document=document)
    # Any YAML may have a field called source; an input that stands alone is an object.
    is_object = all(objects.api_version_and_kind(alone.value))
    return [alone] if is_object and is_ours(alone.value) else []


def is_elsewhere(found: StepInput) -> bool:
    """Whether the program is neither in the input nor in files: only a request brings it."""
    return found.value.get("source") not in (None, "Inline", "FileSystem")


def is_ours(value: Object) -> bool:
    """Whether an input runs here, or was to run here and has a mistake."""
    return inputs.is_meant_for_us(value)


def parse(found: StepInput, limits: Limits | None = None) -> Step:
    """The step an input of ours makes; raises InputError with every problem of the input.

    A program in files is read if ``limits`` say below which directory; else it stays empty.
    """
    return inputs.parse_without_sources(found.value, limits)


def check_program(step: Step) -> None:
    """Compile the step's program, if it is at hand; raises FatalError with all that is wrong."""
    if step.program.main.text:
        step.language.engine.check(step.program, step.limits)
