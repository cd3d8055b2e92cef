"""Selectors of a run that select nothing for a slip: those of requirements, and of Services."""

from collections.abc import Iterator
from typing import Final

from function_script.request import objects
from function_script.texts import spelling
from function_script.texts.diagnostics import Code, Diagnostic
from function_script.tools import manifests
from function_script.tools.render.renderer import Rendering
from function_script.tools.validate import builtin, pods

_SERVICE: Final = ("v1", "Service")


def find_unselected(rendering: Rendering) -> Iterator[Diagnostic]:
    """Yield the selectors of a run that select nothing, though what they mean is at hand.

    They are those of requirements, and of composed Services.
    """
    yield from _find_services(rendering)
    source = rendering.result.requirements
    if source is None:
        return
    for call in rendering.calls:
        for name, selector in {**call.step.resources, **call.reply.required()}.items():
            near = source.store.find_near(selector)
            if near is not None and not source.select(selector).items:
                message = f'required resource "{name}" was not found: {near}'
                problem = Diagnostic(message=message, code=Code("unselected", name))
                span = rendering.positions.find_requirement(call.step, name)
                yield rendering.positions.show(problem, span)


def _find_services(rendering: Rendering) -> Iterator[Diagnostic]:
    """Yield the Services that select no pods of a pipeline for a slip in their selector alone."""
    resources = rendering.result.resources
    templates = [*filter(None, map(pods.find_labels, resources.values()))]
    for name, resource in resources.items():
        selector = manifests.texts_at(resource, "spec", "selector")
        if objects.api_version_and_kind(resource) != _SERVICE:
            continue
        if any(selector.items() <= labels.items() for labels in templates):
            continue
        for key, value in selector.items():
            others = selector.items() - {(key, value)}
            near = [labels for labels in templates if others <= labels.items()]
            slip = spelling.find_slip(value, {each[key] for each in near if key in each})
            keys = {each for labels in near for each in labels if labels[each] == value}
            hint = f"{key}: {slip}" if slip else None
            is_other = not any(key in labels for labels in near) and len(keys) == 1
            if is_other and _shows_all_pods(rendering):
                hint = f"{keys.pop()}: {value}"
            if hint is not None:
                problem = Diagnostic(
                    message=f'Service "{name}" selects no pods: none composed here has the label '
                    f"{key}: {value}",
                    hint=f"they have {hint}",
                    code=Code("unselected", name),
                )
                position = rendering.positions.nearest_line(name, ("spec", "selector", key))
                yield rendering.positions.show(problem, position and position.span)


def _shows_all_pods(rendering: Rendering) -> bool:
    """Report whether no other pods can come of a run: those of an operator, a chart or a step."""
    types = map(objects.api_version_and_kind, rendering.result.resources.values())
    return not rendering.skipped and all(builtin.find_schema(*type_) for type_ in types)
