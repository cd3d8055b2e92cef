"""The resources that a Composition's steps compose, as far as their programs write them out."""

from collections.abc import Iterable, Sequence
from typing import Final

from function_script import objects
from function_script.documents import Document
from function_script.engines.lint import ResourceKind
from function_script.inputs import Step
from function_script.tools import manifests, step_inputs

# Functions that compose nothing, by the end of their usual names.
_IDLE: Final = ("auto-ready", "environment-configs", "extra-resources", "sequencer")


def find_kinds(steps: Iterable[Step]) -> dict[str, ResourceKind]:
    """Return the kinds of resources by name; names with two kinds are left out."""
    kinds: dict[str, set[ResourceKind]] = {}
    for step in steps:
        for name, kind in step.language.lint.find_composed_kinds(step.program):
            kinds.setdefault(name, set()).add(kind)
    return {name: next(iter(each)) for name, each in kinds.items() if len(each) == 1}


def find_names(document: Document, steps: Sequence[Step]) -> frozenset[str] | None:
    """Return the names of all resources that a pipeline composes, of which ``steps`` are ours.

    None when only a run knows them.
    """
    if manifests.text_at(document.value, "kind") != "Composition" or not steps:
        return None
    pipeline = objects.find_path(document.value, ("spec", "pipeline"))
    for step in pipeline if isinstance(pipeline, list) else []:
        if not isinstance(step, dict):
            return None
        value = step.get("input")
        is_ours = isinstance(value, dict) and step_inputs.is_ours(value)
        if not is_ours and not manifests.text_at(step, "functionRef", "name").endswith(_IDLE):
            return None
    names: set[str] = set()
    for each in steps:
        composed = each.language.lint.find_composed_names(each.program)
        if composed is None or not each.program.main.text:
            return None
        names |= composed
    return frozenset(names)
