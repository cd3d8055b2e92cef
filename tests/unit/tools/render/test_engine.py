"""The engine for the official command: requests and responses of Crossplane's own render engine."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import json_format
from support.builders import starlark
from support.render_helpers import XR, composition, observed

from function_script.cli import execute
from function_script.proto.render import render_pb2 as pb
from function_script.request.values import Object
from function_script.texts.errors import FatalError, InputError
from function_script.tools import local_pool
from function_script.tools.render import engine, renderer

OPTIONS = renderer.Options(timeout_seconds=30, print=print)
HERE = {"name": "function-script", "address": "local"}


def step(body: str, **fields: object) -> Object:
    """A step that runs here, with the body of its main."""
    program = starlark(f"def main(req):\n    {body}\n")
    return {"functionRef": {"name": "function-script"}, "input": program, **fields}


def operation(*steps: Object, **parts: object) -> Object:
    """An Operation with these steps."""
    pipeline = [{"step": f"step-{index}", **each} for index, each in enumerate(steps)]
    return {
        "apiVersion": "ops.crossplane.io/v1alpha1",
        "kind": "Operation",
        "metadata": {"name": "once"},
        "spec": {"mode": "Pipeline", "pipeline": pipeline},
        **parts,
    }


def request(**inputs: Object) -> bytes:
    """A request as bytes, from its JSON."""
    return json_format.ParseDict(inputs, pb.RenderRequest()).SerializeToString()


def answer(**inputs: Object) -> tuple[Object, FatalError | None]:
    """The response as JSON, and the error beside it."""
    response, failure = engine.respond(request(**inputs), OPTIONS, local_pool.OPTIONS)
    return json_format.MessageToDict(pb.RenderResponse.FromString(response)), failure


def composed(*steps: Object, **inputs: object) -> tuple[Object, FatalError | None]:
    """What the engine makes of XR with these steps."""
    parts = {"composite_resource": XR, "composition": composition(*steps), "functions": [HERE]}
    output, failure = answer(composite={**parts, **inputs})
    return output["composite"], failure


BUCKET = '"bucket": {"resource": {"apiVersion": "v1", "kind": "Bucket"}}'
ONE = f'return {{"desired": {{"resources": {{{BUCKET}}}}}}}'


def test_xr_is_composed() -> None:
    output, failure = composed(step(ONE))
    assert failure is None
    assert output["compositeResource"]["spec"]["crossplane"]["resourceRefs"] == [
        {"apiVersion": "v1", "kind": "Bucket", "name": "demo-6b49c004c4b7"}
    ]
    assert [item["kind"] for item in output["composedResources"]] == ["Bucket"]
    assert [event["reason"] for event in output["events"]] == [
        "SelectComposition",
        "ComposeResources",
    ]


def test_undesired_resource_is_deleted_also_if_nobody_controls_it() -> None:
    owner = {"apiVersion": "example.org/v1", "kind": "XBucket", "name": "demo", "uid": "u"}
    labels = {"crossplane.io/composite": "demo", "mine": "x"}
    controlled = observed(
        "old", name="old", labels=labels, ownerReferences=[{**owner, "controller": True}]
    )
    xr = {**XR, "metadata": {**XR["metadata"], "uid": "u"}}
    free = observed("free", name="free")
    output, _ = composed(step(ONE), composite_resource=xr, observed_resources=[controlled, free])
    other, deleted = output["deletedResources"]
    assert other["metadata"]["name"] == "free"
    assert deleted["metadata"]["name"] == "old"
    assert deleted["metadata"]["labels"] == {"mine": "x"}


def test_fatal_result_leaves_what_there_was() -> None:
    selector = '{"api_version": "v1", "kind": "ConfigMap", "match_name": "zone"}'
    asking = step(
        f'return {{"requirements": {{"resources": {{"zone": {selector}}}}}, '
        '"conditions": [{"type": "Asked", "status": "STATUS_CONDITION_TRUE", "reason": "Yes"}], '
        '"results": [{"severity": "SEVERITY_WARNING", "message": "where?"}]}'
    )
    output, failure = composed(asking, step('fail("no")'))
    assert failure is not None
    assert output["requiredResources"] == [
        {"apiVersion": "v1", "kind": "ConfigMap", "matchName": "zone"}
    ]
    assert [event["message"] for event in output["events"]] == [
        "Successfully selected composition: buckets",
        'cannot compose resources: pipeline step "step-1" returned a fatal result: script:2:5: no',
        'Pipeline step "step-0": where?',
    ]
    conditions = output["compositeResource"]["status"]["conditions"]
    assert [(each["type"], each["status"]) for each in conditions] == [
        ("Responsive", "True"),
        ("Synced", "False"),
        ("Asked", "True"),
        ("ProgramWarnings", "True"),
    ]


def test_steps_may_share_a_name() -> None:
    """A real engine does not look: only the API server refuses them."""
    output, failure = composed(step(ONE, step="same"), step(ONE, step="same"))
    assert failure is None
    assert len(output["composedResources"]) == 1


def test_operation_is_run() -> None:
    thing = '{"resource": {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}}}'
    body = (
        f'return {{"desired": {{"resources": {{"a": {thing}}}}}, "output": {{"n": 1}}, '
        '"results": [{"severity": "SEVERITY_NORMAL", "message": "done", "reason": "Mine"}]}'
    )
    parts = {"operation": operation(step(body)), "functions": [HERE]}
    output = answer(operation=parts)[0]["operation"]
    status = output["operation"]["status"]
    assert [each["type"] for each in status["conditions"]] == [
        "Succeeded",
        "ValidPipeline",
        "Synced",
    ]
    assert status["pipeline"] == [{"step": "step-0", "output": {"n": 1}}]
    assert status["appliedResourceRefs"] == [{"apiVersion": "v1", "kind": "Thing", "name": "a"}]
    assert output["events"] == [
        {"type": "Normal", "reason": "RunPipelineStep", "message": 'Pipeline step "step-0": done'}
    ]


def test_fatal_result_counts_as_a_failure_of_an_operation() -> None:
    """It is tried again in the cluster, up to a limit."""
    parts = {"operation": operation(step('fail("no")')), "functions": [HERE]}
    output, failure = answer(operation=parts)
    assert failure is not None
    assert output["operation"]["operation"]["status"]["failures"] == 1
    assert output["operation"]["events"][0]["reason"] == "FunctionInvocation"


@pytest.mark.parametrize(
    ("status", "succeeded"),
    [
        pytest.param({"failures": 5}, "False", id="failed-too-often"),
        pytest.param({"conditions": [{"type": "Succeeded", "status": "True"}]}, None, id="done"),
    ],
)
def test_operation_that_is_over_is_not_run(status: Object, succeeded: str | None) -> None:
    """No function is called: there is none."""
    output = answer(operation={"operation": operation(step("return 1"), status=status)})[0]
    manifest = output["operation"].get("operation")
    if succeeded is None:
        assert manifest is None
    else:
        assert manifest["status"]["conditions"][1]["status"] == succeeded


TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": operation(step("return {}"))["spec"]}


def test_cron_operation_makes_one() -> None:
    """The time that it is scheduled for is in its name."""
    cron = {"metadata": {"name": "nightly", "uid": "u"}, "spec": {"operationTemplate": TEMPLATE}}
    inputs = {"cron_operation": cron, "scheduled_time": "2023-11-14T22:13:20Z"}
    operation_ = answer(cron_operation=inputs)[0]["cronOperation"]["operation"]
    assert operation_["metadata"]["name"] == "nightly-1700000000"
    assert operation_["metadata"]["labels"] == {
        "a": "b",
        "ops.crossplane.io/cronoperation": "nightly",
    }
    assert operation_["metadata"]["ownerReferences"][0]["uid"] == "u"


def test_watch_operation_makes_one() -> None:
    """Every step of it requires what has changed, which its name stands for."""
    watch = {"metadata": {"name": "nightly"}, "spec": {"operationTemplate": TEMPLATE}}
    metadata = {"name": "watched", "namespace": "x", "uid": "u1", "resourceVersion": "12"}
    watched = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    inputs = {"watch_operation": watch, "watched_resource": watched}
    operation_ = answer(watch_operation=inputs)[0]["watchOperation"]["operation"]
    assert operation_["metadata"]["name"] == "nightly-42f302e"
    assert operation_["spec"]["pipeline"][0]["requirements"]["requiredResources"] == [
        {
            "requirementName": "ops.crossplane.io/watched-resource",
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": "watched",
            "namespace": "x",
        }
    ]


REFUSED = {
    "no-message": (b"\xff", "cannot read the request"),
    "empty": (b"", "it holds nothing to render"),
    "function-without-an-address": (
        request(composite={"composite_resource": XR, "composition": composition({})}),
        'the request has no function "function-other"',
    ),
}


@pytest.mark.parametrize(("given", "message"), REFUSED.values(), ids=REFUSED)
def test_unanswerable_request_is_refused(given: bytes, message: str) -> None:
    """The user of the official command gets words."""
    with pytest.raises(InputError, match=message):
        engine.respond(given, OPTIONS, local_pool.OPTIONS)


def test_command_speaks_on_stdin_and_stdout() -> None:
    """The official command calls it so; exit code 3 says that a step returned a FATAL result."""
    parts: Object = {"composite_resource": XR, "composition": composition(step('fail("no")'))}
    process = subprocess.run(
        [sys.executable, "-m", "function_script.cli", "internal", "render"],
        input=request(composite={**parts, "functions": [HERE]}),
        capture_output=True,
        check=False,
    )
    assert process.returncode == 3
    response = pb.RenderResponse.FromString(process.stdout)
    assert json.loads(json_format.MessageToJson(response.composite.composite_resource))["status"]
    assert b"error: no" in process.stderr


def test_command_salts_random_values_with_the_seed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The variable is there since the official command passes no flags."""
    body = 'return {"desired": {"composite": {"resource": {"status": {"a": stable_secret("a")}}}}}'
    parts: Object = {"composite_resource": XR, "composition": composition(step(body))}
    data = request(composite={**parts, "functions": [HERE]})

    def secret(name: str, *, is_flag: bool = False) -> object:
        path = tmp_path / name
        path.write_text(name * 16)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        monkeypatch.setenv("FUNCTION_SCRIPT_SEED_FILE", "" if is_flag else str(path))
        assert execute(["internal", "render", *([f"--seed-file={path}"] if is_flag else [])]) == 0
        response = pb.RenderResponse.FromString(capfdbinary.readouterr().out)
        xr = json.loads(json_format.MessageToJson(response.composite.composite_resource))
        return xr["status"]["a"]

    unsalted, _ = composed(step(body))
    first = secret("one")
    assert secret("one", is_flag=True) == first
    assert secret("two", is_flag=True) != first != unsalted["compositeResource"]["status"]["a"]
