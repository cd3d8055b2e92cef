"""Built-in functions: inputs that their schemas refuse, and objects that Go's types cannot hold."""

from pathlib import Path

import pytest
from google.protobuf import json_format
from support.commands import Run
from support.paths import ROOT

from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request.values import Object
from function_script.tools.render import builtin
from function_script.tools.render.requirements import StepResponse

READY = "function-auto-ready"
ENVIRONMENT = "function-environment-configs"
EXTRA = "function-extra-resources"
EARLY, LATE = "2024-01-01T00:00:00Z", "2024-01-01T00:00:01Z"


def call(name: str, value: Object, **request: object) -> StepResponse:
    function = builtin.FUNCTIONS[name]
    whole = {"input": value, **request}
    return builtin.call(function, json_format.ParseDict(whole, fnv1.RunFunctionRequest()))


MISTAKES = {
    "unknown": (READY, {"ttll": "5m"}, "ttll: unknown field", "ttl"),
    "type": (READY, {"ttl": 5}, "ttl: must be of type string", None),
    "metadata": (READY, {"metadata": {"nme": "a"}}, "metadata.nme: unknown field", None),
    "nested": (
        ENVIRONMENT,
        {"spec": {"defautlData": {}}},
        "spec.defautlData: unknown field",
        "defaultData",
    ),
    "value": (
        ENVIRONMENT,
        {"spec": {"environmentConfigs": [{"type": "Selector", "selector": {"mode": "multi"}}]}},
        "spec.environmentConfigs[0].selector.mode: must be one of Single, Multiple",
        None,
    ),
    "item": (
        EXTRA,
        {"spec": {"extraResources": [{"into": "a", "toFieldPaht": "b", "ref": {"name": "c"}}]}},
        "spec.extraResources[0].toFieldPaht: unknown field",
        None,
    ),
}


@pytest.mark.parametrize(("name", "value", "problem", "hint"), MISTAKES.values(), ids=MISTAKES)
def test_input_that_its_schema_refuses_is_fatal(
    name: str, value: Object, problem: str, hint: str | None
) -> None:
    """The functions look at neither apiVersion nor kind."""
    answer = call(name, {"apiVersion": "a.org/v1", "kind": "Any", **value})
    prefix = "cannot get Function input from *v1.RunFunctionRequest: "
    (result,) = answer.response.results
    assert result.severity == fnv1.SEVERITY_FATAL
    assert result.message == f"{prefix}{problem}"
    assert [each.field for each in answer.diagnostics] == [f"input.{problem.partition(':')[0]}"]
    assert [each.hint for each in answer.diagnostics] == [hint and f'did you mean "{hint}"?']


def test_field_that_no_release_has_is_fatal_with_a_hint() -> None:
    value: Object = {"spec": {"context": {"key": "a"}, "extraResources": []}}
    (problem,) = call(EXTRA, value).diagnostics
    assert problem.field == "input.spec.context"
    assert problem.hint == "no release of the function has it, only its main branch"


def find_readiness(observed: Object) -> bool:
    """Tell whether an observed resource counts as ready; otherwise nothing is said of it."""
    answer = call(
        READY,
        {},
        observed={"resources": {"a": {"resource": observed}}},
        desired={"resources": {"a": {"resource": {}}}},
    )
    ready = answer.response.desired.resources["a"].ready
    assert ready in {fnv1.READY_TRUE, fnv1.READY_UNSPECIFIED}
    return ready == fnv1.READY_TRUE


def _condition(**fields: object) -> Object:
    return {"status": {"conditions": [{"type": "Ready", "status": "True", **fields}]}}


def _cron_job(scheduled: object, succeeded: object) -> Object:
    return {"status": {"lastScheduleTime": scheduled, "lastSuccessfulTime": succeeded}}


_COMPLETE: Object = {"status": {"conditions": [{"type": "Complete", "status": "True"}]}}


