"""The outcome of a step as one plain object, which expectations and checks compare."""

from collections.abc import Mapping
from typing import Final

from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.objects import Path
from function_script.request.reader import format_path
from function_script.request.values import Object, Value
from function_script.texts.diagnostics import Note
from function_script.tools import manifests
from function_script.tools.render import RenderResult, conditions, output
from function_script.tools.render.renderer import Rendering

PARTS: Final = (
    "xr",
    "resources",
    "status",
    "ready",
    "conditions",
    "events",
    "requirements",
    "context",
)


def to_object(rendering: Rendering) -> Object:
    """Build the outcome, which has the keys `PARTS`.

    ``resources`` are as Crossplane writes them, ``ready`` is the desired readiness of each,
    ``requirements`` are those of all steps.
    """
    result, responses = rendering.result, rendering.responses
    xr: Object = {key: objects.deep_copy(value) for key, value in result.xr.items()}
    objects.merge(xr, conditions.with_times_replaced(result.composition.xr))
    status = manifests.object_at(xr, "status")
    resources = result.composition.resources
    names = {old: manifests.resource_name(resources[old]) or old for old in resources}
    *_, last = (fnv1.RunFunctionResponse(), *responses.values())
    desired = last.desired.resources
    return {
        "xr": xr,
        "resources": {
            names[old]: conditions.with_times_replaced(resources[old])
            for old in sorted(resources, key=names.__getitem__)
        },
        "status": status,
        "ready": {
            names.get(old, old): desired[old].ready == fnv1.READY_TRUE for old in sorted(desired)
        },
        "conditions": status.get("conditions") or [],
        "events": [
            {"severity": event.severity, "reason": event.reason, "message": event.message}
            for event in result.events
        ],
        "requirements": _requirements(responses),
        "context": result.context or {},
    }


def find_writer(rendering: Rendering, path: Path) -> Note | str | None:
    """Return a note of the line that wrote the value at a path of the outcome.

    For one that does not exist it is the line of the nearest field above it.
    """
    resources = rendering.result.composition.resources
    resource, below = None, path[1:]
    match path:
        case ("resources", str(name), *_):
            names = {manifests.resource_name(resources[old]) or old: old for old in resources}
            resource, below = names.get(name, name), path[2:]
        case ("status", *_):
            below = path
        case ("xr", *_):
            pass
        case _:
            return None
    for end in range(len(below), -1, -1):
        position = rendering.positions.locate(resource, below[:end])
        if position is not None:
            verb = "written" if end == len(below) else f"{format_path(below[:end])} is written"
            if position.span is None:
                return f'{verb} by step "{position.step}"'
            return Note(f"{verb.lstrip()} at", position.span)
    return None


def is_ready(outcome: Object) -> bool:
    """Report whether the XR is ready."""
    condition = objects.find_condition(outcome["xr"], "Ready")
    return condition is not None and condition.get("status") == "True"


def documents(result: RenderResult) -> list[Object]:
    """Return the documents of a snapshot: those that `render --include-function-results` prints."""
    return output.documents(result, output.OutputOptions(results=True))


def _requirements(responses: Mapping[str, fnv1.RunFunctionResponse]) -> Object:
    resources: Object = {}
    schemas: Object = {}
    for response in responses.values():
        requirements = response.requirements
        for selectors in (requirements.extra_resources, requirements.resources):
            resources.update({name: _selector(selectors[name]) for name in sorted(selectors)})
        for name in sorted(requirements.schemas):
            schema = requirements.schemas[name]
            schemas[name] = {"apiVersion": schema.api_version, "kind": schema.kind}
    return {"resources": resources, "schemas": schemas}


def _selector(selector: fnv1.ResourceSelector) -> Object:
    """Return the selector in the format of a Composition's ``requiredResources``."""
    item: Object = {"apiVersion": selector.api_version, "kind": selector.kind}
    match = selector.WhichOneof("match")
    if match == "match_name":
        item["name"] = selector.match_name
    elif match == "match_labels":
        labels: dict[str, Value] = {**selector.match_labels.labels}
        item["matchLabels"] = labels
    if selector.HasField("namespace"):
        item["namespace"] = selector.namespace
    return item
