"""Names in a run that nothing has: in selectors of requirements and Services, and of ports."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, Self

from function_script.request import objects
from function_script.request.values import Object
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
    yield from _find_probes(rendering)
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
    """Yield the Services that select no pods of a pipeline for a slip in their selector alone.

    Of those that select some, their ports are compared with the pods'.
    """
    resources = rendering.result.resources
    pods = [pod for pod in map(_Pod.of, resources.values()) if pod.labels]
    templates = [pod.labels for pod in pods]
    for name, resource in resources.items():
        selector = manifests.texts_at(resource, "spec", "selector")
        if objects.api_version_and_kind(resource) != _SERVICE:
            continue
        if selected := [pod for pod in pods if selector.items() <= pod.labels.items()]:
            names = {port for pod in selected for _, _, ports in pod.containers for port in ports}
            for index, item in enumerate(manifests.objects_at(resource, "spec", "ports")):
                port, path = manifests.text_at(item, "targetPort"), ("spec", "ports", index)
                if selector and port not in {"", *names} and not port.isdecimal():
                    message = f'the pods that Service "{name}" selects here have no port "{port}"'
                    hint = suggest(port, tuple(sorted(names)))
                    yield _note(rendering, name, (*path, "targetPort"), message, hint)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pod:
    """The labels of a pod, and its containers with their paths and the names of their ports."""

    labels: Mapping[str, str]
    containers: Sequence[tuple[objects.Path, Object, frozenset[str]]]

    @classmethod
    def of(cls, resource: Object) -> Self:
        above, template = server_rules.find_template(resource)
        containers = [
            ((*above, "spec", part, index), container, _list_ports(container))
            for part in ("initContainers", "containers")
            for index, container in enumerate(manifests.objects_at(template, "spec", part))
        ]
        return cls(labels=manifests.texts_at(template, "metadata", "labels"), containers=containers)


def _list_ports(container: Object) -> frozenset[str]:
    names = (manifests.text_at(each, "name") for each in manifests.objects_at(container, "ports"))
    return frozenset(filter(None, names))


def _find_probes(rendering: Rendering) -> Iterator[Diagnostic]:
    """Yield the probes of ports that their containers do not have."""
    for name, resource in rendering.result.resources.items():
        for above, container, ports in _Pod.of(resource).containers:
            for probe, handler in product(server_rules.PROBES, ("httpGet", "tcpSocket")):
                port = manifests.text_at(container, probe, handler, "port")
                # A number in quotes is refused.
                if port and port not in ports and not port.isdecimal():
                    message = f'container "{container.get("name")}" has no port "{port}" to probe'
                    path, names = (*above, probe, handler, "port"), tuple(sorted(ports))
                    yield _note(rendering, name, path, message, suggest(port, names))


def _note(
    rendering: Rendering, name: str, path: objects.Path, message: str, hint: str | None
) -> Diagnostic:
    """Return a diagnostic at the line that wrote a value of a composed resource."""
    problem = Diagnostic(message=message, hint=hint, code=Code("unselected", name))
    return rendering.positions.show_value(problem, name, path)


def _shows_all_pods(rendering: Rendering) -> bool:
    """Report whether no other pods can come of a run: those of an operator, a chart or a step."""
    types = map(objects.api_version_and_kind, rendering.result.resources.values())
    return not rendering.skipped and all(builtin.find_schema(*type_) for type_ in types)