OBJECTS = {
    "condition": ("e.org/v1 Bucket", _condition(lastTransitionTime=EARLY), True),
    "date": ("e.org/v1 Bucket", _condition(lastTransitionTime="2024-01-01"), False),
    "message": ("e.org/v1 Bucket", _condition(message=5), False),
    "job": ("batch/v1 Job", _COMPLETE, True),
    "number": ("batch/v1 Job", {"spec": {"backoffLimit": "3"}, **_COMPLETE}, False),
    "succeeded": ("batch/v1 CronJob", _cron_job(EARLY, LATE), True),
    "zone": ("batch/v1 CronJob", _cron_job(EARLY, "2024-01-01T02:00:00+02:00"), True),
    "without-zone": ("batch/v1 CronJob", _cron_job("2024-01-01T00:00:00", LATE), False),
    "quantity": (
        "v1 Pod",
        {
            "spec": {"containers": [{"resources": {"limits": {"cpu": "lots"}}}]},
            "status": {"phase": "Succeeded"},
        },
        False,
    ),
}


@pytest.mark.parametrize(("kind", "fields", "is_ready"), OBJECTS.values(), ids=OBJECTS)
def test_object_that_go_cannot_decode_is_not_ready(
    kind: str, fields: Object, is_ready: bool
) -> None:
    api_version, name = kind.split()
    observed = {"apiVersion": api_version, "kind": name, **fields}
    assert find_readiness(observed) == is_ready


QUANTITIES = {
    "beyond-the-largest": ("1e400", True),
    "many-digits": ("99999999999999999999M", True),
    "many-decimals": ("." + "1" * 25 + "Pi", True),
    "unit-alone": ("G", True),
    "blanks": (" -.m ", True),
    "large-unit-alone": ("Ei", False),
    "exponent-alone": ("e-10", False),
    "unknown-unit": ("1Zi", False),
    "line-break": ("1\n", False),
    "empty": ("", False),
}


@pytest.mark.parametrize(("quantity", "is_ready"), QUANTITIES.values(), ids=QUANTITIES)
def test_quantity_is_read_as_go_reads_it(quantity: str, is_ready: bool) -> None:
    observed = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "status": {"phase": "Bound", "capacity": {"storage": quantity}},
    }
    assert find_readiness(observed) == is_ready


@pytest.mark.parametrize("ttl", ["2562047h47m16.854775808s", "5", "1 s"])
def test_ttl_that_go_refuses_is_fatal(ttl: str) -> None:
    (result,) = call(READY, {"ttl": ttl}).response.results
    assert result.severity == fnv1.SEVERITY_FATAL
    assert result.message.startswith("cannot set ttl: time: ")


def test_desired_resource_without_an_object_gets_an_empty_one() -> None:
    answer = call(READY, {}, desired={"resources": {"a": {}}})
    assert answer.response.desired.resources["a"].HasField("resource")


def test_default_data_lies_below_context_and_configs() -> None:
    """The number of the context hides nothing of the mapping below it."""
    answer = call(
        ENVIRONMENT,
        {
            "spec": {
                "defaultData": {"deep": {"d": 1}},
                "environmentConfigs": [{"ref": {"name": "a"}}],
            }
        },
        context={"apiextensions.crossplane.io/environment": {"deep": 7}},
        requiredResources={
            "environment-config-0": {"items": [{"resource": {"data": {"deep": {"x": 2}}}}]}
        },
    )
    context = json_format.MessageToDict(answer.response.context)
    environment = context["apiextensions.crossplane.io/environment"]
    assert environment["deep"] == {"d": 1, "x": 2}


def test_render_shows_the_field_that_a_builtin_function_refuses(tmp_path: Path, run: Run) -> None:
    folder = ROOT / "examples" / "built-in-functions"
    for file in folder.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    composition = tmp_path / "composition.yaml"
    composition.write_text(composition.read_text().replace("environmentConfigs:", "envConfigs:"))
    captured = run("render", tmp_path, "--quiet", code=1)
    assert captured.out == ""
    assert "cannot get Function input from *v1.RunFunctionRequest: spec.envConfigs" in captured.err
    assert f"--> {composition}:" in captured.err
