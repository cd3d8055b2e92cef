import pytest

from function_script.contribution import sanitize
from function_script.request.reader import ObjectReader
from function_script.request.values import Object, Value
from function_script.texts.problems import ProblemList


def _problems(resource: Object) -> list[str]:
    problems = ProblemList()
    sanitize.check_texts(ObjectReader(resource, "", problems), problems)
    return [f"{problem.path}: {problem.text}" for problem in problems]


def _workload(api_version: str, kind: str, spec: Object) -> Object:
    return {"apiVersion": api_version, "kind": kind, "spec": spec}


_CONTAINERS: Object = {"containers": [{"env": [{"name": "A", "value": 1}]}]}


@pytest.mark.parametrize(
    "text", ["", "aGk=", "aGVsbG8=", "aGVs\nbG8=\n", "YQ=="], ids=["empty", "1", "2", "lines", "3"]
)
def test_base64_of_a_secret_is_no_problem(text: str) -> None:
    assert _problems({"apiVersion": "v1", "kind": "Secret", "data": {"a": text}}) == []


@pytest.mark.parametrize("text", ["hunter2!", "abc", "YQ", "a b c d ", "YQ==YQ=="])
def test_plain_text_of_a_secret_is_a_problem(text: str) -> None:
    secret: Object = {"apiVersion": "v1", "kind": "Secret", "data": {"a": text}}
    assert _problems(secret) == ["data.a: must be base64"]


def test_values_that_are_no_texts_are_problems() -> None:
    config: Object = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": 1, "b": None}}
    assert _problems(config) == ["data.a: must be a string, not an integer"]
    secret: Object = {"apiVersion": "v1", "kind": "Secret", "stringData": {"a": True, "b": "plain"}}
    assert _problems(secret) == ["stringData.a: must be a string, not a boolean"]


@pytest.mark.parametrize("value", [["v1"], {"a": "b"}, 1, None], ids=repr)
def test_type_that_is_no_text_is_left_to_others(value: Value) -> None:
    data: Object = {"a": 1}
    assert _problems({"apiVersion": value, "kind": "ConfigMap", "data": data}) == []
    assert _problems({"apiVersion": "v1", "kind": value, "data": data}) == []


@pytest.mark.parametrize(
    ("resource", "path"),
    [
        (_workload("v1", "Pod", _CONTAINERS), "spec"),
        (
            _workload("apps/v1", "Deployment", {"template": {"spec": _CONTAINERS}}),
            "spec.template.spec",
        ),
        (
            _workload(
                "batch/v1",
                "CronJob",
                {"jobTemplate": {"spec": {"template": {"spec": _CONTAINERS}}}},
            ),
            "spec.jobTemplate.spec.template.spec",
        ),
    ],
    ids=["pod", "deployment", "cron job"],
)
def test_number_in_the_environment_is_a_problem(resource: Object, path: str) -> None:
    field = f"{path}.containers[0].env[0].value"
    assert _problems(resource) == [f"{field}: must be a string, not an integer"]


@pytest.mark.parametrize(
    "resource",
    [
        {"apiVersion": "example.org/v1", "kind": "Secret", "data": {"a": 1}},
        {"apiVersion": "v1", "kind": "Secret", "data": "x"},
        {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": None}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": {"spec": []}}},
        _workload("v1", "Pod", {"containers": [None, {"env": "x"}, {"env": [{"name": "A"}]}]}),
    ],
    ids=["other group", "text", "null", "list", "odd containers"],
)
def test_other_objects_and_shapes_are_left_alone(resource: Object) -> None:
    assert _problems(resource) == []
