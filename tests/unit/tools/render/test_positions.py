"""The step and the line of the author's file that wrote each value."""

from collections.abc import Mapping, Sequence

from support import builders, one_step

from function_script import documents
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object
from function_script.sandbox.pool import Pool
from function_script.texts.source import Source
from function_script.tools.render import RenderInputs, positions, renderer
from function_script.tools.render.functions import FunctionIndex
from function_script.tools.render.renderer import Renderer, Rendering
from function_script.tools.render.requirements import StepCall, StepResponse
from function_script.tools.render.runtimes.local import Local
from function_script.tools.render.runtimes.model import Runtime

XR = {**builders.XR, "spec": {"size": 3}}
HEAD = f"# A comment, so that lines differ.\n---\n{one_step.PIPELINE}"
JINJA = one_step.step(
    "second",
    "JinjaTemplate",
    """\
apiVersion: v1
kind: ConfigMap
metadata:
  annotations: {script.fn.crossplane.io/composition-resource-name: thing}
data:
  zone:
    elsewhere
""",
)
OURS = {"function-script": Local()}


def render(
    pool: Pool,
    *steps: str,
    functions: Mapping[str, Runtime] = OURS,
    observed: Sequence[Object] = (),
) -> Rendering:
    """Render the steps for the XR."""
    (document,) = documents.read_source(Source(name="composition.yaml", text=HEAD + "".join(steps)))
    inputs = RenderInputs(xr=XR, composition=document.value, observed=observed)
    origin = renderer.Origin(document=document, programs=None)
    return Renderer(
        pool,
        lambda pipeline: [functions[each.function] for each in pipeline],
        renderer.Options(),
    ).render(inputs, origin)


def place(position: positions.Position | None) -> str | None:
    """Write a position as STEP FILE:LINE:COLUMN."""
    return position and f"{position.step} {position.span}"


SCRIPT = one_step.step(
    "script",
    "StarlarkScript",
    """\
def main(req):
    thing = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"zone": "here"}}
    return {
        "desired": {
            "composite": {"resource": {"status": {"address": "there"}}},
            "resources": {"thing": {"resource": thing}},
        },
    }
""",
    field="script",
)


OTHER = """\
  - step: other
    functionRef: {name: function-other}
"""


class Other(Runtime):
    """A function that is not ours, and composes a ConfigMap."""

    def describe(self) -> str:
        return "is a double"

    def call(self, call: StepCall, *_: object) -> StepResponse:
        response = pb.RunFunctionResponse()
        response.desired.CopyFrom(call.request.desired)
        thing = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"zone": "here", "side": "left"}}
        response.desired.resources["thing"].resource.update(thing)
        return StepResponse(response=response)


def test_value_of_another_function_has_a_step_and_no_line(pool: Pool) -> None:
    functions = {"function-other": Other(), "function-script": Local()}
    positions_of = render(pool, OTHER, JINJA, functions=functions).positions
    assert positions_of.locate("thing", ("data", "side")) == positions.Position("other", None)
    assert place(positions_of.locate("thing", ("data", "zone"))) == "second composition.yaml:24:13"
    positions_of = render(pool, JINJA, OTHER, functions=functions).positions
    assert positions_of.locate("thing", ("data", "zone")) == positions.Position("other", None)
    assert place(positions_of.locate("thing", ("kind",))) == "second composition.yaml:17:9"


def test_rendering_that_nobody_asks_runs_no_program_twice(pool: Pool) -> None:
    printed: list[str] = []
    (document,) = documents.read_source(Source(name="c", text=HEAD + SCRIPT))
    inputs = RenderInputs(xr=XR, composition=document.value)
    options = renderer.Options(print=printed.append)
    find = FunctionIndex(manifests=None, options=options).find_runtimes
    result = Renderer(pool, find, options).reconcile(inputs).result
    assert result.failure is None
    assert printed == []


MOVED = one_step.step(
    "moved",
    "JinjaTemplate",
    """\
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    script.fn.crossplane.io/composition-resource-name: new
    script.fn.crossplane.io/moved-from: old
data: {zone: "{{ 'here' if 'new' in observed.resources else 'away' }}"}
""",
)


def test_moved_resource_has_positions_by_its_old_name(pool: Pool) -> None:
    annotations = {"crossplane.io/composition-resource-name": "old"}
    metadata = {"name": "made", "namespace": "here", "annotations": annotations}
    observed = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    rendering = render(pool, MOVED, observed=[observed])
    assert rendering.result.resources["old"]["data"] == {"zone": "here"}
    zone = rendering.positions.locate("old", ("data", "zone"))
    assert place(zone) == "moved composition.yaml:22:16"
