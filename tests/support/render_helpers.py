"""Make what `render` works on from short plain data, and script the functions it calls."""

from dataclasses import dataclass, field

from google.protobuf import json_format

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object
from function_script.tools import render
from function_script.tools.render import steps
from function_script.tools.render.compose import RenderResult
from function_script.tools.render.requirements import Runner, StepResponse
from function_script.tools.render.steps import Step

XR: Object = {
    "apiVersion": "example.org/v1",
    "kind": "XBucket",
    "metadata": {"name": "demo", "namespace": "default"},
    "spec": {"region": "here"},
}
CLUSTER_XR: Object = {**XR, "metadata": {"name": "demo"}}
RESPONSIVE: Object = {
    "type": "Responsive",
    "status": "True",
    "reason": "WatchCircuitClosed",
    "lastTransitionTime": "2024-01-01T00:00:00Z",
}
"""The condition that Crossplane sets first."""
BUCKET: Object = {"apiVersion": "s3.example.org/v1", "kind": "Bucket", "spec": {"size": 1}}


def xrd(version: str = "v2", schema: Object | None = None, **spec: object) -> Object:
    """The definition of XR."""
    versions = [{"name": "v1", "schema": {"openAPIV3Schema": schema or {"type": "object"}}}]
    base = {"group": "example.org", "names": {"kind": "XBucket"}, "versions": versions}
    return {
        "apiVersion": f"apiextensions.crossplane.io/{version}",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": "xbuckets.example.org"},
        "spec": {**base, **spec},
    }


def bucket(**metadata: object) -> Object:
    """A composed resource with this metadata."""
    return {**BUCKET, "metadata": dict(metadata)}


def observed(resource_name: str, **metadata: object) -> Object:
    """A resource that the XR has composed already."""
    annotation = {"crossplane.io/composition-resource-name": resource_name}
    return bucket(annotations=annotation, **{"namespace": "default", **metadata})


def composition(*steps: Object, **spec: object) -> Object:
    """A Composition for XR; a step without a name or function gets one."""
    pipeline = [
        {"step": f"step-{index}", "functionRef": {"name": "function-other"}, **step}
        for index, step in enumerate(steps)
    ]
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "buckets"},
        "spec": {
            "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "XBucket"},
            "mode": "Pipeline",
            "pipeline": pipeline,
            **spec,
        },
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A runner that answers each call with the next response, and remembers the requests.

    A response is protobuf JSON on top of the pass-through. The last one answers further calls.
    """

    responses: tuple[Object, ...]
    requests: list[Object] = field(default_factory=list)

    def __call__(self, _: Step, request: pb.RunFunctionRequest) -> StepResponse:
        """Answer like a function that was told what to say."""
        index = min(len(self.requests), len(self.responses) - 1)
        self.requests.append(json_format.MessageToDict(request, preserving_proto_field_name=True))
        response = pb.RunFunctionResponse()
        response.desired.CopyFrom(request.desired)
        if request.HasField("context"):
            response.context.CopyFrom(request.context)
        return StepResponse(response=json_format.ParseDict(self.responses[index], response))


def script(*responses: Object) -> Script:
    """A runner with these answers; without any it passes everything through."""
    return Script(responses=responses or ({},))


def reconcile(inputs: render.RenderInputs, runner: Runner) -> RenderResult:
    """The result of a reconcile, also after a FATAL result."""
    pipeline = steps.parse(inputs.composition, is_lenient=inputs.is_prepared)
    return render.reconcile(inputs, pipeline, runner)


def render_once(runner: Runner | None = None, **inputs: object) -> RenderResult:
    """The result of a reconcile, by default of XR by one step; a failure is raised."""
    parts = {"xr": XR, "composition": composition({}), **inputs}
    result = reconcile(render.RenderInputs(**parts), runner or script())
    if result.failure is not None:
        raise result.failure
    return result


def rendered(*resources: tuple[str, Object], **given: object) -> RenderResult:
    """The result for one step that wants ``resources``: pairs of name and protocol Resource."""
    return render_once(script({"desired": {"resources": dict(resources)}}), **given)
