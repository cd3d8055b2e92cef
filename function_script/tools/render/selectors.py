"""Names in a run that nothing has: in selectors of requirements and Services, and of ports."""

from collections.abc import Iterator
from itertools import product
from typing import Final

from function_script.request import objects
from function_script.texts import spelling
from function_script.texts.diagnostics import Code, Diagnostic
from function_script.texts.problems import suggest
from function_script.tools import manifests
from function_script.tools.render.renderer import Rendering
from function_script.tools.validate import builtin, server_rules

_SERVICE: Final = ("v1", "Service")


def find_unselected(rendering: Rendering) -> Iterator[Diagnostic]:
    """Yield the selectors of a run that select nothing, though what they mean is at hand.

    They are those of requirements, and of composed Services.
    """
    yield from _find_services(rendering)
    yield from _find_ports(rendering)
    source = rendering.result.requirements
    if source is None:
        return
    for call in rendering.calls:
        for name, selector in {**call.step.resources, **call.reply.required()}.items():
            near = source.store.find_near(selector)
            if near is not None and not source.select(selector).items:
                span = rendering.positions.find_requirement(call.step, name)
                yield Diagnostic(
                    message=f'required resource "{name}" was not found: {near}',
                    span=span,
                    excerpt=rendering.positions.excerpt(span),
                    code=Code("unselected", name),
                )


def _find_services(rendering: Rendering) -> Iterator[Diagnostic]:
    """Yield the Services that select no pods of a pipeline for a slip in their selector alone."""
    resources = rendering.result.resources
    templates = [*filter(None, map(server_rules.find_labels, resources.values()))]
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
                message = f"selects no pods: none composed here has the label {key}: {value}"
                place = (name, ("spec", "selector", key))
                yield _note(rendering, *place, f'Service "{name}" {message}', f"they have {hint}")


def _find_ports(rendering: Rendering) -> Iterator[Diagnostic]:
    """Yield the names of ports that a probe's container, or the pods of a Service, do not have."""
    resources = rendering.result.resources
    for name, resource in resources.items():
        for above, container, ports in server_rules.find_containers(resource):
            for probe, handler in product(server_rules.PROBES, ("httpGet", "tcpSocket")):
                port = manifests.text_at(container, probe, handler, "port")
                # A number in quotes is refused.
                if port and port not in ports and not port.isdecimal():
                    message = f'container "{container.get("name")}" has no port "{port}" to probe'
                    path = (*above, probe, handler, "port")
                    yield _note(rendering, name, path, message, suggest(port, tuple(ports)))
        selector = manifests.texts_at(resource, "spec", "selector")
        if not selector or objects.api_version_and_kind(resource) != _SERVICE:
            continue
        pods = [
            {port for _, _, ports in server_rules.find_containers(each) for port in ports}
            for each in resources.values()
            if selector.items() <= server_rules.find_labels(each).items()
        ]
        for index, item in enumerate(manifests.objects_at(resource, "spec", "ports")):
            port = manifests.text_at(item, "targetPort")
            if port and pods and not any(port in each for each in pods):
                message = f'the pods that Service "{name}" selects here have no port "{port}"'
                hint = suggest(port, tuple(sorted(set().union(*pods))))
                path = ("spec", "ports", index, "targetPort")
                yield _note(rendering, name, path, message, hint)


def _note(
    rendering: Rendering, name: str, path: objects.Path, message: str, hint: str | None
) -> Diagnostic:
    """Return a diagnostic at the line that wrote a value of a composed resource."""
    position = rendering.positions.nearest_line(name, path)
    span = None if position is None else position.span
    return Diagnostic(
        message=message,
        hint=hint,
        span=span,
        excerpt=rendering.positions.excerpt(span),
        code=Code("unselected", name),
    )


def _shows_all_pods(rendering: Rendering) -> bool:
    """Report whether no other pods can come of a run: those of an operator, a chart or a step."""
    types = map(objects.api_version_and_kind, rendering.result.resources.values())
    return not rendering.skipped and all(builtin.find_schema(*type_) for type_ in types)
