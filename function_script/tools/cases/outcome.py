"""The outcome of a step as one plain object, which expectations and checks compare."""

from collections.abc import Mapping
from typing import Final

from function_script import objects
from function_script.blocked import Blocked
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.tools import manifests
from function_script.tools.render import RenderResult, conditions, output
from function_script.tools.render.requirements import Runner, StepResponse
from function_script.tools.render.steps import Step
from function_script.values import Object, Value

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


class ResponseRecorder:
    """A runner that records the last response of each step, and what waited in it."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self.responses: dict[str, fnv1.RunFunctionResponse] = {}
        self.blocked: dict[str, tuple[Blocked, ...]] = {}

    def __call__(self, step: Step, request: fnv1.RunFunctionRequest) -> StepResponse:
        """Call the function once."""
        reply = self._runner(step, request)
        # Steps run in order, so the last entry is the last step of the pipeline.
        self.responses[step.name] = reply.response
        self.blocked[step.name] = reply.blocked
        return reply


def to_object(result: RenderResult, responses: Mapping[str, fnv1.RunFunctionResponse]) -> Object:
    """Build the outcome, which has the keys `PARTS`.

    ``resources`` are as Crossplane writes them, ``ready`` is the desired readiness of each,
    ``requirements`` are those of all steps.
    """
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
